#include "ge/capsule/store/capsule_writer.h"

#include <fmt/format.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>

#include "ge/capsule/store/member_name.h"
#include "ge/capsule/store/zip_directory.h"
#include "ge/capsule/store/zip_format.h"

namespace ge {
namespace {

uint32_t Crc(std::span<const std::string_view> parts) {
  uint32_t crc = 0;
  for (const std::string_view part : parts) crc = Crc32(std::as_bytes(std::span(part)), crc);
  return crc;
}

uint32_t In32(uint64_t value) {
  return value < zip::kIn64 ? static_cast<uint32_t>(value) : zip::kIn64;
}

// The header in front of a member's data, which ends at a multiple of `align` when it is written at
// `offset`.
std::string LocalHeader(std::string_view name, uint32_t crc, uint64_t bytes, uint64_t offset,
                        uint32_t align) {
  const bool large = bytes >= zip::kIn64;
  zip::Bytes extra;
  if (large) extra.Put(zip::kExtra64).Put(uint16_t{16}).Put(bytes).Put(bytes);
  // Six bytes are an empty field of alignment: its number, its size and the alignment.
  const uint64_t least = offset + zip::kLocalBytes + name.size() + extra.str().size() + 6;
  const uint64_t padding = (align - least % align) % align;
  extra.Put(zip::kExtraAlign).Put(static_cast<uint16_t>(padding + 2));
  extra.Put(static_cast<uint16_t>(align)).Zeros(padding);
  zip::Bytes out;
  out.Put(zip::kLocal).Put(large ? zip::kVersion64 : zip::kVersion).Put(zip::kUtf8);
  out.Put(uint16_t{0}).Put(uint16_t{0}).Put(zip::kDate).Put(crc).Put(In32(bytes)).Put(In32(bytes));
  out.Put(static_cast<uint16_t>(name.size())).Put(static_cast<uint16_t>(extra.str().size()));
  return out.Put(std::string(name)).Put(extra.str()).str();
}

std::string CentralHeader(const std::string& name, uint32_t crc, uint64_t bytes, uint64_t offset) {
  zip::Bytes wide;
  if (bytes >= zip::kIn64) wide.Put(bytes).Put(bytes);
  if (offset >= zip::kIn64) wide.Put(offset);
  zip::Bytes extra;
  if (!wide.str().empty()) {
    extra.Put(zip::kExtra64).Put(static_cast<uint16_t>(wide.str().size())).Put(wide.str());
  }
  zip::Bytes out;
  out.Put(zip::kCentral).Put(zip::kMadeBy);
  out.Put(extra.str().empty() ? zip::kVersion : zip::kVersion64).Put(zip::kUtf8);
  out.Put(uint16_t{0}).Put(uint16_t{0}).Put(zip::kDate).Put(crc).Put(In32(bytes)).Put(In32(bytes));
  out.Put(static_cast<uint16_t>(name.size())).Put(static_cast<uint16_t>(extra.str().size()));
  out.Put(uint16_t{0}).Put(uint16_t{0}).Put(uint16_t{0});
  constexpr uint32_t kMode = 0100644u << 16;  // a regular file that all may read
  out.Put(kMode).Put(In32(offset));
  return out.Put(name).Put(extra.str()).str();
}

// The records behind the directory, which has `count` members and `bytes` bytes at `offset`.
std::string EndRecords(uint64_t count, uint64_t bytes, uint64_t offset) {
  zip::Bytes out;
  if (count >= zip::kCountIn64 || bytes >= zip::kIn64 || offset >= zip::kIn64) {
    out.Put(zip::kEnd64).Put(uint64_t{zip::kEnd64Bytes - 12}).Put(zip::kMadeBy);
    out.Put(zip::kVersion64).Put(uint32_t{0}).Put(uint32_t{0}).Put(count).Put(count);
    out.Put(bytes).Put(offset);
    out.Put(zip::kLocator64).Put(uint32_t{0}).Put(offset + bytes).Put(uint32_t{1});
  }
  const auto count16 = static_cast<uint16_t>(std::min<uint64_t>(count, zip::kCountIn64));
  out.Put(zip::kEnd).Put(uint16_t{0}).Put(uint16_t{0}).Put(count16).Put(count16);
  return out.Put(In32(bytes)).Put(In32(offset)).Put(uint16_t{0}).str();
}

}  // namespace

Result<std::unique_ptr<CapsuleWriter>> CapsuleWriter::Create(const std::string& path) {
  GE_ASSIGN_OR_RETURN(FileReplacement file, FileReplacement::Begin(path));
  return std::unique_ptr<CapsuleWriter>(new CapsuleWriter(path, std::move(file)));
}

Status CapsuleWriter::Write(std::string_view bytes) {
  const int error = WriteBytes(file_.fd(), bytes);
  if (error == 0) return {};
  char buffer[256];
  return Status(Code::kIoError, fmt::format("cannot write the capsule '{}': {}", path_,
                                            strerror_r(error, buffer, sizeof buffer)));
}

bool CapsuleWriter::Has(std::string_view name) const {
  std::lock_guard<std::mutex> lock(mutex_);
  return names_.count(std::string(name)) != 0;
}

uint64_t CapsuleWriter::bytes() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return at_;
}

Status CapsuleWriter::Add(std::string_view name, std::span<const std::string_view> parts,
                          uint32_t align) {
  GE_RETURN_IF_ERROR(CheckMemberName(name));
  uint64_t bytes = 0;
  for (const std::string_view part : parts) bytes += part.size();
  const uint32_t crc = Crc(parts);
  std::lock_guard<std::mutex> lock(mutex_);
  const auto refuse = [&](const char* why) {
    return Status(Code::kFailedPrecondition,
                  fmt::format("capsule '{}', member '{}': {}", path_, name, why));
  };
  if (finished_) return refuse("the capsule is finished");
  if (names_.count(std::string(name)) != 0) return refuse("the name is taken");
  Status done = Write(LocalHeader(name, crc, bytes, at_, align));
  for (const std::string_view part : parts) {
    if (done.ok()) done = Write(part);
  }
  if (!done.ok()) {  // the next member begins where this one did
    if (ftruncate(file_.fd(), static_cast<off_t>(at_)) != 0 ||
        lseek(file_.fd(), static_cast<off_t>(at_), SEEK_SET) < 0) {
      finished_ = true;
    }
    return done;
  }
  members_.push_back({std::string(name), crc, bytes, at_});
  names_.insert(std::string(name));
  at_ = static_cast<uint64_t>(lseek(file_.fd(), 0, SEEK_CUR));
  return {};
}

Status CapsuleWriter::Publish() {
  std::lock_guard<std::mutex> lock(mutex_);
  return file_.TakeName();
}

Status CapsuleWriter::Finish() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (finished_) {
    return Status(Code::kFailedPrecondition,
                  fmt::format("capsule '{}': it is finished already", path_));
  }
  finished_ = true;
  std::string directory;
  for (const Member& m : members_) {
    directory += CentralHeader(m.name, m.crc, m.bytes, m.offset);
  }
  directory += EndRecords(members_.size(), directory.size(), at_);
  GE_RETURN_IF_ERROR(Write(directory));
  return file_.TakeName();
}

}  // namespace ge
