#include "ge/run/red_zones.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#if GE_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#define GE_NOT_WATCHED __attribute__((no_sanitize("address")))
#else
#define GE_NOT_WATCHED
#define ASAN_POISON_MEMORY_REGION(begin, bytes) ((void)(begin), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(begin, bytes) ((void)(begin), (void)(bytes))
#endif

namespace ge {
namespace {

constexpr unsigned char kRed = 0xA5;        // of a zone
constexpr unsigned char kUnwritten = 0xFF;  // NaN as a float, -1 as an integer

const uint64_t kPage = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));

// The first byte of [begin, end) that is no longer `red`; `end` when there is none. Zones stay
// poisoned while they are read here.
GE_NOT_WATCHED const std::byte* FirstChanged(const std::byte* begin, const std::byte* end,
                                             std::byte red) {
  uint64_t eight, word;
  __builtin_memset(&eight, static_cast<int>(red), 8);
  for (; end - begin >= 8; begin += 8) {
    __builtin_memcpy(&word, begin, 8);
    if (word != eight) break;
  }
  while (begin != end && *begin == red) ++begin;
  return begin;
}
GE_NOT_WATCHED const std::byte* LastChanged(const std::byte* begin, const std::byte* end,
                                            std::byte red) {
  while (end != begin && end[-1] == red) --end;
  return end - 1;
}

// Changes with any bit of a buffer in host memory.
uint64_t Sum(const ge_buf& buf) {
  if (buf.domain != 0) return 0;
  const auto* p = static_cast<const unsigned char*>(buf.ptr);
  uint64_t sum = 0xcbf29ce484222325u;
  uint64_t i = 0;
  for (; i + 8 <= buf.bytes; i += 8) {
    uint64_t word;
    std::memcpy(&word, p + i, 8);
    sum = (sum ^ word) * 0x100000001b3u;
    sum ^= sum >> 29;
  }
  for (; i < buf.bytes; ++i) sum = (sum ^ p[i]) * 0x100000001b3u;
  return sum;
}

}  // namespace

RedZones::~RedZones() {
  for (const Area& a : areas_) {
    ASAN_UNPOISON_MEMORY_REGION(a.begin, a.bytes);
    if (a.sparse) (void)munmap(a.begin, a.bytes);
  }
}

void RedZones::AddArena(int32_t arena, void* address) {
  Area area;
  area.begin = static_cast<std::byte*>(address);
  area.bytes = static_cast<uint64_t>(fn_.arenas[static_cast<size_t>(arena)].bytes);
  for (PlanValueId v = 1; v < fn_.values.size(); ++v) {
    const PlanValue& value = fn_.values[v];
    if (value.arena != arena || value.bytes == 0) continue;
    area.ranges.push_back({area.begin + value.offset, static_cast<uint64_t>(value.bytes), v});
  }
  std::sort(area.ranges.begin(), area.ranges.end(),
            [](const GuardedRange& a, const GuardedRange& b) { return a.begin < b.begin; });
  areas_.push_back(std::move(area));
}

// Values of an arena in order of their offsets; those that overlap are one block.
void RedZones::AddBlocks(int32_t arena, std::vector<Block>* blocks) const {
  std::vector<PlanValueId> values;
  for (PlanValueId v = 1; v < fn_.values.size(); ++v) {
    if (fn_.values[v].arena == arena && fn_.values[v].bytes > 0) values.push_back(v);
  }
  std::sort(values.begin(), values.end(), [&](PlanValueId a, PlanValueId b) {
    return fn_.values[a].offset < fn_.values[b].offset;
  });
  int64_t end = -1;
  for (const PlanValueId v : values) {
    const PlanValue& value = fn_.values[v];
    if (value.offset >= end) blocks->push_back({{nullptr, 0, v}, value.offset, 0, {}});
    Block& block = blocks->back();
    end = std::max(end, value.offset + value.bytes);
    block.range.bytes = static_cast<uint64_t>(end - block.offset);
    block.align = std::max(block.align, static_cast<uint64_t>(value.align));
    block.values.push_back(v);
  }
}

