#include "tools/ge/samples/convert.h"

#include <cstring>
#include <type_traits>

#include "ge/base/half.h"

namespace ge::tool {
namespace {

// Elements that C++ has no type for, as they lie in memory.
struct Half {
  uint16_t bits;
};
struct Bool {
  uint8_t bits;
};

template <typename To, typename From>
To Converted(From v) {
  if constexpr (std::is_same_v<From, Half>) {
    return static_cast<To>(FloatOfHalf(v.bits));
  } else if constexpr (std::is_same_v<From, Bool>) {
    return static_cast<To>(v.bits != 0);
  } else if constexpr (std::is_same_v<From, uint8_t> && std::is_floating_point_v<To>) {
    return static_cast<To>(static_cast<float>(v) / 255.0f);
  } else {
    return static_cast<To>(v);
  }
}

template <typename From, typename To>
void ConvertAll(const std::byte* from, uint64_t n, std::byte* to) {
  for (uint64_t i = 0; i < n; ++i) {
    From v;
    std::memcpy(&v, from + i * sizeof v, sizeof v);
    const To made = Converted<To>(v);
    std::memcpy(to + i * sizeof made, &made, sizeof made);
  }
}

using ConvertFn = void (*)(const std::byte*, uint64_t, std::byte*);

template <typename From>
ConvertFn ConvertTo(DType to) {
  constexpr bool kWhole = std::is_integral_v<From> || std::is_same_v<From, Bool>;
  if (to == DType::kFloat) return ConvertAll<From, float>;
  if (to == DType::kDouble) return ConvertAll<From, double>;
  if constexpr (kWhole) {
    if (to == DType::kInt64) return ConvertAll<From, int64_t>;
    if (to == DType::kInt32) return ConvertAll<From, int32_t>;
  }
  return nullptr;
}

ConvertFn FindConvert(DType from, DType to) {
  switch (from) {
    case DType::kBool:
      return ConvertTo<Bool>(to);
    case DType::kUint8:
      return ConvertTo<uint8_t>(to);
    case DType::kInt8:
      return ConvertTo<int8_t>(to);
    case DType::kUint16:
      return ConvertTo<uint16_t>(to);
    case DType::kInt16:
      return ConvertTo<int16_t>(to);
    case DType::kUint32:
      return ConvertTo<uint32_t>(to);
    case DType::kInt32:
      return ConvertTo<int32_t>(to);
    case DType::kUint64:
      return ConvertTo<uint64_t>(to);
    case DType::kInt64:
      return ConvertTo<int64_t>(to);
    case DType::kFloat16:
      return ConvertTo<Half>(to);
    case DType::kFloat:
      return ConvertTo<float>(to);
    case DType::kDouble:
      return ConvertTo<double>(to);
    default:
      return nullptr;
  }
}

}  // namespace

bool CanConvert(DType from, DType to) { return from == to || FindConvert(from, to) != nullptr; }

void ConvertNumbers(DType dtype, const std::byte* from, uint64_t n, DType as, std::byte* to) {
  if (dtype == as) {
    std::memcpy(to, from, static_cast<size_t>(*DTypeBytes(as, static_cast<int64_t>(n))));
  } else {
    FindConvert(dtype, as)(from, n, to);
  }
}

}  // namespace ge::tool
