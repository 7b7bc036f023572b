#include "tools/ascend_check/numbers.h"

#include <cmath>
#include <cstdio>
#include <cstring>

namespace ascend_check {
namespace {

uint16_t HalfOf(double x) {
  const uint16_t sign = std::signbit(x) ? 0x8000 : 0;
  const double size = std::fabs(x);
  if (std::isnan(x)) return 0x7e00;
  if (size >= 65520) return sign | 0x7c00;
  int exponent = 0;
  (void)std::frexp(size, &exponent);
  const int unit = size == 0 ? -24 : std::max(exponent - 11, -24);
  const auto units = static_cast<int>(std::nearbyint(std::ldexp(size, -unit)));
  const int bits = units < 1024 ? units : ((unit + 25) << 10) + units - 1024;
  return static_cast<uint16_t>(sign | bits);
}

double OfHalf(uint16_t bits) {
  const int exponent = (bits >> 10) & 31, fraction = bits & 1023;
  double size = std::ldexp(fraction, -24);
  if (exponent == 31) {
    size = fraction == 0 ? HUGE_VAL : NAN;
  } else if (exponent > 0) {
    size = std::ldexp(1024 + fraction, exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -size : size;
}

uint16_t BrainOf(double x) {
  const auto single = static_cast<float>(x);
  if (std::isnan(single)) return 0x7fc0;
  uint32_t bits = 0;
  std::memcpy(&bits, &single, 4);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

double OfBrain(uint16_t half) {
  const uint32_t bits = uint32_t{half} << 16;
  float x = 0;
  std::memcpy(&x, &bits, 4);
  return x;
}

// Calls use(a value of the type as it lies in memory, to it from a double, from it).
template <class Use>
void WithType(acl::DataType type, const Use& use) {
  const auto plain = [&](auto zero) {
    using T = decltype(zero);
    use(
        zero, [](double x) { return static_cast<T>(x); },
        [](T x) { return static_cast<double>(x); });
  };
  switch (type) {
    case acl::kF32:
      return plain(float());
    case acl::kF64:
      return plain(double());
    case acl::kI8:
      return plain(int8_t());
    case acl::kI16:
      return plain(int16_t());
    case acl::kI32:
      return plain(int32_t());
    case acl::kI64:
      return plain(int64_t());
    case acl::kU8:
    case acl::kBool:
      return plain(uint8_t());
    case acl::kF16:
      return use(uint16_t(), HalfOf, OfHalf);
    case acl::kBf16:
      return use(uint16_t(), BrainOf, OfBrain);
  }
}

}  // namespace

size_t SizeOf(acl::DataType type) {
  size_t bytes = 0;
  WithType(type, [&](auto zero, auto, auto) { bytes = sizeof zero; });
  return bytes;
}

std::string NameOf(acl::DataType type) {
  switch (type) {
    case acl::kF32:
      return "float32";
    case acl::kF16:
      return "float16";
    case acl::kBf16:
      return "bfloat16";
    default:
      return "dtype " + std::to_string(type);
  }
}

std::vector<unsigned char> Encode(const Values& values, acl::DataType type) {
  std::vector<unsigned char> bytes(values.size() * SizeOf(type));
  WithType(type, [&](auto zero, auto to, auto) {
    for (size_t i = 0; i < values.size(); ++i) {
      const auto x = to(values[i]);
      std::memcpy(bytes.data() + i * sizeof zero, &x, sizeof zero);
    }
  });
  return bytes;
}

Values Decode(const std::vector<unsigned char>& bytes, acl::DataType type) {
  Values values(bytes.size() / SizeOf(type));
  WithType(type, [&](auto zero, auto, auto from) {
    for (size_t i = 0; i < values.size(); ++i) {
      auto x = zero;
      std::memcpy(&x, bytes.data() + i * sizeof zero, sizeof zero);
      values[i] = from(x);
    }
  });
  return values;
}

double Rounded(double x, acl::DataType type) { return Decode(Encode({x}, type), type)[0]; }

double Bound(acl::DataType type) {
  switch (type) {
    case acl::kF32:
      return 1e-4;
    case acl::kF16:
      return 4e-3;
    case acl::kBf16:
      return 3e-2;
    default:
      return 0;
  }
}

int64_t Count(const Dims& dims) {
  int64_t n = 1;
  for (const int64_t d : dims) n *= d;
  return n;
}

Dims DenseStrides(const Dims& dims) {
  Dims strides(dims.size(), 1);
  for (size_t k = dims.size(); k > 1; --k) strides[k - 2] = strides[k - 1] * dims[k - 1];
  return strides;
}

Values Some(int64_t n, int64_t seed) {
  Values values;
  for (int64_t i = 0; i < n; ++i) {
    values.push_back(static_cast<double>((i * 7 + seed * 5 + 3) % 33 - 16) / 8);
  }
  return values;
}

Values SomePositive(int64_t n, int64_t seed) {
  Values values;
  for (int64_t i = 0; i < n; ++i) {
    values.push_back(static_cast<double>((i * 7 + seed * 5 + 3) % 16 + 1) / 8);
  }
  return values;
}

std::string TextOf(double x) {
  char text[32];
  (void)std::snprintf(text, sizeof text, "%.8g", x);
  return text;
}

std::string TextOf(const Dims& dims) {
  std::string text;
  for (const int64_t size : dims) text += (text.empty() ? "" : ", ") + std::to_string(size);
  return "[" + text + "]";
}

}  // namespace ascend_check
