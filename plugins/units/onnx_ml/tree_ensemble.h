// Tree ensembles of ai.onnx.ml. Pure; any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "plugins/units/onnx_ml/post_transform.h"
#include "plugins/units/unit.h"

namespace ge_engines {

// By ONNX's numbers; kMixed: each branch has its own.
enum class Branch : uint8_t { kLeq, kLt, kGte, kGt, kEq, kNeq, kMixed };
struct TreeNode {
  float value = 0;       // what the feature is compared with
  uint32_t feature = 0;  // 0 of a leaf
  uint32_t next = 0;     // of a branch the node if its condition holds, behind it the other; of a
                         // leaf itself
  uint16_t branch = 0;   // 1; 0 of a leaf
  Branch how = Branch::kLeq;
  bool missing_yes = false;  // NaN holds
};
struct Vote {
  uint32_t choice = 0;
  double weight = 0;
};
// The result of a row's sums.
enum class EnsembleEnd : uint8_t { kTargets, kClasses, kOneOfTwo, kSecondOfTwo };
enum class VoteSum : uint8_t { kAverage, kSum, kMin, kMax };  // by ONNX's numbers
struct TreeEnsemble {
  std::vector<TreeNode> nodes;
  std::vector<uint32_t> leaf;           // by node: which leaf it is
  std::vector<uint32_t> roots, levels;  // by tree; branches to its farthest leaf
  std::vector<uint32_t> first;          // by leaf, and their end: its votes
  std::vector<Vote> votes;
  // Weights alone, if each leaf votes for all choices in their order; else empty.
  std::vector<double> full;
  Branch how = Branch::kLeq;
  bool missing = false;  // some branch sends NaN to where its condition holds
  double depth = 0;      // the mean of the trees, in branches

  int64_t rows = 0, features = 0, choices = 0;
  std::vector<double> base;  // one for each choice or none; of two classes maybe one
  VoteSum sum = VoteSum::kSum;
  PostTransform transform = PostTransform::kNone;
  EnsembleEnd end = EnsembleEnd::kTargets;
  bool positive = false;        // no weight is negative
  std::vector<int64_t> labels;  // of kTargets none
};
inline constexpr int64_t kMostChoices = 4096;
struct TreeEnsembleSpec {  // tree ensembles; in: x; out: scores, or labels and scores
  std::shared_ptr<const TreeEnsemble> ensemble;
  static const UnitKind kKind;
};

}  // namespace ge_engines
