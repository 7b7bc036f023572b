// Elements of tensors as numbers, and random ones. Pure; any thread.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "ge/ge_mock_host.hpp"

namespace ge::conform {

using mock::Dims;
using mock::Tensor;

// For real dtypes of 8 bits and more; 64-bit integers beyond 2^53 lose digits.
double ElementOf(const Tensor& tensor, int64_t i);
// Rounded to the dtype; integers must be within its range.
void SetElement(Tensor* tensor, int64_t i, double value);

bool IsFloat(int32_t dtype);
bool IsInteger(int32_t dtype);
// Half the distance of two neighbours at 1; 0 where numbers are exact.
double UnitOf(int32_t dtype);
// Smaller numbers count as zero.
double TinyOf(int32_t dtype);
// value, rounded to the dtype.
double RoundedTo(int32_t dtype, double value);
Tensor Converted(const Tensor& tensor, int32_t dtype);

// "f32[2,3]" and "[0,1]".
std::string TypeText(const Tensor& tensor);
std::string IndexText(int64_t i, const Dims& dims);
// "f32": in the names of cases.
std::string ShortName(int32_t dtype);

class Random {
 public:
  explicit Random(uint64_t seed) : bits_(seed) {}
  // Both ends included. Written out, since the standard's distributions differ between libraries.
  int64_t Int(int64_t lo, int64_t hi) {
    return lo + static_cast<int64_t>(bits_() % static_cast<uint64_t>(hi - lo + 1));
  }
  double Unit() { return static_cast<double>(bits_() >> 11) * 0x1p-53; }
  bool Chance(double probability) { return Unit() < probability; }
  template <class T>
  const T& Pick(const std::vector<T>& from) {
    return from[static_cast<size_t>(Int(0, static_cast<int64_t>(from.size()) - 1))];
  }
  // Numbers in [lo, hi], whole ones where the dtype is one of integers; bools are 0 and 1.
  Tensor Numbers(int32_t dtype, const Dims& dims, double lo, double hi);

 private:
  std::mt19937_64 bits_;
};

}  // namespace ge::conform
