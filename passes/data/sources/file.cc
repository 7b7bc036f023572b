#include "passes/data/sources/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "ge/ge_plugin.h"
#include "passes/kit/refusal.h"

namespace ge::data {
namespace {

using passes::Refusal;

constexpr uint64_t kWholeUpTo = uint64_t{256} << 20, kPart = 64 << 10, kParts = 64;

[[noreturn]] void Refuse(const std::string& path, const char* what, int error) {
  const bool pattern = error == ENOENT && path.find_first_of("*?") != std::string::npos;
  throw Refusal{GE_INVALID_ARGUMENT,
                fmt::format("cannot {} '{}': {}{}", what, path, std::strerror(error),
                            pattern ? "; patterns are not expanded here: numbered files are one "
                                      "table by a-{00..07}.tar"
                                    : "")};
}

FileState StateIn(const std::string& path, const struct stat& s, mode_t wanted = S_IFREG) {
  if ((s.st_mode & S_IFMT) != wanted) {
    throw Refusal{GE_INVALID_ARGUMENT, fmt::format("'{}' is not a {}", path,
                                                   wanted == S_IFREG ? "regular file" : "folder")};
  }
  return {s.st_dev, s.st_ino, static_cast<uint64_t>(s.st_size),
          s.st_mtim.tv_sec * 1'000'000'000 + s.st_mtim.tv_nsec};
}

}  // namespace

FileState StateOf(const std::string& path) {
  struct stat s {};
  if (stat(path.c_str(), &s) != 0) Refuse(path, "open", errno);
  return StateIn(path, s);
}

FileState FolderState(const std::string& path) {
  struct stat s {};
  if (stat(path.c_str(), &s) != 0) Refuse(path, "open", errno);
  return StateIn(path, s, S_IFDIR);
}

bool IsFolder(const std::string& path) {
  struct stat s {};
  return stat(path.c_str(), &s) == 0 && S_ISDIR(s.st_mode);
}

bool IsFile(const std::string& path) {
  struct stat s {};
  return stat(path.c_str(), &s) == 0 && S_ISREG(s.st_mode);
}

std::string Shown(std::string_view text) {
  std::string out(text.substr(0, 100));
  for (char& c : out) c = c >= ' ' && c <= '~' ? c : '?';
  return out;
}

std::string_view FileName(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::shared_ptr<const MappedData> MappedData::Open(const std::string& path) {
  std::shared_ptr<MappedData> out(new MappedData);
  out->path_ = path;
  out->fd_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (out->fd_ < 0) Refuse(path, "open", errno);
  struct stat s {};
  if (fstat(out->fd_, &s) != 0) Refuse(path, "look at", errno);
  out->state_ = StateIn(path, s);
  const uint64_t bytes = out->state_.bytes;
  if (bytes == 0) return out;
  void* at = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, out->fd_, 0);
  if (at == MAP_FAILED) Refuse(path, "map", errno);
  out->bytes_ = {static_cast<const std::byte*>(at), bytes};
  return out;
}

MappedData::~MappedData() {
  if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
  if (fd_ >= 0) close(fd_);
}

void MappedData::Check() const {
  struct stat s {};
  if (fstat(fd_, &s) == 0 && static_cast<uint64_t>(s.st_size) >= bytes_.size()) return;
  throw Refusal{GE_DATA_LOSS,
                fmt::format("'{}' has {} bytes now and had {} when it was opened; keep data as it "
                            "is while it is read",
                            path_, s.st_size, bytes_.size())};
}

void CheckStop(const uint32_t* stop) {
  if (stop != nullptr && __atomic_load_n(stop, __ATOMIC_RELAXED) != 0) {
    throw Refusal{GE_CANCELLED, "reading the data was cancelled"};
  }
}

namespace {

void Update(XXH3_state_t* to, std::span<const std::byte> bytes, const uint32_t* stop) {
  for (uint64_t at = 0; at < bytes.size(); at += kStopBytes) {
    CheckStop(stop);
    const auto part = bytes.subspan(at, std::min<uint64_t>(kStopBytes, bytes.size() - at));
    XXH3_64bits_update(to, part.data(), part.size());
  }
}

}  // namespace

uint64_t Xxh3(std::span<const std::byte> bytes, const uint32_t* stop) {
  if (bytes.size() <= kStopBytes) return XXH3_64bits(bytes.data(), bytes.size());
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  Update(&state, bytes, stop);
  return XXH3_64bits_digest(&state);
}

struct Digest::State {
  XXH3_state_t xxh;
};

Digest::Digest(const uint32_t* stop) : stop_(stop), state_(std::make_unique<State>()) {
  XXH3_64bits_reset(&state_->xxh);
}
Digest::~Digest() = default;

void Digest::Text(std::string_view text) {
  const uint64_t size = text.size();
  XXH3_64bits_update(&state_->xxh, &size, sizeof size);
  XXH3_64bits_update(&state_->xxh, text.data(), text.size());
}

void Digest::Content(std::span<const std::byte> bytes) {
  const uint64_t size = bytes.size();
  XXH3_64bits_update(&state_->xxh, &size, sizeof size);
  whole_ += size;
  if (whole_ <= kWholeUpTo || size <= kPart * kParts) {
    Update(&state_->xxh, bytes, stop_);
    return;
  }
  for (uint64_t i = 0; i < kParts; ++i) {
    CheckStop(stop_);
    const uint64_t at = (size - kPart) / (kParts - 1) * i;
    XXH3_64bits_update(&state_->xxh, bytes.data() + at, kPart);
  }
}

std::string Digest::Hex() const { return fmt::format("{:016x}", XXH3_64bits_digest(&state_->xxh)); }

}  // namespace ge::data
