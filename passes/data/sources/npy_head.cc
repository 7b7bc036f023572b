#include "passes/data/sources/npy_head.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string_view>
#include <utility>

#include "ge/ge_plugin.h"
#include "ge/ge_plugin.hpp"
#include "passes/kit/refusal.h"

namespace ge::data {
namespace {

using passes::Refusal;

constexpr size_t kMostHead = 64 << 10, kMostRank = 32;

constexpr std::pair<std::string_view, int32_t> kTypes[] = {
    {"|u1", GE_U8},  {"|i1", GE_I8},  {"|b1", GE_BOOL}, {"<u2", GE_U16},
    {"<i2", GE_I16}, {"<u4", GE_U32}, {"<i4", GE_I32},  {"<u8", GE_U64},
    {"<i8", GE_I64}, {"<f2", GE_F16}, {"<f4", GE_F32},  {"<f8", GE_F64}};

// The text of a key's value, up to the comma or bracket that ends it.
std::string_view ValueOf(std::string_view dict, std::string_view key) {
  const size_t at = dict.find(fmt::format("'{}'", key));
  if (at == std::string_view::npos) return {};
  std::string_view rest = dict.substr(at + key.size() + 2);
  rest.remove_prefix(std::min(rest.find_first_not_of(" :"), rest.size()));
  if (rest.starts_with('(')) return rest.substr(0, rest.find(')') + 1);
  return rest.substr(0, rest.find_first_of(",}"));
}

}  // namespace

NpyHead ReadNpyHead(const std::string& what, std::span<const std::byte> bytes) {
  const auto bad = [&](const std::string& text) {
    return Refusal{GE_DATA_LOSS, fmt::format("'{}' is not a usable .npy array: {}", what, text)};
  };
  const auto at = [&](size_t i) { return std::to_integer<uint64_t>(bytes[i]); };
  if (bytes.size() < 12 || std::memcmp(bytes.data(), "\x93NUMPY", 6) != 0) {
    throw bad("it does not begin as one");
  }
  const bool wide = at(6) >= 2;
  const uint64_t length = at(8) | at(9) << 8 | (wide ? at(10) << 16 | at(11) << 24 : 0);
  NpyHead out;
  out.bytes = (wide ? 12 : 10) + length;
  if (length > kMostHead || out.bytes > bytes.size()) throw bad("its header does not end");
  std::string dict(reinterpret_cast<const char*>(bytes.data()) + (wide ? 12 : 10), length);
  for (char& c : dict) c = c >= ' ' && c <= '~' ? c : ' ';  // messages repeat parts of it
  const std::string_view descr = ValueOf(dict, "descr"), order = ValueOf(dict, "fortran_order");
  std::string_view shape = ValueOf(dict, "shape");
  const std::string_view name = descr.size() > 2 ? descr.substr(1, descr.size() - 2) : descr;
  const auto type = std::find_if(std::begin(kTypes), std::end(kTypes),
                                 [&](const auto& t) { return t.first == name; });
  if (type == std::end(kTypes)) {
    throw Refusal{GE_UNIMPLEMENTED,
                  fmt::format("'{}' has elements {}, wanted numbers, little-endian; "
                              "convert it by numpy's astype",
                              what, descr.substr(0, 64))};
  }
  if (order != "False") {
    throw Refusal{
        GE_UNIMPLEMENTED,
        fmt::format("'{}' is of column-major order; save numpy.ascontiguousarray of it", what)};
  }
  out.dtype = type->second;
  if (!shape.starts_with('(')) throw bad("its header has no shape");
  shape.remove_prefix(1);
  uint64_t count = 1;
  while (out.dims.size() < kMostRank) {
    shape.remove_prefix(std::min(shape.find_first_of("0123456789)"), shape.size()));
    if (shape.empty() || shape[0] == ')') break;
    int64_t d = 0;
    const auto r = std::from_chars(shape.data(), shape.data() + shape.size(), d);
    if (r.ec != std::errc() || __builtin_mul_overflow(count, static_cast<uint64_t>(d), &count)) {
      throw bad("its shape does not fit 63 bits");
    }
    out.dims.push_back(d);
    shape.remove_prefix(static_cast<size_t>(r.ptr - shape.data()));
  }
  if (__builtin_mul_overflow(count, plugin::ElementBits(out.dtype) / 8, &out.data_bytes) ||
      out.data_bytes != bytes.size() - out.bytes) {
    throw bad(fmt::format("its shape wants {} bytes, it has {}", out.data_bytes,
                          bytes.size() - out.bytes));
  }
  return out;
}

}  // namespace ge::data
