// TensorComparison: tensors of a run beside what a capsule has of them, counted and judged. One
// thread at a time; capsule and manifest outlive it.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "ge/base/status.h"
#include "ge/capsule/manifest.h"
#include "ge/capsule/statistics.h"
#include "ge/ir/graph.h"
#include "tools/ge/capsule/compared.h"

namespace ge::tool {

class TensorComparison {
 public:
  // `bits`: nothing but the same bits will do. `rtol` below 0: the bound of the type.
  TensorComparison(const CapsuleReader& capsule, const CapsuleManifest& manifest, bool bits,
                   double rtol)
      : capsule_(capsule), manifest_(manifest), bits_(bits), rtol_(rtol) {}
  // Where the model rounds floats to codes of 8 bits, bounds of types are those of a code: another
  // order of sums may end at the next one.
  void SetModel(const Graph& model);

  // A tensor that the capsule has, unless the recorded run ended before it.
  void Take(const CapsuleTensor& t, std::span<const std::byte> found);
  // One of which it has statistics alone: the checksum decides, and extremes say how far.
  void TakeStatistics(const CapsuleTensor& t, const TensorStatistics& wanted,
                      std::span<const std::byte> found);
  // One that is equal or not, such as a text.
  void TakeOther(const CapsuleTensor& t, bool equal);
  // The first fault of the capsule stays.
  void Fault(const Status& status) {
    if (status_.ok()) status_ = status;
  }

  const Status& status() const { return status_; }
  uint64_t compared() const { return compared_; }
  uint64_t equal() const { return compared_ - differing_.size(); }
  const std::vector<Compared>& differing() const { return differing_; }  // in their order
  bool right() const;
  const Compared& worst() const;  // of differing(), which is not empty

 private:
  void Judge(const CapsuleTensor& t, const Difference& d);
  double BoundOf(const CapsuleTensor& t) const;

  const CapsuleReader& capsule_;
  const CapsuleManifest& manifest_;
  const bool bits_;
  const double rtol_;
  double least_bound_ = 0;
  uint64_t compared_ = 0;
  std::vector<Compared> differing_;
  Status status_;
};

nlohmann::json DifferenceJson(const Compared& compared);
// "first" and "worst", where something differs.
void AddDifferences(const TensorComparison& c, nlohmann::json* json);
void PrintDifference(const char* what, const Compared& compared);
// ", the others within the bounds of their types" behind a count, and a line for each of both.
std::string RestText(const TensorComparison& c);
void PrintDifferences(const TensorComparison& c);

}  // namespace ge::tool
