// Cast and CastLike between strings and numbers: the text is the shortest one to read back as the
// same number.
#pragma once

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "ge/control/strings.h"

namespace ge {

template <typename T>
std::string TextOfNumber(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value > 0 ? "INF" : "-INF";
  }
  return fmt::format("{}", value);
}

// The whole text is the number; "inf", "+INF", "nan" too. False otherwise, and beyond the type.
template <typename T>
bool NumberOfText(std::string_view text, T* out) {
  if (!text.empty() && text[0] == '+') text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  if (error == std::errc() && end == text.data() + text.size()) return true;
  if constexpr (std::is_integral_v<T>) {  // "3.0"
    double wide = 0;
    if (!NumberOfText(text, &wide) || wide != std::trunc(wide)) return false;
    // A C++ cast of a value outside the type would be undefined. Both ends are exact in double.
    constexpr double kLeast = static_cast<double>(std::numeric_limits<T>::min());
    constexpr double kEnd = 2 * static_cast<double>(T{1} << (std::numeric_limits<T>::digits - 1));
    if (wide < kLeast || wide >= kEnd) return false;
    *out = static_cast<T>(wide);
    return true;
  }
  return false;
}

// Calls `call` with a value of the C++ type; false for types that have none.
template <typename F>
bool VisitPlainNumber(DType dtype, F&& call) {
  switch (dtype) {
    case DType::kFloat:
      return call(float{}), true;
    case DType::kDouble:
      return call(double{}), true;
    case DType::kInt8:
      return call(int8_t{}), true;
    case DType::kInt16:
      return call(int16_t{}), true;
    case DType::kInt32:
      return call(int32_t{}), true;
    case DType::kInt64:
      return call(int64_t{}), true;
    case DType::kUint8:
      return call(uint8_t{}), true;
    case DType::kUint16:
      return call(uint16_t{}), true;
    case DType::kUint32:
      return call(uint32_t{}), true;
    case DType::kUint64:
      return call(uint64_t{}), true;
    default:
      return false;
  }
}

inline Status CannotCast(DType from, DType to) {
  return Status(Code::kUnsupported, fmt::format("{} is not cast to {}; cast to f32 in between",
                                                DTypeName(from), DTypeName(to)));
}

inline Status NumbersToStrings(HostCall& call) {
  const FlowValue& x = call.in(0);
  GE_RETURN_IF_ERROR(call.pool->Room(static_cast<uint64_t>(x.count()) * sizeof(std::string)));
  std::vector<std::string> out(static_cast<size_t>(x.count()));
  const bool known = VisitPlainNumber(x.dtype, [&](auto v) {
    for (size_t i = 0; i < out.size(); ++i) {
      std::memcpy(&v, x.data + i * sizeof v, sizeof v);
      out[i] = TextOfNumber(v);
    }
  });
  if (!known) return CannotCast(x.dtype, DType::kString);
  return call.pool->NewStrings(x.dims, std::move(out), &call.outputs[0]);
}

inline Status StringsToNumbers(HostCall& call, DType to) {
  GE_ASSIGN_OR_RETURN(const auto* x, StringsAt(call, 0));
  std::byte* data = nullptr;
  Status status;
  const bool known = VisitPlainNumber(to, [&](auto v) {
    status = call.pool->NewTensor(to, call.in(0).dims, &call.outputs[0], &data);
    for (size_t i = 0; status.ok() && i < x->size(); ++i) {
      if (!NumberOfText((*x)[i], &v)) {
        status = Status(Code::kInvalidArgument,
                        fmt::format("element {} is '{:.64}', wanted a number of type {}", i,
                                    (*x)[i], DTypeName(to)));
      }
      std::memcpy(data + i * sizeof v, &v, sizeof v);
    }
  });
  return known ? status : CannotCast(DType::kString, to);
}

// Only of nodes with a string on one side.
inline Status CastStrings(HostCall& call, DType to) {
  if (call.in(0).dtype != DType::kString) return NumbersToStrings(call);
  if (to != DType::kString) return StringsToNumbers(call, to);
  call.outputs[0] = call.in(0);
  return {};
}

}  // namespace ge
