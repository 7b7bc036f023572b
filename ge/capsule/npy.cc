#include "ge/capsule/npy.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "ge/base/checked.h"

namespace ge {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kMaxRank = 32;  // NumPy's own
constexpr size_t kMaxHeader = 1 << 16;

constexpr std::pair<std::string_view, DType> kDescriptors[] = {
    {"<f4", DType::kFloat},     {"<f8", DType::kDouble},     {"<f2", DType::kFloat16},
    {"|i1", DType::kInt8},      {"<i2", DType::kInt16},      {"<i4", DType::kInt32},
    {"<i8", DType::kInt64},     {"|u1", DType::kUint8},      {"<u2", DType::kUint16},
    {"<u4", DType::kUint32},    {"<u8", DType::kUint64},     {"|b1", DType::kBool},
    {"<c8", DType::kComplex64}, {"<c16", DType::kComplex128}};

Status NpyFault(std::string text) { return Status(Code::kDataCorrupt, std::move(text)); }

// What follows `'key':` and spaces in the header, which is a Python dictionary; empty when absent.
// No regular expression: those of the standard library take stack for each character.
std::string_view ValueOf(std::string_view header, std::string_view key) {
  const size_t at = header.find(key);
  if (at == std::string_view::npos) return {};
  const size_t begin = header.find_first_not_of(' ', at + key.size());
  return begin == std::string_view::npos ? std::string_view() : header.substr(begin);
}

Status ParseShape(std::string_view text, std::vector<int64_t>* dims) {
  const size_t end = text.find(')');
  if (text.empty() || text[0] != '(' || end == std::string_view::npos) {
    return NpyFault("its header has no shape");
  }
  text = text.substr(1, end - 1);
  if (text.find_first_not_of("0123456789, ") != std::string_view::npos) {
    return NpyFault("its shape is no list of sizes");
  }
  for (size_t at = 0; (at = text.find_first_of("0123456789", at)) != std::string_view::npos;) {
    int64_t size = 0;
    const auto [stop, error] = std::from_chars(text.data() + at, text.data() + text.size(), size);
    if (error != std::errc()) return NpyFault("a size of its shape does not fit in 63 bits");
    if (dims->size() == kMaxRank) {
      return NpyFault(fmt::format("its shape has more than {} sizes", kMaxRank));
    }
    dims->push_back(size);
    at = static_cast<size_t>(stop - text.data());
  }
  return {};
}

}  // namespace

Result<NpyDictionary> ParseNpyDictionary(std::string_view text) {
  NpyDictionary out;
  const std::string_view descr = ValueOf(text, "'descr':");
  const size_t quote =
      descr.empty() || descr[0] != '\'' ? std::string_view::npos : descr.find('\'', 1);
  if (quote == std::string_view::npos) return NpyFault("its header has no descr");
  out.descr = descr.substr(1, quote - 1);
  if (ValueOf(text, "'fortran_order':").substr(0, 5) != "False") {
    return NpyFault("it is in Fortran order; save numpy.ascontiguousarray(x)");
  }
  GE_RETURN_IF_ERROR(ParseShape(ValueOf(text, "'shape':"), &out.dims));
  return out;
}

std::optional<DType> DTypeOfNpy(std::string_view descr) {
  for (const auto& [text, dtype] : kDescriptors) {
    if (text == descr) return dtype;
  }
  return std::nullopt;
}

std::string NpyHead(DType dtype, std::span<const int64_t> dims, uint64_t bytes) {
  std::string_view descr;
  for (const auto& [text, known] : kDescriptors) {
    if (known == dtype) descr = text;
  }
  std::string shape;
  if (descr.empty() && dtype != DType::kBfloat16) {
    descr = "|u1";
    shape = fmt::format("{}, ", bytes);
  } else {
    if (descr.empty()) descr = "<u2";
    for (const int64_t d : dims) shape += fmt::format("{}, ", d);
  }
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr, shape);
  while ((kMagic.size() + 4 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string out(kMagic);
  out += '\x01';
  out += '\0';
  out += static_cast<char>(header.size() & 0xff);
  out += static_cast<char>(header.size() >> 8);
  return out + header;
}

Result<NpyArray> ParseNpy(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!text.starts_with(kMagic) || text.size() < 12) return NpyFault("it does not begin as one");
  const auto at = [&](size_t i) { return static_cast<size_t>(static_cast<uint8_t>(text[i])); };
  const bool wide = at(6) >= 2;
  size_t length = at(8) | at(9) << 8;
  if (wide) length |= at(10) << 16 | at(11) << 24;
  NpyArray out;
  out.head = (wide ? 12 : 10) + length;
  if (length > kMaxHeader) return NpyFault("its header is too long");
  if (out.head > text.size()) return NpyFault("it ends inside its header");
  GE_ASSIGN_OR_RETURN(out.shape, ParseNpyDictionary(text.substr(out.head - length, length)));
  out.data = bytes.subspan(out.head);
  return out;
}

}  // namespace ge
