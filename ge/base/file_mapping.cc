#include "ge/base/file_mapping.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>

#include "ge/base/mapping_faults.h"

namespace ge {
namespace {

// A model may have a file for each weight, and the process has a thousand descriptors: from here on
// a file is looked at by its name.
constexpr uint32_t kMostDescriptors = 128;
std::atomic<uint32_t> g_descriptors{0};

struct Mappings {
  std::mutex mutex;
  std::map<uintptr_t, const FileMapping*> at;  // by start: those that live
  // That [begin, end) lies in; null where it lies in none, or not wholly.
  const FileMapping* Holding(uintptr_t begin, uintptr_t end) const {
    auto it = at.upper_bound(begin);
    if (it == at.begin()) return nullptr;
    --it;
    return end < begin || end > it->first + it->second->bytes() ? nullptr : it->second;
  }
};
Mappings& Living() {
  static Mappings* mappings = new Mappings;  // never freed: engines may use them until exit
  return *mappings;
}

int64_t Ns(const timespec& t) { return t.tv_sec * 1'000'000'000 + t.tv_nsec; }

bool SameFile(const FileIdentity& a, const FileIdentity& b) {
  return a.device == b.device && a.inode == b.inode;
}

}  // namespace

FileIdentity::FileIdentity(const struct stat& info)
    : device(info.st_dev),
      inode(info.st_ino),
      size(static_cast<uint64_t>(info.st_size)),
      changed_ns(Ns(info.st_mtim)) {}

void AwaitNextTick(const FileIdentity& file) {
  constexpr timespec kLook = {0, 1'000'000};
  constexpr int kMostLooks = 50;
  for (int i = 0; i < kMostLooks; ++i) {
    timespec now;
    if (clock_gettime(CLOCK_REALTIME_COARSE, &now) != 0) return;
    // One that lies ahead by more than a tick was set by hand: any write changes it.
    const int64_t ahead = file.changed_ns - Ns(now);
    if (ahead < 0 || ahead > 100'000'000) return;
    (void)nanosleep(&kLook, nullptr);
  }
}

Status WantUnchanged(const std::string& path, const FileIdentity& was, const FileIdentity& now) {
  constexpr const char* kAdvice =
      "load the model again; to change a file that is in use, write a new one and rename it over "
      "this one";
  if (now.size != was.size) {
    return Status(Code::kIoError, fmt::format("'{}' has {} bytes, and had {} when it was opened: "
                                              "it was changed while it was in use; {}",
                                              path, now.size, was.size, kAdvice));
  }
  if (now.changed_ns == was.changed_ns) return {};
  return Status(Code::kIoError,
                fmt::format("'{}' was written to while it was in use; {}", path, kAdvice));
}

FileMapping::FileMapping(void* data, uint64_t bytes) : FileMapping(data, bytes, SharedFile()) {}

FileMapping::FileMapping(void* data, uint64_t bytes, SharedFile file)
    : data_(static_cast<std::byte*>(data)), bytes_(bytes), file_(std::move(file)) {
  const auto key = reinterpret_cast<uintptr_t>(data_);
  struct Undo {  // where there is no memory for the following
    uintptr_t key;
    uint64_t bytes;
    ~Undo() {
      if (bytes == 0) return;
      Living().at.erase(key);
      munmap(reinterpret_cast<void*>(key), bytes);
    }
  };
  {
    std::lock_guard<std::mutex> lock(Living().mutex);
    Undo undo{key, bytes_};
    Living().at[key] = this;
    watched_ = WatchMapping(data_, bytes_);
    undo.bytes = 0;
  }
  if (!file_.fd.valid()) return;
  keeps_fd_ = g_descriptors.fetch_add(1) < kMostDescriptors;
  if (keeps_fd_) return;
  g_descriptors.fetch_sub(1);
  file_.fd = Descriptor();
}

FileMapping::~FileMapping() {
  if (keeps_fd_) g_descriptors.fetch_sub(1);
  UnwatchMapping(watched_);
  // Under the lock: nobody drops pages of what another mapping finds at this address.
  std::lock_guard<std::mutex> lock(Living().mutex);
  Living().at.erase(reinterpret_cast<uintptr_t>(data_));
  munmap(data_, bytes_);
}

Status FileMapping::Check() const {
  struct stat info;
  if (file_.identity != FileIdentity()) {
    const bool open = file_.fd.valid() && fstat(file_.fd.get(), &info) == 0 &&
                      SameFile(FileIdentity(info), file_.identity);
    if (open ||
        (stat(file_.path.c_str(), &info) == 0 && SameFile(FileIdentity(info), file_.identity))) {
      const Status status = WantUnchanged(file_.path, file_.identity, FileIdentity(info));
      if (!status.ok()) {
        changed_.store(true, std::memory_order_relaxed);
        return status;
      }
    }
  }
  if (changed_.load(std::memory_order_relaxed)) {  // and got its time back since
    FileIdentity other = file_.identity;
    ++other.changed_ns;
    return WantUnchanged(file_.path, file_.identity, other);
  }
  if (!IsDamaged(watched_)) return {};
  return Status(Code::kIoError,
                fmt::format("a part of '{}' could not be read: it was cut short while it was in "
                            "use, or its disk fails; load the model again",
                            file_.path.empty() ? "a temporary file" : file_.path));
}

const FileMapping* MappingOf(const void* data, uint64_t bytes) {
  const uintptr_t begin = reinterpret_cast<uintptr_t>(data);
  std::lock_guard<std::mutex> lock(Living().mutex);
  return Living().Holding(begin, begin + bytes);
}

std::optional<PlaceInFile> FindInFile(const void* data, uint64_t bytes) {
  const uintptr_t begin = reinterpret_cast<uintptr_t>(data);
  std::lock_guard<std::mutex> lock(Living().mutex);
  const FileMapping* m = Living().Holding(begin, begin + bytes);
  if (m == nullptr || m->identity() == FileIdentity()) return std::nullopt;
  return PlaceInFile{m->identity(), begin - reinterpret_cast<uintptr_t>(m->data())};
}

void DropMappedPages(const void* data, uint64_t bytes) {
  const uintptr_t page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  uintptr_t begin = reinterpret_cast<uintptr_t>(data), end = begin + bytes;
  std::lock_guard<std::mutex> lock(Living().mutex);
  if (Living().Holding(begin, end) == nullptr) return;
  // To the page's start and end is safe: the rest of the pages is file content as well. And it is
  // needed: one read of a few bytes may have mapped the 2 MiB around them.
  begin = begin / page * page;
  end = (end + page - 1) / page * page;
  if (end > begin) (void)madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

void MappedFiles::Add(const std::shared_ptr<const void>& owner, const void* data, uint64_t bytes) {
  if (owner == nullptr || data == nullptr || bytes == 0) return;
  // Weights of one file follow each other.
  if (!files_.empty() && files_.back().owner == owner) return;
  const FileMapping* mapping = MappingOf(data, bytes);
  const auto known = [&](const File& f) { return f.mapping == mapping; };
  if (mapping == nullptr || std::any_of(files_.begin(), files_.end(), known)) return;
  files_.push_back({owner, mapping});
}

Status MappedFiles::Check() const {
  for (const File& f : files_) GE_RETURN_IF_ERROR(f.mapping->Check());
  return {};
}

}  // namespace ge
