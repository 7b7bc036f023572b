// Red zones: guards that a run for tests puts around every value in host memory, to name the
// engine that writes outside its own bytes. Each value has its own place: a page or more of a
// pattern on both sides, and beyond these untouched pages (kFarZone). The system tells
// untouched pages from written ones (but for zeros, which they hold). Inputs and outputs of the
// caller are copied to and from such places, so their sizes are exact; outputs of a launch hold
// 0xFF before it. Values in page-locked memory of a device stay in its block, kRedZone bytes
// apart. In a build with AddressSanitizer a running launch can read or write nothing but its
// own buffers (as far as the engine's code is instrumented). Owned by a Frame; used by one
// thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ge/base/sanitizer.h"
#include "ge/base/status.h"
#include "ge/ge_plugin.h"
#include "ge/plan/plan.h"

namespace ge {

inline constexpr int64_t kRedZone = 64;  // bytes: holds a whole vector written too far
// Bytes of untouched memory between two values; half of it belongs to either. Less with
// AddressSanitizer, which keeps a byte for each eight of it and finds such writes itself.
inline constexpr uint64_t kFarZone = GE_ADDRESS_SANITIZER ? uint64_t{1} << 16 : uint64_t{4} << 20;

class RedZones {
 public:
  // The memory of the function's values was assigned with gaps and without reuse.
  explicit RedZones(const PlanFunction& fn) : fn_(fn) {}
  ~RedZones();
  RedZones(const RedZones&) = delete;
  RedZones& operator=(const RedZones&) = delete;

  // Adds an arena in host memory with a fixed address: its gaps are red.
  void AddArena(int32_t arena, void* address);
  // Makes places for the entry's inputs and outputs, and for the values of these arenas in the
  // host's own memory. RESOURCE_EXHAUSTED when memory is short.
  Status MakeGuardedBlocks(const std::vector<int32_t>& arenas);

  // The place of a value in one of those arenas; null for any other.
  void* place(PlanValueId value) const { return address_.empty() ? nullptr : address_[value]; }
  void* input(uint32_t index) const { return inputs_[index].begin; }
  void* output(uint32_t index) const { return outputs_[index].begin; }

  // Copies the inputs in and fills everything else.
  void Begin(const void* const* inputs);
  // Around a launch on the host's own stream, or a copy: permits access to its buffers.
  void Open(const ge_launch& launch);
  void Open(const ge_copy& copy);
  // "" when only the launch's (the copy's) own bytes were written since Open; else a description.
  std::string Close(const ge_launch& launch);
  std::string Close(const ge_copy& copy);
  // Copies the outputs out; null after a failure. All memory may be touched again.
  void End(void* const* outputs);

 private:
  struct GuardedRange {
    std::byte* begin = nullptr;
    uint64_t bytes = 0;
    PlanValueId value = 0;
  };
  struct Area {  // all but its places is red
    std::byte* begin = nullptr;
    uint64_t bytes = 0;
    std::vector<GuardedRange> ranges;  // by address
    bool sparse = false;               // only bytes next to a place are red; the rest is untouched
  };
  // The bytes between two places: [begin, end), red but for the untouched [middle, tail).
  struct Gap {
    std::byte *begin, *end, *middle, *tail;
  };
  // Values sharing bytes, apart from all others.
  struct Block {
    GuardedRange range;
    int64_t offset = 0;  // in its arena
    uint64_t align = 0;
    std::vector<PlanValueId> values;
  };

  bool OneStream() const { return fn_.streams.size() <= 1; }
  void AddBlocks(int32_t arena, std::vector<Block>* blocks) const;
  Gap GapBefore(const Area& area, size_t place) const;
  // On every red byte and every place of an area.
  template <typename Red, typename Own>
  void ForEach(const Area& area, Red red, Own own) const;
  static bool FindHarm(const Gap& gap, const std::byte** first, const std::byte** last);
  void Let(const ge_buf& buf, bool touch);
  void LetAll(const ge_launch& launch, bool touch);
  std::string Harm();
  std::string HarmIn(const Area& area) const;
  std::string NameAt(const void* address) const;
  std::string Name(PlanValueId value) const;

  const PlanFunction& fn_;
  std::vector<Area> areas_;
  std::vector<std::byte*> address_;             // by value
  std::vector<GuardedRange> inputs_, outputs_;  // by position
  std::vector<uint64_t> sums_;                  // of the open launch's inputs
  bool harmed_ = false;                         // untouched pages may have been written since Begin
};

}  // namespace ge
