// ge_mock_memory.hpp: memory of the mock host that reports misuse. Views for one call of a
// plugin lie in pages that become inaccessible when the call returns: a pointer kept too
// long faults at its next use instead of reading stale bytes; buffers lie between red
// zones. POSIX, header only, C++17; part of ge_mock_host.hpp, included by tests. Threads:
// an object is one thread's at a time; DescribeAddress may be called from a signal
// handler.
#ifndef GE_MOCK_MEMORY_HPP_
#define GE_MOCK_MEMORY_HPP_

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ge/ge_plugin.h"

namespace ge::mock {

inline size_t PageBytes() {
  static const size_t bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

// ---- which memory an address belongs to ---------------------------------------------------------

struct Region {
  std::atomic<uintptr_t> begin{0}, end{0};
  std::atomic<const char*> what{nullptr};  // of static storage
  std::atomic<bool> retired{false};
};
// The latest ones; older records are written over, which costs a crash report its name.
inline constexpr uint32_t kRegions = 1 << 14;
inline Region g_regions[kRegions];
inline std::atomic<uint32_t> g_region_next{0};

inline uint32_t AddRegion(const void* begin, size_t bytes, const char* what) {
  const uint32_t i = g_region_next.fetch_add(1) % kRegions;
  Region& r = g_regions[i];
  r.end = 0;
  r.what = what;
  r.retired = false;
  r.begin = reinterpret_cast<uintptr_t>(begin);
  r.end = reinterpret_cast<uintptr_t>(begin) + bytes;
  return i;
}

struct AddressNote {
  const char* what = nullptr;  // nullptr: no memory of the mock host
  bool retired = false;        // its call had returned, or its object was destroyed
  int64_t offset = 0;          // from its begin
  int64_t behind = 0;          // bytes behind its end, where above 0; below 0: before its begin
};
// The region around `address`, or within a page of it. Safe in a signal handler.
inline AddressNote DescribeAddress(const void* address) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  AddressNote near;
  for (Region& r : g_regions) {
    const uintptr_t begin = r.begin, end = r.end;
    if (end == 0 || at + 4096 < begin || at >= end + 4096) continue;
    AddressNote note{r.what, r.retired, static_cast<int64_t>(at - begin), 0};
    if (at >= begin && at < end) return note;
    note.behind =
        at >= end ? static_cast<int64_t>(at - end) + 1 : -static_cast<int64_t>(begin - at);
    near = note;
  }
  return near;
}

// ---- pages --------------------------------------------------------------------------------------

// Pages between two inaccessible ones. After Retire() nobody may touch them, and the addresses are
// not given again while the process lives.
class Pages {
 public:
  Pages() = default;
  // `what` of static storage: it names the memory in reports. Throws std::bad_alloc.
  Pages(size_t bytes, const char* what) : what_(what) {
    const size_t page = PageBytes();
    size_ = (std::max<size_t>(bytes, 1) + page - 1) / page * page;
    void* all = mmap(nullptr, size_ + 2 * page, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED) throw std::bad_alloc();
    data_ = static_cast<unsigned char*>(all) + page;
    if (mprotect(data_, size_, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
    region_ = AddRegion(data_, size_, what);
  }
  Pages(Pages&& pages) noexcept { Swap(pages); }
  Pages& operator=(Pages&& pages) noexcept {
    Swap(pages);
    return *this;
  }
  ~Pages() { Retire(); }
  unsigned char* data() const { return data_; }
  size_t size() const { return size_; }
  void MakeReadOnly() {
    if (data_ != nullptr && !retired_) mprotect(data_, size_, PROT_READ);
  }
  void Retire() {
    if (data_ == nullptr || retired_) return;
    retired_ = true;
    Region& r = g_regions[region_];
    if (r.begin == reinterpret_cast<uintptr_t>(data_)) r.retired = true;
    // Mapped anew, so that the bytes go, too.
    (void)mmap(data_, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
               0);
  }

 private:
  void Swap(Pages& pages) {
    std::swap(data_, pages.data_);
    std::swap(size_, pages.size_);
    std::swap(region_, pages.region_);
    std::swap(retired_, pages.retired_);
    std::swap(what_, pages.what_);
  }
  unsigned char* data_ = nullptr;
  size_t size_ = 0;
  uint32_t region_ = 0;
  bool retired_ = false;
  const char* what_ = "";
};

// ---- what the host's structs look like
// -----------------------------------------------------------

// An extension unknown to every plugin; of the vendors' range.
inline constexpr uint16_t kStrangeTag = 0x9abc;
inline constexpr uint64_t TagBit(uint32_t tag) { return uint64_t{1} << tag; }
inline constexpr uint64_t kAllTags = ~uint64_t{0};

// The struct layout of a host of another version.
struct Style {
  bool exact = false;         // each struct and array ends where an inaccessible page begins
  uint32_t grow = 0;          // a multiple of 8: so much longer are structs than this header knows
  uint64_t grown = kAllTags;  // TagBit of those that are longer
  uint64_t extended = 0;      // TagBit of those that carry an extension of kStrangeTag
  bool must_understand = false;  // is it one that may not be skipped
  unsigned char poison = 0xA5;   // of what is longer, and of gaps
};

// Memory for the arguments of one call.
class Arena {
 public:
  explicit Arena(const char* what, bool exact = false) : what_(what), exact_(exact) {}
  // Never nullptr; `bytes` may be 0.
  void* Take(size_t bytes, size_t align) {
    if (exact_) return TakeExact(bytes, align);
    used_ = (used_ + align - 1) / align * align;
    if (pages_.empty() || used_ + bytes > pages_.back().size()) {
      pages_.emplace_back(std::max<size_t>(bytes + align, 16 << 10), what_);
      std::memset(pages_.back().data(), 0xA5, pages_.back().size());
      used_ = 0;
    }
    void* out = pages_.back().data() + used_;
    used_ += bytes + 8;  // what is read behind an array's end is poison
    return out;
  }
  template <class T>
  T* Copy(const T* from, size_t n) {
    T* out = static_cast<T*>(Take(n * sizeof(T), alignof(T)));
    if (n != 0) std::memcpy(static_cast<void*>(out), from, n * sizeof(T));
    return out;
  }
  template <class T>
  const T* Copy(const std::vector<T>& values) {
    return Copy(values.data(), values.size());
  }
  ge_str Text(std::string_view text) { return {Copy(text.data(), text.size()), text.size()}; }
  // A struct with a header, as a host of this style gives it. `stride` gets its whole size.
  template <class T>
  T* Struct(const Style& style, const T& value, uint16_t tag) {
    uint32_t stride = 0;
    return Records(style, &value, 1, tag, &stride);
  }
  template <class T>
  T* Records(const Style& style, const T* values, size_t n, uint16_t tag, uint32_t* stride) {
    const uint32_t grow = (style.grown & TagBit(tag)) != 0 ? style.grow : 0;
    *stride = static_cast<uint32_t>(sizeof(T)) + grow;
    auto* at = static_cast<unsigned char*>(Take(n * *stride, alignof(T)));
    for (size_t i = 0; i < n; ++i) {
      T* one = reinterpret_cast<T*>(at + i * *stride);
      std::memcpy(static_cast<void*>(one), &values[i], sizeof(T));
      std::memset(reinterpret_cast<unsigned char*>(one) + sizeof(T), style.poison, grow);
      one->h.size = *stride;
      one->h.tag = tag;
      one->h.flags = 0;
      one->h.next = (style.extended & TagBit(tag)) != 0 ? Extension(style) : nullptr;
    }
    return reinterpret_cast<T*>(at);
  }
  void MakeReadOnly() {
    for (Pages& p : pages_) p.MakeReadOnly();
  }
  void Retire() {
    for (Pages& p : pages_) p.Retire();
  }

 private:
  struct Strange {
    ge_hdr h;
    uint64_t content[2];
  };
  const ge_hdr* Extension(const Style& style) {
    Strange s = {};
    s.h = {static_cast<uint32_t>(sizeof s), kStrangeTag,
           static_cast<uint16_t>(style.must_understand ? GE_HDR_MUST_UNDERSTAND : 0), nullptr};
    s.content[0] = s.content[1] = 0xA5A5A5A5A5A5A5A5u;
    return &Copy(&s, 1)->h;
  }
  void* TakeExact(size_t bytes, size_t align) {
    pages_.emplace_back(bytes + align, what_);
    Pages& p = pages_.back();
    std::memset(p.data(), 0xA5, p.size());
    return p.data() + (p.size() - bytes) / align * align;
  }
  const char* what_;
  bool exact_;
  size_t used_ = 0;
  std::vector<Pages> pages_;
};

// ---- buffers of a launch
// --------------------------------------------------------------------------

inline constexpr unsigned char kRed = 0xA5;
inline constexpr size_t kRedBytes = 256;  // before and behind; what is written farther faults

// Host memory of `bytes` bytes, aligned to `align` and to no more, between red zones; for 0 bytes,
// an address without access.
class GuardedBlock {
 public:
  GuardedBlock() = default;
  GuardedBlock(size_t bytes, size_t align, const char* what) : what_(what), bytes_(bytes) {
    align = std::max<size_t>(align, 1);
    pages_ = Pages(bytes + 2 * kRedBytes + 3 * align, what);
    std::memset(pages_.data(), kRed, pages_.size());
    if (bytes == 0) {  // some address, at which nothing may be read either
      data_ = pages_.data() + pages_.size();
      return;
    }
    const auto end = reinterpret_cast<uintptr_t>(pages_.data()) + pages_.size();
    uintptr_t at = (end - kRedBytes - bytes) / align * align;
    if (at % (2 * align) == 0) at -= align;
    data_ = reinterpret_cast<unsigned char*>(at);
  }
  unsigned char* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  void Fill(unsigned char byte) {
    if (bytes_ != 0) std::memset(data_, byte, bytes_);
  }
  // Empty, or what was written outside.
  std::string Harm() const {
    for (const unsigned char* p = pages_.data(); p != data_; ++p) {
      if (*p != kRed) return Say(data_ - p, "before the begin of");
    }
    const unsigned char* last = pages_.data() + pages_.size();
    for (const unsigned char* p = data_ + bytes_; p != last; ++p) {
      if (*p != kRed) return Say(p - (data_ + bytes_), "behind the end of");
    }
    return "";
  }

 private:
  std::string Say(ptrdiff_t off, const char* where) const {
    return "byte " + std::to_string(off) + " " + where + " " + what_ + " of " +
           std::to_string(bytes_) + " bytes was written";
  }
  const char* what_ = "";
  Pages pages_;
  unsigned char* data_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace ge::mock
#endif  // GE_MOCK_MEMORY_HPP_
