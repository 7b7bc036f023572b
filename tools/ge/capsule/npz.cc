#include "tools/ge/capsule/npz.h"

#include <fmt/format.h>

#include "ge/capsule/npy.h"
#include "ge/capsule/store/zip_directory.h"

namespace ge::tool {
namespace {

constexpr uint64_t kMostFileBytes = uint64_t{1} << 40, kMostArrays = 1'000'000;
constexpr std::string_view kNpy = ".npy";

Status OfFile(const std::string& path, const Status& status) {
  return Status(status.code(), fmt::format("file '{:.256}': {}", path, status.message()));
}

Status AddArray(std::span<const std::byte> file, const ZipMember& m, Npz* out) {
  std::string name = m.name;
  if (name.ends_with(kNpy)) name.resize(name.size() - kNpy.size());
  const auto refuse = [&](Code code, const std::string& text) {
    return Status(code, fmt::format("array '{}': {}", ShownName(name), text));
  };
  if (m.method != 0) {
    return refuse(Code::kUnsupported, "it is compressed; write it by numpy.savez");
  }
  const auto bytes = file.subspan(m.data, m.bytes);
  if (Crc32(bytes) != m.crc) return refuse(Code::kDataCorrupt, "its checksum is wrong");
  const auto array = ParseNpy(bytes);
  if (!array.ok()) return refuse(array.status().code(), array.status().message());
  const auto dtype = DTypeOfNpy(array->shape.descr);
  if (!dtype) return {};
  uint64_t size = static_cast<uint64_t>(DTypeBits(*dtype)) / 8;
  for (const int64_t d : array->shape.dims) {
    const bool fits = !__builtin_mul_overflow(size, static_cast<uint64_t>(d), &size);
    if (!fits) return refuse(Code::kDataCorrupt, "its sizes do not fit in 64 bits");
  }
  if (size != array->data.size()) {
    return refuse(Code::kDataCorrupt,
                  fmt::format("it has {} bytes, wanted {}", array->data.size(), size));
  }
  out->arrays[name] = {*dtype, array->shape.dims, array->data};
  return {};
}

}  // namespace

Result<Npz> ReadNpz(const std::string& path) {
  Npz out;
  GE_ASSIGN_OR_RETURN(out.file, MappedFile::Open(path, kMostFileBytes));
  const auto bytes = out.file->bytes();
  if (!HasZipDirectory(bytes)) {
    return Status(Code::kDataCorrupt,
                  fmt::format("file '{:.256}': it is no .npz; write it by numpy.savez", path));
  }
  const auto members = ReadZipDirectory(bytes, kMostArrays);
  if (!members.ok()) return OfFile(path, members.status());
  for (const ZipMember& m : *members) {
    const Status added = AddArray(bytes, m, &out);
    if (!added.ok()) return OfFile(path, added);
  }
  GE_RETURN_IF_ERROR(out.file->Check());
  return out;
}

}  // namespace ge::tool
