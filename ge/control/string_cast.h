// Cast and CastLike between strings and numbers: the text is the shortest one to read back as the
// same number; of a bool "1" or "0", as ONNX Runtime has it. Floats below 32 bits come and go by
// way of a wider type (pass cast-texts-in-two).
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

// Without spaces around it.
inline std::string_view TrimText(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\n\v\f\r";
  const size_t first = std::min(text.find_first_not_of(kSpaces), text.size());
  text.remove_prefix(first);
  return text.substr(0, text.find_last_not_of(kSpaces) + 1);
}

// The whole text is the number, but for spaces around it; "inf", "+INF", "nan" too. False
// otherwise, and beyond the type.
template <typename T>
bool NumberOfText(std::string_view text, T* out) {
  const std::string_view whole = text = TrimText(text);
  if (text.starts_with('+')) text.remove_prefix(text.starts_with("+-") ? text.size() : 1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  if (error == std::errc() && end == text.data() + text.size()) return true;
  if constexpr (std::is_integral_v<T>) {  // "3.0"
    double wide = 0;
    if (!NumberOfText(whole, &wide) || wide != std::trunc(wide)) return false;
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

// Integers below 8 bits: how wide, and whether they have a sign. 0 bits: another type.
struct NarrowInt {
  int bits = 0;
  bool is_signed = false;
  int64_t least() const { return is_signed ? -(int64_t{1} << (bits - 1)) : 0; }
  int64_t most() const { return (int64_t{1} << (is_signed ? bits - 1 : bits)) - 1; }
  // Element i of packed ones, the low bits first.
  int64_t At(const std::byte* data, size_t i) const {
    const size_t bit = i * static_cast<size_t>(bits);
    const auto code = (std::to_integer<int64_t>(data[bit / 8]) >> (bit % 8)) & ((1 << bits) - 1);
    return code > most() ? code - (int64_t{1} << bits) : code;
  }
  void Put(int64_t value, std::byte* data, size_t i) const {  // over zeros
    const size_t bit = i * static_cast<size_t>(bits);
    const auto code = static_cast<uint64_t>(value) & ((1u << bits) - 1);
    data[bit / 8] |= static_cast<std::byte>(code << (bit % 8));
  }
};
inline NarrowInt NarrowIntOf(DType dtype) {
  if (!IsInteger(dtype) || DTypeBits(dtype) >= 8) return {};
  return {DTypeBits(dtype), dtype == DType::kInt4 || dtype == DType::kInt2};
}

inline Status NotOfType(size_t i, std::string_view text, DType dtype) {
  return Status(Code::kInvalidArgument, fmt::format("element {} is '{:.64}', wanted a number of "
                                                    "type {}",
                                                    i, text, DTypeName(dtype)));
}

inline Status StringsToNarrowInts(HostCall& call, DType to, const std::vector<std::string>& x) {
  const NarrowInt narrow = NarrowIntOf(to);
  std::byte* data = nullptr;
  GE_RETURN_IF_ERROR(call.pool->NewTensor(to, call.in(0).dims, &call.outputs[0], &data));
  std::fill_n(data, call.outputs[0].bytes, std::byte{0});
  for (size_t i = 0; i < x.size(); ++i) {
    int64_t v = 0;
    if (!NumberOfText(x[i], &v) || v < narrow.least() || v > narrow.most()) {
      return NotOfType(i, x[i], to);
    }
    narrow.Put(v, data, i);
  }
  return {};
}

// Another number than 0 is true.
inline Status StringsToBools(HostCall& call, const std::vector<std::string>& x) {
  std::byte* data = nullptr;
  GE_RETURN_IF_ERROR(call.pool->NewTensor(DType::kBool, call.in(0).dims, &call.outputs[0], &data));
  for (size_t i = 0; i < x.size(); ++i) {
    double v = 0;
    if (!NumberOfText(x[i], &v) || std::isnan(v)) return NotOfType(i, x[i], DType::kBool);
    data[i] = static_cast<std::byte>(v != 0 ? 1 : 0);
  }
  return {};
}

inline Status NumbersToStrings(HostCall& call) {
  const FlowValue& x = call.in(0);
  GE_RETURN_IF_ERROR(call.pool->Room(static_cast<uint64_t>(x.count()) * sizeof(std::string)));
  std::vector<std::string> out(static_cast<size_t>(x.count()));
  const NarrowInt narrow = NarrowIntOf(x.dtype);
  for (size_t i = 0; narrow.bits > 0 && i < out.size(); ++i) {
    out[i] = TextOfNumber(narrow.At(x.data, i));
  }
  const DType plain = x.dtype == DType::kBool ? DType::kUint8 : x.dtype;
  const bool known = narrow.bits > 0 || VisitPlainNumber(plain, [&](auto v) {
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
  if (to == DType::kBool) return StringsToBools(call, *x);
  if (NarrowIntOf(to).bits > 0) return StringsToNarrowInts(call, to, *x);
  std::byte* data = nullptr;
  Status status;
  const bool known = VisitPlainNumber(to, [&](auto v) {
    status = call.pool->NewTensor(to, call.in(0).dims, &call.outputs[0], &data);
    for (size_t i = 0; status.ok() && i < x->size(); ++i) {
      if (!NumberOfText((*x)[i], &v)) status = NotOfType(i, (*x)[i], to);
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