Status RedZones::MakeGuardedBlocks(const std::vector<int32_t>& arenas) {
  std::vector<Block> blocks;
  for (const auto* list : {&fn_.inputs, &fn_.outputs}) {
    for (const PlanValueId v : *list) {
      const PlanValue& value = fn_.values[v];
      // One in a device's memory is not watched.
      const uint64_t bytes = value.domain == 0 ? static_cast<uint64_t>(value.bytes) : 0;
      blocks.push_back({{nullptr, bytes, v}, 0, static_cast<uint64_t>(fn_.values[v].align), {}});
    }
  }
  for (const int32_t arena : arenas) AddBlocks(arena, &blocks);
  Area area;
  area.sparse = true;
  // Relative to the area's begin first; the kernel gives whole pages.
  std::vector<uint64_t> at;
  uint64_t end = kPage, align = kPage;
  for (const Block& b : blocks) {
    align = std::max(align, b.align);
    at.push_back((end + kFarZone + kPage + align - 1) / align * align);
    end = (at.back() + b.range.bytes + kPage - 1) / kPage * kPage + kPage;
  }
  area.bytes = end + kFarZone + align;
  void* memory = mmap(nullptr, area.bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    return Status(Code::kResourceExhausted,
                  fmt::format("no address space for {} guarded places, which take {} bytes; leave "
                              "GE_RED_ZONES out, or raise the limit",
                              blocks.size(), area.bytes));
  }
  // A huge page would be touched as a whole.
  (void)madvise(memory, area.bytes, MADV_NOHUGEPAGE);
  area.begin = static_cast<std::byte*>(memory);
  const uint64_t shift = (align - reinterpret_cast<uintptr_t>(memory) % align) % align;
  address_.assign(fn_.values.size(), nullptr);
  for (size_t i = 0; i < blocks.size(); ++i) {
    blocks[i].range.begin = area.begin + shift + at[i];
    for (const PlanValueId v : blocks[i].values) {
      address_[v] = blocks[i].range.begin + (fn_.values[v].offset - blocks[i].offset);
    }
    area.ranges.push_back(blocks[i].range);
  }
  const auto outputs = area.ranges.begin() + static_cast<int64_t>(fn_.inputs.size());
  inputs_.assign(area.ranges.begin(), outputs);
  outputs_.assign(outputs, outputs + static_cast<int64_t>(fn_.outputs.size()));
  ASAN_POISON_MEMORY_REGION(area.begin, area.bytes);
  areas_.push_back(std::move(area));
  return {};
}

// Ahead of place i; behind the last one where there is no such place.
RedZones::Gap RedZones::GapBefore(const Area& area, size_t i) const {
  const bool first = i == 0, last = i == area.ranges.size();
  Gap gap{};
  gap.begin = first ? area.begin : area.ranges[i - 1].begin + area.ranges[i - 1].bytes;
  gap.end = last ? area.begin + area.bytes : area.ranges[i].begin;
  gap.middle = gap.tail = gap.end;
  if (!area.sparse) return gap;
  const auto own = static_cast<uint64_t>(gap.begin - area.begin);
  gap.middle = first ? gap.begin : area.begin + (own + kPage - 1) / kPage * kPage + kPage;
  gap.tail = last ? gap.end : gap.end - kPage;
  return gap;
}

template <typename Red, typename Own>
void RedZones::ForEach(const Area& area, Red red, Own own) const {
  for (size_t i = 0; i <= area.ranges.size(); ++i) {
    const Gap gap = GapBefore(area, i);
    red(gap.begin, static_cast<uint64_t>(gap.middle - gap.begin));
    red(gap.tail, static_cast<uint64_t>(gap.end - gap.tail));
    if (i < area.ranges.size()) own(area.ranges[i].begin, area.ranges[i].bytes);
  }
}

void RedZones::Begin(const void* const* inputs) {
  const auto let = [](std::byte* p, uint64_t n) { ASAN_UNPOISON_MEMORY_REGION(p, n); };
  const auto keep = [](std::byte* p, uint64_t n) { ASAN_POISON_MEMORY_REGION(p, n); };
  for (const Area& area : areas_) {
    ForEach(area, let, let);
    // What was written there by a run that failed.
    if (area.sparse && harmed_) (void)madvise(area.begin, area.bytes, MADV_DONTNEED);
    ForEach(
        area, [](std::byte* p, uint64_t n) { std::memset(p, kRed, n); },
        [](std::byte* p, uint64_t n) { std::memset(p, kUnwritten, n); });
  }
  harmed_ = false;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i].bytes > 0) std::memcpy(inputs_[i].begin, inputs[i], inputs_[i].bytes);
  }
  for (const Area& area : areas_) {
    // Other streams touch their values at any time.
    if (OneStream()) {
      ForEach(area, keep, keep);
    } else {
      ForEach(area, keep, let);
    }
  }
}

