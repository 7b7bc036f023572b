// .npy reading and writing, and files by temporary name.
#include "ge/capsule/npy.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>

#include "ge/base/aligned.h"
#include "ge/base/checked.h"
#include "ge/base/read_file.h"
#include "ge/base/replace_file.h"
#include "ge/run/tensor_view.h"
#include "tools/ge/command.h"

namespace ge::tool {
namespace {

constexpr size_t kMaxHeader = 1 << 16;
constexpr char kMagic[] = "\x93NUMPY";

Status Bad(const std::string& path, const std::string& text) {
  return Status(Code::kDataCorrupt, fmt::format("'{}' is not a usable .npy file: {}", path, text));
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
  auto read = ParseNpyDictionary(header);
  if (!read.ok()) return Bad(path, read.status().message());
  if (const auto dtype = DTypeOfNpy(read->descr)) {
    view->dtype = *dtype;
  } else if (const auto found = ParseNpyText(read->descr); found && text != nullptr) {
    view->dtype = DType::kString;
    *text = *found;
  } else {
    return Bad(path,
               fmt::format("its dtype is {:.64}; wanted a little-endian number type{}", read->descr,
                           text ? ", or texts as x.astype(str) makes them" : ""));
  }
  view->dims = std::move(read->dims);
  return {};
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
  std::string out = NpyHead(t.dtype, t.dims, t.bytes);
  out.append(static_cast<const char*>(t.data), t.bytes);
  return WriteFile(path, out);
}

Status WriteFile(const std::string& path, const std::string& content) {
  return ReplaceFile(path, content, false);
}

}  // namespace ge::tool
