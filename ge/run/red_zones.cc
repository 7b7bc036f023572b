#include "ge/run/red_zones.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "ge/base/sanitizer.h"

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

// The first byte of [begin, end) that is no longer red; `end` when there is none. Zones stay
// poisoned while they are read here.
GE_NOT_WATCHED const std::byte* FirstChanged(const std::byte* begin, const std::byte* end) {
  while (begin != end && *begin == std::byte{kRed}) ++begin;
  return begin;
}
GE_NOT_WATCHED const std::byte* LastChanged(const std::byte* begin, const std::byte* end) {
  while (end != begin && end[-1] == std::byte{kRed}) --end;
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
  for (const Area& a : areas_) ASAN_UNPOISON_MEMORY_REGION(a.begin, a.bytes);
}

void RedZones::AddArena(int32_t arena, void* address) {
  Area area;
  area.begin = static_cast<std::byte*>(address);
  area.bytes = static_cast<uint64_t>(fn_.arenas[static_cast<size_t>(arena)].bytes);
  for (PlanValueId v = 1; v < fn_.values.size(); ++v) {
    const PlanValue& value = fn_.values[v];
    if (value.arena != arena || value.bytes == 0) continue;
    area.places.push_back({area.begin + value.offset, static_cast<uint64_t>(value.bytes), v});
  }
  std::sort(area.places.begin(), area.places.end(),
            [](const Place& a, const Place& b) { return a.begin < b.begin; });
  areas_.push_back(std::move(area));
}

Status RedZones::MakePlace(PlanValueId value, Place* place) {
  const auto bytes = static_cast<uint64_t>(fn_.values[value].bytes);
  // The C library wants a multiple of the alignment.
  const uint64_t all = (bytes + 3 * kRedZone - 1) / kRedZone * kRedZone;
  auto* block = static_cast<std::byte*>(std::aligned_alloc(kRedZone, all));
  if (block == nullptr) {
    return Status(Code::kResourceExhausted,
                  fmt::format("no memory for a guarded place of {} bytes", bytes));
  }
  blocks_.emplace_back(block);
  *place = {block + kRedZone, bytes, value};
  areas_.push_back({block, all, {*place}});
  return {};
}

Status RedZones::MakeOwnPlaces() {
  inputs_.resize(fn_.inputs.size()), outputs_.resize(fn_.outputs.size());
  for (size_t i = 0; i < inputs_.size(); ++i) {
    GE_RETURN_IF_ERROR(MakePlace(fn_.inputs[i], &inputs_[i]));
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    GE_RETURN_IF_ERROR(MakePlace(fn_.outputs[i], &outputs_[i]));
  }
  return {};
}

void RedZones::Begin(const void* const* inputs) {
  for (const Area& area : areas_) {
    ASAN_UNPOISON_MEMORY_REGION(area.begin, area.bytes);
    std::memset(area.begin, kRed, area.bytes);
    for (const Place& p : area.places) std::memset(p.begin, kUnwritten, p.bytes);
  }
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i].bytes > 0) std::memcpy(inputs_[i].begin, inputs[i], inputs_[i].bytes);
  }
  for (const Area& area : areas_) {
    ASAN_POISON_MEMORY_REGION(area.begin, area.bytes);
    // Other streams touch their values at any time.
    for (const Place& p : area.places) {
      if (!OneStream()) ASAN_UNPOISON_MEMORY_REGION(p.begin, p.bytes);
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

void RedZones::Open(const ge_copy& copy) { Let(copy.src, true), Let(copy.dst, true); }

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
  Let(copy.src, false), Let(copy.dst, false);
  return Harm();
}

void RedZones::End(void* const* outputs) {
  for (const Area& area : areas_) ASAN_UNPOISON_MEMORY_REGION(area.begin, area.bytes);
  for (size_t i = 0; outputs != nullptr && i < outputs_.size(); ++i) {
    if (outputs_[i].bytes > 0) std::memcpy(outputs[i], outputs_[i].begin, outputs_[i].bytes);
  }
}

std::string RedZones::Harm() const {
  for (const Area& area : areas_) {
    std::string harm = HarmIn(area);
    if (!harm.empty()) return harm;
  }
  return "";
}

std::string RedZones::HarmIn(const Area& area) const {
  const std::byte* at = area.begin;
  for (size_t i = 0; i <= area.places.size(); ++i) {
    const bool last = i == area.places.size();
    const std::byte* end = last ? area.begin + area.bytes : area.places[i].begin;
    const std::byte* first = FirstChanged(at, end);
    if (first == end) {
      if (!last) at = area.places[i].begin + area.places[i].bytes;
      continue;
    }
    const std::byte* changed = LastChanged(at, end);
    const auto behind = first - at, before = end - changed;  // from either neighbour
    if (i > 0 && (last || behind < before)) {
      return fmt::format("bytes {} to {} behind the end of {} were written", behind, changed - at,
                         Name(area.places[i - 1].value));
    }
    return fmt::format("bytes {} to {} before the begin of {} were written", first - end, -before,
                       last ? "nothing" : Name(area.places[i].value));
  }
  return "";
}

std::string RedZones::NameAt(const void* address) const {
  for (const Area& area : areas_) {
    for (const Place& p : area.places) {
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
