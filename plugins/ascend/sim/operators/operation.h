// Operation: what an operator of the simulated vendor checks, how much workspace it wants and what
// it does, on copies of its arguments. One table a file; exports.cc calls them. Pure but for the
// tensors that run() writes; any thread.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "plugins/ascend/sim/objects/objects.h"

namespace ge_engines::ascend::sim {

// One argument of phase one, in the order of operators.def.
struct Argument {
  enum class Kind : uint8_t { kIn, kOut, kTensors, kScalar, kInts, kNumber } kind = Kind::kNumber;
  bool given = true;  // false: a null pointer
  acl::Tensor tensor;
  std::vector<acl::Tensor> tensors;
  acl::Scalar scalar;
  std::vector<int64_t> ints;
  double number = 0;  // bool, integers, dtypes, double
};
using Arguments = std::vector<Argument>;

// Work that fails on the device: it shows at a later call.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Operation {
  const char* name;  // as in operators.def
  // Phase one. Empty, or why the arguments do not fit.
  std::string (*check)(const Arguments& arguments);
  // Bytes, exactly; null: none.
  uint64_t (*workspace)(const Arguments& arguments);
  // Throws Failure.
  void (*run)(const Arguments& arguments, void* workspace);
};

std::span<const Operation> UnaryOperations();
std::span<const Operation> BinaryOperations();
std::span<const Operation> ScaledOperations();
std::span<const Operation> ChoiceOperations();
std::span<const Operation> ProductOperations();
std::span<const Operation> ConvolutionOperations();
std::span<const Operation> WindowOperations();
std::span<const Operation> NormOperations();
std::span<const Operation> ReductionOperations();
std::span<const Operation> OrderOperations();
std::span<const Operation> MoveOperations();
std::span<const Operation> IndexOperations();
std::span<const Operation> FormatOperations();

// nullptr: the simulator has no such operator.
const Operation* FindOperation(const char* name);

// How many lanes of padding have reached an element of a tensor since the library was loaded. What
// writes a private format poisons its padding with a NaN of its own, which loads and stores of
// elements look for.
uint64_t PaddedLaneReads();

}  // namespace ge_engines::ascend::sim
