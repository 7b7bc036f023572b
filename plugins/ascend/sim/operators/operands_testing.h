// Operands of operators in tests: tensors whose elements lie by strides of their own, among others
// that no operator may touch, or in a private format; arguments; both phases with a workspace that
// is watched. Places are worked out here anew, not by View.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "plugins/ascend/sim/operators/numbers.h"
#include "plugins/ascend/sim/operators/operation.h"
#include "plugins/ascend/sim/operators/view.h"

namespace ge_engines::ascend::sim {

using Random = std::mt19937;
using Reals = std::vector<double>;

inline int64_t Draw(Random* random, int64_t least, int64_t most) {
  return std::uniform_int_distribution<int64_t>(least, most)(*random);
}

// A tensor and its memory. Elements that are not the tensor's keep a value that is looked at later.
class Operand {
 public:
  // `how` beside a format: strides in another order, with gaps, behind an offset.
  enum Layout { kDense, kStrided, kTurned };
  Operand(const Dims& dims, acl::DataType type, acl::Format format = acl::kNd,
          Layout layout = kDense, Random* random = nullptr);

  const acl::Tensor& tensor() const { return tensor_; }
  int64_t count() const { return Count(tensor_.dims); }
  void Fill(const Reals& values);
  // Numbers of eighths, which all reals hold; of integers whole ones.
  void FillRandom(Random* random, double least, double most);
  Reals Values() const;
  // Whether each element that is not the tensor's is as it was; lanes of padding are poisoned.
  bool OthersAsBefore() const;
  double At(int64_t place) const;  // of the storage, in elements
  Operand As(const Dims& dims, const Dims& strides, acl::Format format, const Dims& storage) const;

 private:
  Operand() = default;
  std::vector<int64_t> Places() const;
  void Set(int64_t place, double value);

  acl::Tensor tensor_;
  bool turned_ = false;
  std::shared_ptr<std::vector<unsigned char>> bytes_;
};

Argument In(const Operand& operand);
Argument Out(const Operand& operand);
Argument List(const std::vector<const Operand*>& operands);
Argument None(Argument::Kind kind = Argument::Kind::kIn);
Argument Scalar(float value);
Argument Whole(int64_t value);
Argument Ints(const Dims& ints);
Argument Number(double number);

// Both phases; the answer of the first. A workspace has exactly the bytes that were told, between
// zones that stay as they are, and is written whole.
std::string Launch(const char* name, const Arguments& given);

// A relative bound of the dtype's for results of sums of `terms`.
double BoundOf(acl::DataType type, int64_t terms = 1);
void ExpectNear(const Reals& got, const Reals& wanted, double bound, const std::string& what);
std::string Label(const char* name, const acl::Tensor& tensor, uint32_t seed);

Reals Values(int64_t count, const std::function<double(int64_t)>& value);
// The place among dense elements of dims, of the i-th of those that dims repeat to.
int64_t RepeatedPlace(const Dims& dims, const Dims& to, int64_t i);

inline constexpr acl::DataType kRealTypes[] = {acl::kF32, acl::kF16, acl::kBf16};

}  // namespace ge_engines::ascend::sim
