// .npy reading and writing, and files by temporary name.
#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <string_view>

#include "ge/base/aligned.h"
#include "ge/base/checked.h"
#include "ge/base/read_file.h"
#include "ge/base/replace_file.h"
#include "ge/run/tensor_view.h"
#include "tools/ge/command.h"

namespace ge::tool {
namespace {

constexpr size_t kMaxHeader = 1 << 16;
constexpr size_t kMaxRank = 32;  // NumPy's own
constexpr char kMagic[] = "\x93NUMPY";

const std::map<std::string, DType>& Descriptors() {
  static const std::map<std::string, DType> map = {
      {"<f4", DType::kFloat},     {"<f8", DType::kDouble},     {"<f2", DType::kFloat16},
      {"|i1", DType::kInt8},      {"<i2", DType::kInt16},      {"<i4", DType::kInt32},
      {"<i8", DType::kInt64},     {"|u1", DType::kUint8},      {"<u2", DType::kUint16},
      {"<u4", DType::kUint32},    {"<u8", DType::kUint64},     {"|b1", DType::kBool},
      {"<c8", DType::kComplex64}, {"<c16", DType::kComplex128}};
  return map;
}

Status Bad(const std::string& path, const std::string& text) {
  return Status(Code::kDataCorrupt, fmt::format("'{}' is not a usable .npy file: {}", path, text));
}

// What follows `'key':` and spaces in the header, which is a Python dictionary; empty when absent.
// No regular expression: those of the standard library take stack for each character.
std::string_view ValueOf(std::string_view header, std::string_view key) {
  const size_t at = header.find(key);
  if (at == std::string_view::npos) return {};
  const size_t begin = header.find_first_not_of(' ', at + key.size());
  return begin == std::string_view::npos ? std::string_view() : header.substr(begin);
}

Status ParseShape(const std::string& path, std::string_view text, std::vector<int64_t>* dims) {
  const size_t end = text.find(')');
  if (text.empty() || text[0] != '(' || end == std::string_view::npos) {
    return Bad(path, "its header has no shape");
  }
  text = text.substr(1, end - 1);
  if (text.find_first_not_of("0123456789, ") != std::string_view::npos) {
    return Bad(path, "its shape is no list of sizes");
  }
  for (size_t at = 0; (at = text.find_first_of("0123456789", at)) != std::string_view::npos;) {
    int64_t size = 0;
    const auto [stop, error] = std::from_chars(text.data() + at, text.data() + text.size(), size);
    if (error != std::errc()) return Bad(path, "a size of its shape does not fit in 63 bits");
    if (dims->size() == kMaxRank) {
      return Bad(path, fmt::format("its shape has more than {} sizes", kMaxRank));
    }
    dims->push_back(size);
    at = static_cast<size_t>(stop - text.data());
  }
  return {};
}

// Whether [at, at + bytes) was there.
bool ReadAt(const RegularFile& file, uint64_t at, void* to, uint64_t bytes) {
  for (uint64_t done = 0; done < bytes;) {
    const ssize_t n = pread(file.fd.get(), static_cast<char*>(to) + done, bytes - done,
                            static_cast<off_t>(at + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += static_cast<uint64_t>(n);
  }
  return true;
}

}  // namespace

Status ParseNpyHeader(const std::string& path, const std::string& header, TensorView* view,
                      NpyText* text) {
  const std::string_view descr = ValueOf(header, "'descr':");
  const size_t quote =
      descr.empty() || descr[0] != '\'' ? std::string_view::npos : descr.find('\'', 1);
  if (quote == std::string_view::npos) return Bad(path, "its header has no descr");
  const std::string dtype(descr.substr(1, quote - 1));
  auto it = Descriptors().find(dtype);
  if (it != Descriptors().end()) {
    view->dtype = it->second;
  } else if (const auto found = ParseNpyText(dtype); found && text != nullptr) {
    view->dtype = DType::kString;
    *text = *found;
  } else {
    return Bad(path, fmt::format("its dtype is {:.64}; wanted a little-endian number type{}", dtype,
                                 text ? ", or texts as x.astype(str) makes them" : ""));
  }
  if (ValueOf(header, "'fortran_order':").substr(0, 5) != "False") {
    return Bad(path, "it is in Fortran order; save numpy.ascontiguousarray(x)");
  }
  return ParseShape(path, ValueOf(header, "'shape':"), &view->dims);
}

Result<Tensor> ReadNpy(const std::string& path) {
  GE_ASSIGN_OR_RETURN(const RegularFile file, OpenRegularFile(path));
  char head[12] = {};
  if (!ReadAt(file, 0, head, 10) || std::memcmp(head, kMagic, 6) != 0) {
    return Bad(path, "it does not begin as one");
  }
  size_t length = static_cast<uint8_t>(head[8]) | static_cast<uint8_t>(head[9]) << 8;
  uint64_t start = 10;
  if (head[6] >= 2 && ReadAt(file, 10, head + 10, 2)) {
    length |= static_cast<size_t>(static_cast<uint8_t>(head[10])) << 16 |
              static_cast<size_t>(static_cast<uint8_t>(head[11])) << 24;
    start = 12;
  }
  if (length > kMaxHeader) return Bad(path, "its header is too long");
  std::string header(length, 0);
  if (!ReadAt(file, start, header.data(), length)) return Bad(path, "it ends inside its header");
  start += length;
  Tensor t;
  NpyText text;
  GE_RETURN_IF_ERROR(ParseNpyHeader(path, header, &t.view, &text));
  auto count = CheckedProduct(t.view.dims);
  const bool texts = t.view.dtype == DType::kString;
  auto bytes = !count  ? std::nullopt
               : texts ? CheckedMul(*count, text.bytes())
                       : DTypeBytes(t.view.dtype, *count);
  if (!bytes) return Bad(path, "its size does not fit in 63 bits");
  if (file.bytes - start != static_cast<uint64_t>(*bytes)) {
    return Bad(path,
               fmt::format("its shape needs {} bytes, it has {}", *bytes, file.bytes - start));
  }
  t.view.bytes = static_cast<uint64_t>(*bytes);
  t.memory = AllocateAligned(t.view.bytes, 64);
  if (!t.memory) return Status(Code::kResourceExhausted, "no memory for " + path);
  if (!ReadAt(file, start, t.memory.get(), t.view.bytes)) {
    return Bad(path, "it cannot be read to its end");
  }
  if (texts) {
    auto read = ReadNpyTexts(text, *count, t.memory.get());
    if (!read.ok()) return Bad(path, read.status().message());
    t.strings = std::make_shared<const std::vector<std::string>>(std::move(*read));
    t.view.bytes = 0;
    t.memory = nullptr;
  }
  t.view.data = t.memory.get();
  return t;
}

Status WriteNpy(const std::string& path, const TensorView& t) {
  std::string descr;
  for (const auto& [text, dtype] : Descriptors()) {
    if (dtype == t.dtype) descr = text;
  }
  if (descr.empty()) {
    // NumPy has no such type: the raw bytes, so that nothing is lost.
    descr = t.dtype == DType::kBfloat16 ? "<u2" : "|u1";
  }
  std::string dims;
  for (int64_t d : t.dims) dims += fmt::format("{}, ", d);
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr, dims);
  while ((10 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string out(kMagic, 6);
  out += '\x01';
  out += '\0';
  out += static_cast<char>(header.size() & 0xff);
  out += static_cast<char>(header.size() >> 8);
  out += header;
  out.append(static_cast<const char*>(t.data), t.bytes);
  return WriteFile(path, out);
}

Status WriteFile(const std::string& path, const std::string& content) {
  return ReplaceFile(path, content, false);
}

}  // namespace ge::tool
