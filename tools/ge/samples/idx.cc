// The files of MNIST: a magic number with dtype and rank, sizes of four bytes, elements;
// big-endian.
#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <memory>

#include "ge/base/checked.h"
#include "ge/base/read_file.h"
#include "tools/ge/samples/samples.h"

namespace ge::tool {
namespace {

Status BadIdx(const std::string& path, const std::string& text) {
  return Status(Code::kDataCorrupt, fmt::format("'{}' is not a usable idx file: {}", path, text));
}

using GzFile = std::unique_ptr<gzFile_s, int (*)(gzFile)>;

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

// Its dtype and dims.
Result<Rows> ReadHead(const std::string& path, gzFile file, uint64_t file_bytes) {
  std::byte head[4 + 4 * 8];
  if (ReadBytes(file, head, 4) != 4) return BadIdx(path, "it has less than 4 bytes");
  const auto at = [&](size_t i) { return std::to_integer<uint32_t>(head[i]); };
  const uint32_t rank = at(3);
  if (at(0) != 0 || at(1) != 0 || at(2) != 8 || rank < 1 || rank > 8) {
    return BadIdx(path, fmt::format("it begins with {:02x} {:02x} {:02x} {:02x}, wanted 00 00 08 "
                                    "(bytes) and a rank of 1 to 8",
                                    at(0), at(1), at(2), at(3)));
  }
  if (ReadBytes(file, head + 4, 4 * rank) != 4 * rank) return BadIdx(path, "its sizes end");
  std::vector<int64_t> dims;
  for (size_t i = 0; i < rank; ++i) {
    const size_t b = 4 + 4 * i;
    dims.push_back(at(b) << 24 | at(b + 1) << 16 | at(b + 2) << 8 | at(b + 3));
  }
  const auto count = CheckedProduct(dims);
  const uint64_t most = gzdirect(file) ? file_bytes : file_bytes * kMostInflated;
  if (!count || static_cast<uint64_t>(*count) > most) {
    return BadIdx(path, fmt::format("its sizes are {}, more than its {} bytes can hold",
                                    DimsText(dims), file_bytes));
  }
  Rows rows;
  rows.dtype = DType::kUint8;
  rows.count = dims[0];
  rows.dims.assign(dims.begin() + 1, dims.end());
  return rows;
}

}  // namespace

Result<Rows> ReadIdx(const std::string& path, const Wanted& wanted, DataReader* reader) {
  GE_ASSIGN_OR_RETURN(RegularFile opened, OpenRegularFile(path));
  const GzFile file(gzdopen(opened.fd.get(), "rb"), gzclose);
  if (!file) return Status(Code::kResourceExhausted, "no memory to read '" + path + "'");
  (void)opened.fd.release();  // gzclose closes it
  GE_ASSIGN_OR_RETURN(Rows rows, ReadHead(path, file.get(), opened.bytes));
  GE_RETURN_IF_ERROR(reader->TakeRows(wanted, "'" + path + "'", &rows));
  const uint64_t count = rows.bytes.size();
  if (ReadBytes(file.get(), rows.bytes.data(), static_cast<int64_t>(count)) !=
      static_cast<int64_t>(count)) {
    return BadIdx(path, fmt::format("its sizes say {} elements, it ends before", count));
  }
  std::byte more;
  if (ReadBytes(file.get(), &more, 1) == 1) {
    return BadIdx(path, fmt::format("its sizes say {} elements, it has more", count));
  }
  return rows;
}

}  // namespace ge::tool
