#include "ge/capsule/store/capsule_reader.h"

#include <fmt/format.h>

#include <cstring>

#include "ge/capsule/store/member_name.h"
#include "ge/capsule/store/zip_directory.h"
#include "ge/capsule/store/zip_format.h"

namespace ge {
namespace {

// Others may deflate; a capsule's members are used where they lie.
Status CheckStored(const ZipMember& m) {
  const auto refuse = [&](const char* field, uint64_t value, const char* wanted) {
    return Status(Code::kDataCorrupt, fmt::format("member '{}': its {} is {}, wanted {}",
                                                  ShownName(m.name), field, value, wanted));
  };
  GE_RETURN_IF_ERROR(CheckMemberName(m.name));
  if (m.method != 0) return refuse("method", m.method, "0 (stored)");
  if ((m.flags & ~zip::kUtf8) != 0) return refuse("flags", m.flags, "0 or 2048 (names of UTF-8)");
  if (m.packed != m.bytes) {
    return Status(Code::kDataCorrupt,
                  fmt::format("member '{}': it has {} bytes and {} in the file, wanted as many",
                              ShownName(m.name), m.bytes, m.packed));
  }
  return {};
}

}  // namespace

bool LooksLikeCapsule(std::span<const std::byte> bytes) {
  return bytes.size() >= 4 && zip::Number<uint32_t>(bytes.data(), 0) == zip::kLocal;
}

Result<std::shared_ptr<const CapsuleReader>> CapsuleReader::Open(const std::string& path,
                                                                 const CapsuleLimits& limits) {
  GE_ASSIGN_OR_RETURN(auto file, MappedFile::Open(path, limits.file_bytes));
  return FromFile(std::move(file), path, limits);
}

Result<std::shared_ptr<const CapsuleReader>> CapsuleReader::FromFile(
    std::shared_ptr<const MappedFile> file, const std::string& path, const CapsuleLimits& limits) {
  auto out = std::shared_ptr<CapsuleReader>(new CapsuleReader);
  out->path_ = path;
  out->bytes_ = file->bytes();
  out->file_ = std::move(file);
  return Finish(std::move(out), limits);
}

Result<std::shared_ptr<const CapsuleReader>> CapsuleReader::FromBytes(
    std::shared_ptr<const std::string> bytes, const std::string& path,
    const CapsuleLimits& limits) {
  auto out = std::shared_ptr<CapsuleReader>(new CapsuleReader);
  out->path_ = path;
  out->bytes_ = std::as_bytes(std::span(*bytes));
  out->memory_ = std::move(bytes);
  return Finish(std::move(out), limits);
}

Result<std::shared_ptr<const CapsuleReader>> CapsuleReader::Finish(
    std::shared_ptr<CapsuleReader> reader, const CapsuleLimits& limits) {
  const Status read = reader->ReadMembers(limits);
  GE_RETURN_IF_ERROR(reader->Check());  // before what came of it
  if (read.ok()) return std::shared_ptr<const CapsuleReader>(std::move(reader));
  return Status(read.code(), fmt::format("capsule '{}': {}", reader->path_, read.message()));
}

Status CapsuleReader::ReadMembers(const CapsuleLimits& limits) {
  if (!LooksLikeCapsule(bytes_)) {
    return Status(Code::kDataCorrupt, "it does not begin as a ZIP file does");
  }
  unfinished_ = !HasZipDirectory(bytes_);
  GE_ASSIGN_OR_RETURN(const std::vector<ZipMember> found,
                      unfinished_ ? ScanZipMembers(bytes_, limits.members)
                                  : ReadZipDirectory(bytes_, limits.members));
  members_.reserve(found.size());
  for (const ZipMember& m : found) {
    GE_RETURN_IF_ERROR(CheckStored(m));
    members_.push_back({m.name, bytes_.subspan(m.data, m.bytes), m.crc});
  }
  right_ = std::make_unique<std::atomic<bool>[]>(members_.size());
  for (size_t i = 0; i < members_.size(); ++i) by_name_.emplace(members_[i].name, i);
  return {};
}

Result<std::span<const std::byte>> CapsuleReader::Aligned(std::span<const std::byte> bytes,
                                                          uint64_t align) const {
  if (bytes.empty() || reinterpret_cast<uintptr_t>(bytes.data()) % align == 0) return bytes;
  const std::lock_guard<std::mutex> lock(mutex_);
  AlignedBytes& copy = copies_[bytes.data()];
  if (!copy) {
    copy = AllocateAligned(bytes.size(), 64);
    if (!copy) {
      return Status(
          Code::kResourceExhausted,
          fmt::format("no memory to align {} bytes of capsule '{}'", bytes.size(), path_));
    }
    std::memcpy(copy.get(), bytes.data(), bytes.size());
  }
  return std::span<const std::byte>(copy.get(), bytes.size());
}

Result<std::span<const std::byte>> CapsuleReader::Map(std::string_view name) const {
  const auto found = by_name_.find(name);
  if (found != by_name_.end()) return members_[found->second].bytes;
  return Status(Code::kDataCorrupt,
                fmt::format("capsule '{}': it has no member '{}'{}", path_, ShownName(name),
                            unfinished_ ? "; its writer was ended before it was finished" : ""));
}

Result<std::span<const std::byte>> CapsuleReader::Read(std::string_view name) const {
  GE_ASSIGN_OR_RETURN(const auto bytes, Map(name));
  const size_t i = by_name_.find(name)->second;
  if (right_[i].load(std::memory_order_acquire)) return bytes;
  const uint32_t crc = Crc32(bytes);
  GE_RETURN_IF_ERROR(Check());
  if (crc != members_[i].crc) {
    return Status(Code::kDataCorrupt,
                  fmt::format("capsule '{}': member '{}': its checksum is {:08x}, wanted {:08x}; "
                              "the file was changed or damaged",
                              path_, ShownName(name), crc, members_[i].crc));
  }
  right_[i].store(true, std::memory_order_release);
  return bytes;
}

}  // namespace ge
