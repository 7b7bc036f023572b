// A .npy file: one column, `x`, whose rows run along the first axis. Mapped.
#include <fmt/format.h>

#include "passes/data/sources/arrays.h"
#include "passes/data/sources/npy_head.h"
#include "passes/data/sources/readers.h"

namespace ge::data {

std::shared_ptr<Source> OpenNpy(const std::string& path, const OpenOptions& options) {
  auto out = std::make_shared<ArraySource>(path);
  const auto file = MappedData::Open(path);
  const NpyHead head = ReadNpyHead(path, file->bytes());
  if (head.dims.empty()) {
    throw Refusal{GE_INVALID_ARGUMENT,
                  fmt::format("'{}' holds one number, wanted rows along an axis", path)};
  }
  Column x{.name = "x", .dtype = head.dtype, .dims = {head.dims.begin() + 1, head.dims.end()}};
  const uint64_t stride = x.row_bytes();
  out->Add(std::move(x), head.dims[0], file->bytes().data() + head.bytes, stride);
  Digest digest(options.stop);
  digest.Content(file->bytes());
  out->SetDigest(digest.Hex());
  out->Keep(file);
  return out;
}

}  // namespace ge::data
