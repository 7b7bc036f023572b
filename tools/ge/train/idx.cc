// The files of MNIST: a magic number with dtype and rank, sizes of four bytes, elements;
// big-endian.
#include <fmt/format.h>
#include <zlib.h>

#include <filesystem>
#include <memory>

#include "ge/base/checked.h"
#include "tools/ge/train/samples.h"

namespace ge::tool {
namespace {

constexpr int64_t kMostIdxBytes = int64_t{1} << 34;  // what a header may claim

Status BadIdx(const std::string& path, const std::string& text) {
  return Status(Code::kDataCorrupt, fmt::format("'{}' is not a usable idx file: {}", path, text));
}

// As many bytes as are there, at most n.
int64_t ReadBytes(gzFile file, std::byte* to, int64_t n) {
  int64_t done = 0;
  while (done < n) {
    const auto part = static_cast<unsigned>(std::min<int64_t>(n - done, 1 << 24));
    const int got = gzread(file, to + done, part);
    if (got <= 0) break;
    done += got;
  }
  return done;
}

}  // namespace

Result<Rows> ReadIdx(const std::string& path) {
  std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  if (!file) {
    return Status(Code::kIoError, fmt::format("cannot open '{}'; give an existing file", path));
  }
  std::byte head[4 + 4 * 8];
  if (ReadBytes(file.get(), head, 4) != 4) return BadIdx(path, "it has less than 4 bytes");
  const auto at = [&](size_t i) { return std::to_integer<uint32_t>(head[i]); };
  const uint32_t rank = at(3);
  if (at(0) != 0 || at(1) != 0 || at(2) != 8 || rank < 1 || rank > 8) {
    return BadIdx(path, fmt::format("it begins with {:02x} {:02x} {:02x} {:02x}, wanted 00 00 08 "
                                    "(bytes) and a rank of 1 to 8",
                                    at(0), at(1), at(2), at(3)));
  }
  if (ReadBytes(file.get(), head + 4, 4 * rank) != 4 * rank) return BadIdx(path, "its sizes end");
  Rows rows;
  rows.dtype = DType::kUint8;
  std::vector<int64_t> dims;
  for (size_t i = 0; i < rank; ++i) {
    const size_t b = 4 + 4 * i;
    dims.push_back(at(b) << 24 | at(b + 1) << 16 | at(b + 2) << 8 | at(b + 3));
  }
  const auto count = CheckedProduct(dims);
  if (!count || *count > kMostIdxBytes) return BadIdx(path, "its sizes are beyond 16 GiB");
  rows.count = dims[0], rows.dims.assign(dims.begin() + 1, dims.end());
  // In parts: what a header claims may be more than there is.
  while (static_cast<int64_t>(rows.bytes.size()) < *count) {
    const auto had = rows.bytes.size();
    const auto part = std::min<int64_t>(*count - static_cast<int64_t>(had), 1 << 24);
    rows.bytes.resize(had + static_cast<size_t>(part));
    if (ReadBytes(file.get(), rows.bytes.data() + had, part) == part) continue;
    return BadIdx(path, fmt::format("its sizes say {} elements, it ends before", *count));
  }
  std::byte more;
  if (ReadBytes(file.get(), &more, 1) == 1) {
    return BadIdx(path, fmt::format("its sizes say {} elements, it has more", *count));
  }
  return rows;
}

}  // namespace ge::tool
