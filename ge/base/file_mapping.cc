#include "ge/base/file_mapping.h"

#include <sys/mman.h>
#include <unistd.h>

#include <map>
#include <mutex>

namespace ge {
namespace {

struct Mapping {
  uint64_t bytes;
  FileIdentity file;
};
struct Mappings {
  std::mutex mutex;
  std::map<uintptr_t, Mapping> at;  // by start: those that live
  // That [begin, end) lies in; at.end() where it lies in none, or not wholly.
  std::map<uintptr_t, Mapping>::const_iterator Holding(uintptr_t begin, uintptr_t end) const {
    auto it = at.upper_bound(begin);
    if (it == at.begin()) return at.end();
    --it;
    return end < begin || end > it->first + it->second.bytes ? at.end() : it;
  }
};
Mappings& Living() {
  static Mappings* mappings = new Mappings;  // never freed: engines may use them until exit
  return *mappings;
}

}  // namespace

FileMapping::FileMapping(void* data, uint64_t bytes, const FileIdentity& file)
    : data_(static_cast<std::byte*>(data)), bytes_(bytes) {
  std::lock_guard<std::mutex> lock(Living().mutex);
  Living().at[reinterpret_cast<uintptr_t>(data_)] = {bytes_, file};
}

FileMapping::~FileMapping() {
  // Under the lock: nobody drops pages of what another mapping finds at this address.
  std::lock_guard<std::mutex> lock(Living().mutex);
  Living().at.erase(reinterpret_cast<uintptr_t>(data_));
  munmap(data_, bytes_);
}

std::optional<PlaceInFile> FindInFile(const void* data, uint64_t bytes) {
  const uintptr_t begin = reinterpret_cast<uintptr_t>(data);
  std::lock_guard<std::mutex> lock(Living().mutex);
  const auto it = Living().Holding(begin, begin + bytes);
  if (it == Living().at.end() || it->second.file == FileIdentity()) return std::nullopt;
  return PlaceInFile{it->second.file, begin - it->first};
}

void DropMappedPages(const void* data, uint64_t bytes) {
  const uintptr_t page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  uintptr_t begin = reinterpret_cast<uintptr_t>(data), end = begin + bytes;
  std::lock_guard<std::mutex> lock(Living().mutex);
  if (Living().Holding(begin, end) == Living().at.end()) return;
  // Down to the page's start is safe too: the rest of the page is file content as well.
  begin = begin / page * page, end = end / page * page;
  if (end > begin) (void)madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

}  // namespace ge
