// MappedData: the bytes of a regular file, mapped read-only, and its digest. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace ge::data {

// What tells a file from what it was before: device, inode, size, time of its last change.
struct FileState {
  uint64_t device = 0, inode = 0, bytes = 0;
  int64_t changed_ns = 0;
  bool operator==(const FileState&) const = default;
};
// INVALID_ARGUMENT (not there, a folder, a device) as Refusal, naming the path.
FileState StateOf(const std::string& path);
// The same of a folder: its time is that of the last name added or removed.
FileState FolderState(const std::string& path);
bool IsFolder(const std::string& path);
bool IsFile(const std::string& path);
// Characters outside printable ASCII as '?', at most 100: for messages about hostile bytes.
std::string Shown(std::string_view text);
// What stands behind the last '/'.
std::string_view FileName(std::string_view path);

class MappedData {
 public:
  static std::shared_ptr<const MappedData> Open(const std::string& path);
  ~MappedData();
  MappedData(const MappedData&) = delete;
  MappedData& operator=(const MappedData&) = delete;
  const std::string& path() const { return path_; }
  std::span<const std::byte> bytes() const { return bytes_; }
  const FileState& state() const { return state_; }  // when it was mapped
  // Refuses a file that is shorter now than when it was mapped: reading on would be a fault. Called
  // ahead of each read of rows.
  void Check() const;

 private:
  MappedData() = default;
  std::string path_;
  FileState state_;
  int fd_ = -1;
  std::span<const std::byte> bytes_;
};

// Throws GE_CANCELLED where *stop is not 0, by which the caller asks for it; NULL: nobody can.
// Readers call it every few milliseconds.
void CheckStop(const uint32_t* stop);
// Bytes that are read, copied or summed between two such calls.
inline constexpr uint64_t kStopBytes = 4 << 20;

// XXH3 of 64 bits, without a seed.
uint64_t Xxh3(std::span<const std::byte> bytes, const uint32_t* stop = nullptr);

// A digest of names, sizes and contents, in the order that they were added: xxHash's XXH3 of 64
// bits. Of contents beyond 256 MiB in all, 64 KiB at 64 places of each further file. Throws as
// CheckStop.
class Digest {
 public:
  explicit Digest(const uint32_t* stop);
  ~Digest();
  void Text(std::string_view text);
  void Content(std::span<const std::byte> bytes);
  std::string Hex() const;  // 16 digits

 private:
  struct State;
  const uint32_t* stop_;
  std::unique_ptr<State> state_;
  uint64_t whole_ = 0;  // bytes of contents so far
};

}  // namespace ge::data
