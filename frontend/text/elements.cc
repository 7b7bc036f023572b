#include "frontend/text/elements.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

namespace ge::text {
namespace {

constexpr uint32_t kQuietNanF32 = 0x7fc00000;
constexpr uint64_t kQuietNanF64 = 0x7ff8000000000000;

template <typename T>
std::string Shortest(T value) {
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  return std::string(buffer, end);
}

float HalfToFloat(uint16_t h) {
  const uint32_t sign = uint32_t{h & 0x8000u} << 16;
  const uint32_t exponent = (h >> 10) & 0x1f;
  const uint32_t fraction = h & 0x3ff;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000 | fraction << 13);
  if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
  const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
  return sign ? -magnitude : magnitude;
}

// Round to nearest, ties to even, as all conversions below.
uint16_t FloatToHalf(float f) {
  const auto bits = std::bit_cast<uint32_t>(f);
  const auto sign = static_cast<uint16_t>((bits >> 16) & 0x8000);
  const float magnitude = std::fabs(f);
  if (std::isnan(f)) return 0x7e00;
  if (magnitude >= 65520.0f) return sign | 0x7c00;
  if (magnitude < 0x1p-14f) {  // subnormal: a multiple of 2^-24
    return sign | static_cast<uint16_t>(std::nearbyintf(magnitude * 0x1p24f));
  }
  const uint32_t m = (bits & 0x7fffffff) - (112u << 23);
  const uint32_t rounded = m + 0xfff + ((m >> 13) & 1);
  return sign | static_cast<uint16_t>(rounded >> 13);
}

float Bf16ToFloat(uint16_t b) { return std::bit_cast<float>(uint32_t{b} << 16); }

uint16_t FloatToBf16(float f) {
  if (std::isnan(f)) return 0x7fc0;
  const auto bits = std::bit_cast<uint32_t>(f);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

template <typename T>
T Load(const std::byte* data, uint64_t index) {
  T value;
  std::memcpy(&value, data + index * sizeof(T), sizeof(T));
  return value;
}

template <typename T>
void Store(T value, std::string* out) {
  out->append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <typename T>
bool AppendFloat(T value, std::string* out) {
  *out += Shortest(value);
  return true;
}

template <typename T>
bool AppendInt(const std::byte* data, uint64_t index, std::string* out) {
  *out += std::to_string(Load<T>(data, index));
  return true;
}

template <typename T>
bool ParseFloat(std::string_view text, T* value) {
  if (text == "nan") {
    *value = std::numeric_limits<T>::quiet_NaN();
    return true;
  }
  const char* end = text.data() + text.size();
  const auto r = std::from_chars(text.data(), end, *value);
  return r.ec == std::errc() && r.ptr == end && !std::isnan(*value);
}

template <typename T>
bool ParseInt(std::string_view text, std::string* out) {
  T value;
  const char* end = text.data() + text.size();
  const auto r = std::from_chars(text.data(), end, value);
  if (r.ec != std::errc() || r.ptr != end) return false;
  Store(value, out);
  return true;
}

}  // namespace

bool HasDecimalForm(DType dtype) {
  switch (dtype) {
    case DType::kFloat:
    case DType::kDouble:
    case DType::kFloat16:
    case DType::kBfloat16:
    case DType::kInt8:
    case DType::kInt16:
    case DType::kInt32:
    case DType::kInt64:
    case DType::kUint8:
    case DType::kUint16:
    case DType::kUint32:
    case DType::kUint64:
    case DType::kBool:
      return true;
    default:
      return false;
  }
}

bool AppendElement(DType dtype, const std::byte* data, uint64_t index, std::string* out) {
  switch (dtype) {
    case DType::kFloat: {
      const auto bits = Load<uint32_t>(data, index);
      const auto f = std::bit_cast<float>(bits);
      return std::isnan(f) && bits != kQuietNanF32 ? false : AppendFloat(f, out);
    }
    case DType::kDouble: {
      const auto bits = Load<uint64_t>(data, index);
      const auto d = std::bit_cast<double>(bits);
      return std::isnan(d) && bits != kQuietNanF64 ? false : AppendFloat(d, out);
    }
    case DType::kFloat16: {
      const auto h = Load<uint16_t>(data, index);
      const float f = HalfToFloat(h);
      return std::isnan(f) && h != 0x7e00 ? false : AppendFloat(f, out);
    }
    case DType::kBfloat16: {
      const auto b = Load<uint16_t>(data, index);
      const float f = Bf16ToFloat(b);
      return std::isnan(f) && b != 0x7fc0 ? false : AppendFloat(f, out);
    }
    case DType::kInt8:
      return AppendInt<int8_t>(data, index, out);
    case DType::kInt16:
      return AppendInt<int16_t>(data, index, out);
    case DType::kInt32:
      return AppendInt<int32_t>(data, index, out);
    case DType::kInt64:
      return AppendInt<int64_t>(data, index, out);
    case DType::kUint8:
      return AppendInt<uint8_t>(data, index, out);
    case DType::kUint16:
      return AppendInt<uint16_t>(data, index, out);
    case DType::kUint32:
      return AppendInt<uint32_t>(data, index, out);
    case DType::kUint64:
      return AppendInt<uint64_t>(data, index, out);
    case DType::kBool: {
      const auto b = Load<uint8_t>(data, index);
      if (b > 1) return false;
      *out += b ? "true" : "false";
      return true;
    }
    default:
      return false;
  }
}

bool ParseElement(DType dtype, std::string_view text, std::string* out) {
  float f = 0;
  double d = 0;
  switch (dtype) {
    case DType::kFloat:
      if (!ParseFloat(text, &f)) return false;
      Store(std::isnan(f) ? std::bit_cast<float>(kQuietNanF32) : f, out);
      return true;
    case DType::kDouble:
      if (!ParseFloat(text, &d)) return false;
      Store(std::isnan(d) ? std::bit_cast<double>(kQuietNanF64) : d, out);
      return true;
    case DType::kFloat16:
      if (!ParseFloat(text, &f)) return false;
      Store(FloatToHalf(f), out);
      return true;
    case DType::kBfloat16:
      if (!ParseFloat(text, &f)) return false;
      Store(FloatToBf16(f), out);
      return true;
    case DType::kInt8:
      return ParseInt<int8_t>(text, out);
    case DType::kInt16:
      return ParseInt<int16_t>(text, out);
    case DType::kInt32:
      return ParseInt<int32_t>(text, out);
    case DType::kInt64:
      return ParseInt<int64_t>(text, out);
    case DType::kUint8:
      return ParseInt<uint8_t>(text, out);
    case DType::kUint16:
      return ParseInt<uint16_t>(text, out);
    case DType::kUint32:
      return ParseInt<uint32_t>(text, out);
    case DType::kUint64:
      return ParseInt<uint64_t>(text, out);
    case DType::kBool:
      if (text != "true" && text != "false" && text != "0" && text != "1") return false;
      Store(static_cast<uint8_t>(text == "true" || text == "1"), out);
      return true;
    default:
      return false;
  }
}

std::string DoubleToText(double value) {
  if (std::isnan(value)) {
    const auto bits = std::bit_cast<uint64_t>(value);
    return bits == kQuietNanF64 ? "nan" : fmt::format("nan({:#018x})", bits);
  }
  std::string text = Shortest(value);
  if (std::isinf(value)) return text;
  const auto narrow = static_cast<float>(value);
  if (static_cast<double>(narrow) == value) {
    std::string shorter = Shortest(narrow);
    if (shorter.size() + 1 < text.size()) return shorter + "f";
  }
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

}  // namespace ge::text