void RedZones::Let(const ge_buf& buf, bool touch) {
  if (!OneStream() || buf.bytes == 0) return;
  for (const Area& area : areas_) {
    const auto* p = static_cast<const std::byte*>(buf.ptr);
    if (p < area.begin || p >= area.begin + area.bytes) continue;
    if (touch) {
      ASAN_UNPOISON_MEMORY_REGION(p, buf.bytes);
    } else {
      ASAN_POISON_MEMORY_REGION(p, buf.bytes);
    }
  }
}

void RedZones::LetAll(const ge_launch& l, bool touch) {
  for (uint32_t i = 0; i < l.n_in; ++i) Let(l.in[i], touch);
  for (uint32_t i = 0; i < l.n_out; ++i) Let(l.out[i], touch);
  for (uint32_t i = 0; i < l.n_internal; ++i) Let(l.internal[i], touch);
  Let(l.workspace, touch);
}

void RedZones::Open(const ge_launch& launch) {
  LetAll(launch, true);
  sums_.clear();
  if (!OneStream()) return;  // what a launch reads may be another domain's
  for (uint32_t i = 0; i < launch.n_in; ++i) sums_.push_back(Sum(launch.in[i]));
}

void RedZones::Open(const ge_copy& copy) {
  Let(copy.src, true);
  Let(copy.dst, true);
}

std::string RedZones::Close(const ge_launch& launch) {
  std::string harm;
  for (uint32_t i = 0; i < sums_.size() && harm.empty(); ++i) {
    if (Sum(launch.in[i]) != sums_[i])
      harm = fmt::format("input {}, {}, was written", i, NameAt(launch.in[i].ptr));
  }
  LetAll(launch, false);
  return harm.empty() ? Harm() : harm;
}

std::string RedZones::Close(const ge_copy& copy) {
  Let(copy.src, false);
  Let(copy.dst, false);
  return Harm();
}

void RedZones::End(void* const* outputs) {
  const auto let = [](std::byte* p, uint64_t n) { ASAN_UNPOISON_MEMORY_REGION(p, n); };
  for (const Area& area : areas_) ForEach(area, let, let);
  for (size_t i = 0; outputs != nullptr && i < outputs_.size(); ++i) {
    if (outputs_[i].bytes > 0) std::memcpy(outputs[i], outputs_[i].begin, outputs_[i].bytes);
  }
}

std::string RedZones::Harm() {
  for (const Area& area : areas_) {
    std::string harm = HarmIn(area);
    harmed_ |= !harm.empty();
    if (!harm.empty()) return harm;
  }
  return "";
}

// The first and the last byte of a gap that were written.
bool RedZones::FindHarm(const Gap& gap, const std::byte** first, const std::byte** last) {
  *first = *last = nullptr;
  const auto take = [&](const std::byte* begin, const std::byte* end, std::byte as) {
    const std::byte* changed = FirstChanged(begin, end, as);
    if (changed == end) return;
    if (*first == nullptr) *first = changed;
    *last = LastChanged(begin, end, as);
  };
  take(gap.begin, gap.middle, std::byte{kRed});
  const auto pages = static_cast<size_t>(gap.tail - gap.middle) / kPage;
  std::vector<unsigned char> touched(pages);
  if (pages > 0 && mincore(gap.middle, pages * kPage, touched.data()) == 0) {
    for (size_t p = 0; p < pages; ++p) {
      const std::byte* page = gap.middle + p * kPage;
      if (touched[p] & 1) take(page, page + kPage, std::byte{0});
    }
  }
  take(gap.tail, gap.end, std::byte{kRed});
  return *first != nullptr;
}

std::string RedZones::HarmIn(const Area& area) const {
  for (size_t i = 0; i <= area.ranges.size(); ++i) {
    const Gap gap = GapBefore(area, i);
    const std::byte *first, *changed;
    if (!FindHarm(gap, &first, &changed)) continue;
    const bool last = i == area.ranges.size();
    const auto behind = first - gap.begin, before = gap.end - changed;  // from either neighbour
    if (i > 0 && (last || behind < before)) {
      return fmt::format("bytes {} to {} behind the end of {} were written", behind,
                         changed - gap.begin, Name(area.ranges[i - 1].value));
    }
    return fmt::format("bytes {} to {} before the begin of {} were written", first - gap.end,
                       -before, last ? "nothing" : Name(area.ranges[i].value));
  }
  return "";
}

std::string RedZones::NameAt(const void* address) const {
  for (const Area& area : areas_) {
    for (const GuardedRange& p : area.ranges) {
      if (p.begin == address) return Name(p.value);
    }
  }
  return "a constant";
}

std::string RedZones::Name(PlanValueId value) const {
  const PlanValue& v = fn_.values[value];
  return fmt::format("value '{}' of {} bytes", v.name, v.bytes);
}

}  // namespace ge
