// .npz, as numpy.savez and savez_compressed write it: a column for each array. Arrays named
// NAME_train and NAME_test are the parts, whose columns are NAME. Stored arrays are mapped.
#include <fmt/format.h>

#include <algorithm>

#include "passes/data/sources/arrays.h"
#include "passes/data/sources/inflate.h"
#include "passes/data/sources/npy_head.h"
#include "passes/data/sources/readers.h"
#include "passes/data/sources/zip.h"

namespace ge::data {
namespace {

constexpr uint64_t kMostColumns = 4096;
// Stored arrays are checked against their CRC when they are opened, up to this many bytes in all:
// a fifth of a second. Larger files are for .gerec, which checks what it reads.
constexpr uint64_t kCheckedBytes = uint64_t{256} << 20;

void AddArray(const std::string& path, const std::string& name, const ZipMember& m,
              std::span<const std::byte> file, uint64_t* checked, const OpenOptions& options,
              ArraySource* out) {
  CheckStop(options);
  const std::string what = fmt::format("{}' array '{}", path, Shown(m.name));
  std::span<const std::byte> bytes = file.subspan(m.at, m.packed);
  if (m.deflated) {
    std::byte* held = out->Hold(m.bytes);
    Inflater inflater(fmt::format("'{}'", what), bytes, Inflater::Form::kDeflate, options);
    inflater.Read({held, m.bytes});
    inflater.Finish();
    bytes = {held, m.bytes};
  }
  *checked += m.bytes;
  if ((m.deflated || *checked <= kCheckedBytes) && Crc32(bytes, options) != m.crc) {
    throw Refusal{GE_DATA_LOSS,
                  fmt::format("'{}' is damaged: its checksum is not that of its bytes", what)};
  }
  const NpyHead head = ReadNpyHead(what, bytes);
  if (head.dims.empty()) {
    throw Refusal{GE_INVALID_ARGUMENT,
                  fmt::format("'{}' is one number, wanted rows along an axis", what)};
  }
  Column column{
      .name = name, .dtype = head.dtype, .dims = {head.dims.begin() + 1, head.dims.end()}};
  const uint64_t stride = column.row_bytes();
  out->Add(std::move(column), head.dims[0], bytes.data() + head.bytes, stride);
}

}  // namespace

std::shared_ptr<Source> OpenNpz(const std::string& path, const OpenOptions& options) {
  auto out = std::make_shared<ArraySource>(path);
  const auto file = MappedData::Open(path);
  out->Keep(file);
  const auto members = ReadZip(path, file->bytes());
  const std::string part = options.part == Part::kTest ? "_test.npy" : "_train.npy";
  const auto has = [&](std::string_view ending) {
    return std::any_of(members.begin(), members.end(),
                       [&](const ZipMember& m) { return m.name.ends_with(ending); });
  };
  const bool parts = has("_train.npy") || has("_test.npy");
  if ((parts || options.part != Part::kAny) && !has(part)) {
    RefusePart(path, options.part, parts ? "arrays of the other" : "arrays without parts");
  }
  if (members.size() > kMostColumns) {
    throw Refusal{GE_INVALID_ARGUMENT, fmt::format("'{}' has {} arrays, wanted at most {}", path,
                                                   members.size(), kMostColumns)};
  }
  uint64_t checked = 0;
  for (const ZipMember& m : members) {
    const std::string_view ending = parts ? std::string_view(part) : ".npy";
    if (!m.name.ends_with(ending)) continue;
    AddArray(path, m.name.substr(0, m.name.size() - ending.size()), m, file->bytes(), &checked,
             options, out.get());
  }
  if (out->columns().empty()) {
    throw Refusal{GE_INVALID_ARGUMENT, fmt::format("'{}' has no arrays", path)};
  }
  Digest digest(options.stop);
  digest.Text(parts ? part : "");
  digest.Content(file->bytes());
  out->SetDigest(digest.Hex());
  return out;
}

}  // namespace ge::data
