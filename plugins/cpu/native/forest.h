// Decision trees as one array of nodes, the two that follow a branch side by side, walked for
// several rows at once: each step waits for the one before it, those of other rows do not.
// Immutable; any number of threads may run one.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/kit/specs.h"

namespace ge_engines::cpu {

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

// What a row's sums become.
enum class ForestEnd : uint8_t { kTargets, kClasses, kOneOfTwo, kSecondOfTwo };
enum class VoteSum : uint8_t { kAverage, kSum, kMin, kMax };  // by ONNX's numbers

struct Forest {
  std::vector<TreeNode> nodes;
  std::vector<uint32_t> leaf;           // by node: which leaf it is
  std::vector<uint32_t> roots, levels;  // by tree; branches to its farthest leaf
  std::vector<uint32_t> first;          // by leaf, and their end: its votes
  std::vector<Vote> votes;
  // Where each leaf has a vote for each choice, in their order: the weights alone.
  std::vector<double> full;
  Branch how = Branch::kLeq;
  bool missing = false;  // some branch sends NaN to where its condition holds
  double depth = 0;      // the mean of the trees, in branches

  int64_t rows = 0, features = 0, choices = 0;
  std::vector<double> base;  // one for each choice or none; of two classes maybe one
  VoteSum sum = VoteSum::kSum;
  ScoreTransform transform = ScoreTransform::kNone;
  ForestEnd end = ForestEnd::kTargets;
  bool positive = false;        // no weight is negative
  std::vector<int64_t> labels;  // of kTargets none
};

}  // namespace ge_engines::cpu

namespace ge_engines::cpu::native {

inline constexpr int64_t kMostChoices = 4096;
// Bytes of workspace that each thread needs, in floats.
uint64_t ForestFloats(const Forest& f);
// How many of so many threads share its blocks of rows.
int ForestThreads(const Forest& f, int threads);
// ns by one thread.
double ForestNs(const Forest& f);
// Places: scores [rows, choices], labels [rows] of int64 or anything of kTargets, x, workspace.
std::unique_ptr<Loop> ForestLoop(std::shared_ptr<const Forest> forest, int threads);

}  // namespace ge_engines::cpu::native
