// Checker: what a phase one asks of its arguments, one question after another; the first that is
// answered no is the refusal's text. Questions behind it are not asked. One thread.
#pragma once

#include <string>

#include "plugins/ascend/sim/operators/operation.h"
#include "plugins/ascend/sim/operators/view.h"

namespace ge_engines::ascend::sim {

constexpr uint32_t TypeBit(acl::DataType type) { return 1u << type; }
inline constexpr uint32_t kReals = TypeBit(acl::kF32) | TypeBit(acl::kF16) | TypeBit(acl::kBf16);
inline constexpr uint32_t kWholes = TypeBit(acl::kI8) | TypeBit(acl::kU8) | TypeBit(acl::kI16) |
                                    TypeBit(acl::kI32) | TypeBit(acl::kI64);
inline constexpr uint32_t kBools = TypeBit(acl::kBool);
inline constexpr uint32_t kIndices = TypeBit(acl::kI32) | TypeBit(acl::kI64);
inline constexpr uint32_t kNumbers = kReals | kWholes;
inline constexpr uint32_t kAllTypes = kNumbers | kBools;

// Of a tensor's format.
inline constexpr uint32_t kPlain = 1;    // by strides
inline constexpr uint32_t kImage = 2;    // NCL, NCHW or NCDHW by its rank
inline constexpr uint32_t kBlocked = 4;  // NC1HWC0
inline constexpr uint32_t kFractal = 8;  // FRACTAL_NZ

class Checker {
 public:
  explicit Checker(const Arguments& given) : given_(given), names_(given.size(), "") {}

  // The i-th argument, from now on known by the name: a tensor of these dtypes and formats, all of
  // whose elements lie in its storage.
  Checker& Tensor(size_t i, const char* name, uint32_t types, uint32_t formats = kPlain);
  // The same, or null.
  Checker& Optional(size_t i, const char* name, uint32_t types, uint32_t formats = kPlain);
  Checker& Scalar(size_t i, const char* name);
  Checker& SameType(size_t i, size_t as);
  Checker& SameFormat(size_t i, size_t as);
  Checker& HasDims(size_t i, const Dims& wanted);
  Checker& HasRank(size_t i, size_t least, size_t most);
  Checker& RepeatsTo(size_t i, const Dims& wanted);
  Checker& HasInts(size_t i, const char* name, size_t count, int64_t least);
  // An axis of a tensor of that rank, from the back where it is below zero.
  Checker& Axis(size_t i, size_t rank);
  Checker& That(bool holds, const std::string& otherwise);
  // Asks on only where nothing is wrong: what follows may use what was asked before.
  bool ok() const { return fault_.empty(); }
  const std::string& fault() const { return fault_; }

  const Dims& dims(size_t i) const { return given_[i].tensor.dims; }
  bool given(size_t i) const { return given_[i].given; }

 private:
  Checker& Fail(size_t i, const std::string& what);

  const Arguments& given_;
  std::vector<const char*> names_;
  std::string fault_;
};

std::string NameOf(acl::DataType type);
std::string TextOf(const Dims& dims);

// Readers of arguments that passed.
const acl::Tensor& TensorOf(const Arguments& given, size_t i);
int64_t IntegerOf(const Arguments& given, size_t i);
bool BoolOf(const Arguments& given, size_t i);
// The axis of a tensor of that rank.
size_t AxisOf(const Arguments& given, size_t i, size_t rank);
// A scalar as a value of V.
template <class V>
V ScalarOf(const Arguments& given, size_t i);

}  // namespace ge_engines::ascend::sim
