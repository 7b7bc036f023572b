// The host's dtypes as kernels know them, and kernels by the size of an element.
#pragma once

#include <string>

#include "plugins/gpu/kernels/kernel_ids.h"
#include "plugins/gpu/kernels/numbers.h"
#include "plugins/units/parser.h"

namespace ge_engines::gpu {

// False for dtypes without numbers in kernels.
inline bool FindNumber(int32_t dtype, Number* number) {
  static constexpr struct {
    int32_t dtype;
    Number number;
  } kNumbers[] = {{GE_F32, Number::kF32},   {GE_F64, Number::kF64},   {GE_F16, Number::kF16},
                  {GE_BF16, Number::kBf16}, {GE_BOOL, Number::kBool}, {GE_I8, Number::kI8},
                  {GE_U8, Number::kU8},     {GE_I16, Number::kI16},   {GE_U16, Number::kU16},
                  {GE_I32, Number::kI32},   {GE_U32, Number::kU32},   {GE_I64, Number::kI64},
                  {GE_U64, Number::kU64}};
  for (const auto& known : kNumbers) {
    if (known.dtype == dtype) return *number = known.number, true;
  }
  return false;
}

inline bool HasNumber(int32_t dtype, Why* why) {
  Number number;
  return FindNumber(dtype, &number) ||
         why->Say(GE_WHY_DTYPE, std::string("no kernel computes with ") + gp::DTypeName(dtype));
}

inline Number NumberOf(int32_t dtype) {
  Number number = Number::kF32;
  (void)FindNumber(dtype, &number);
  return number;
}

// Sets the numbers of places from `first` on to those of these values; of 0 they do not matter.
template <class A>
void SetNumbers(const Parser& parser, const Ids& values, A* args, size_t first = 0) {
  for (size_t k = 0; k < values.size() && first + k < A::kMostPlaces; ++k) {
    if (values[k] != 0) args->of[first + k] = NumberOf(parser.dtype(values[k]));
  }
}

// The kernel of elements of `bytes`, of those for 1, 2, 4, 8 and maybe 16 bytes that stand in this
// order.
inline KernelId BySize(KernelId first, int bytes) {
  uint32_t step = 0;
  while (1 << step < bytes) ++step;
  return static_cast<KernelId>(static_cast<uint32_t>(first) + step);
}

}  // namespace ge_engines::gpu
