#include "ge/base/file_mapping.h"

#include <sys/mman.h>
#include <unistd.h>

#include <map>
#include <mutex>

namespace ge {
namespace {

struct Mappings {
  std::mutex mutex;
  std::map<uintptr_t, uint64_t> bytes_at;  // start -> bytes of those that live
};
Mappings& Living() {
  static Mappings* mappings = new Mappings;  // never freed: engines may use them until exit
  return *mappings;
}

}  // namespace

FileMapping::FileMapping(void* data, uint64_t bytes)
    : data_(static_cast<std::byte*>(data)), bytes_(bytes) {
  std::lock_guard<std::mutex> lock(Living().mutex);
  Living().bytes_at[reinterpret_cast<uintptr_t>(data_)] = bytes_;
}

FileMapping::~FileMapping() {
  // Under the lock: nobody drops pages of what another mapping finds at this address.
  std::lock_guard<std::mutex> lock(Living().mutex);
  Living().bytes_at.erase(reinterpret_cast<uintptr_t>(data_));
  munmap(data_, bytes_);
}

void DropMappedPages(const void* data, uint64_t bytes) {
  const uintptr_t page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  uintptr_t begin = reinterpret_cast<uintptr_t>(data), end = begin + bytes;
  std::lock_guard<std::mutex> lock(Living().mutex);
  auto it = Living().bytes_at.upper_bound(begin);
  if (it == Living().bytes_at.begin()) return;
  --it;
  if (end < begin || end > it->first + it->second) return;
  // Down to the page's start is safe too: the rest of the page is file content as well.
  begin = begin / page * page, end = end / page * page;
  if (end > begin) (void)madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

}  // namespace ge
