// Red zones: what a run for tests puts around every value in host memory, to name the engine that
// writes to bytes which are not its own. Each value has its own place, with kRedZone bytes of a
// pattern on both sides; inputs and outputs of the caller are copied to and from such places, so
// that their sizes are exact; all that a launch is to write holds 0xFF before it. In a build with
// AddressSanitizer nothing but what a launch was given can be read or written while it runs (as far
// as the engine's code is instrumented). Owned by a Frame; used by one thread at a time.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "ge/base/status.h"
#include "ge/ge_plugin.h"
#include "ge/plan/plan.h"

namespace ge {

inline constexpr int64_t kRedZone = 64;  // bytes: a whole vector that is written too far lies in it

class RedZones {
 public:
  // The memory of the function's values was assigned with gaps and without reuse.
  explicit RedZones(const PlanFunction& fn) : fn_(fn) {}
  ~RedZones();
  RedZones(const RedZones&) = delete;
  RedZones& operator=(const RedZones&) = delete;

  // An arena in host memory.
  void AddArena(int32_t arena, void* address);
  // Places for the entry's inputs and outputs. RESOURCE_EXHAUSTED when there is no memory.
  Status MakeOwnPlaces();

  void* input(uint32_t index) const { return inputs_[index].begin; }
  void* output(uint32_t index) const { return outputs_[index].begin; }

  // Copies the inputs in and fills all else.
  void Begin(const void* const* inputs);
  // Around a launch on the host's own stream, or a copy: lets it at its buffers.
  void Open(const ge_launch& launch);
  void Open(const ge_copy& copy);
  // "" when nothing but the launch's (the copy's) own bytes were written since Open; else what was.
  std::string Close(const ge_launch& launch);
  std::string Close(const ge_copy& copy);
  // Copies the outputs out; null after a failure. All memory may be touched again.
  void End(void* const* outputs);

 private:
  struct Place {
    std::byte* begin = nullptr;
    uint64_t bytes = 0;
    PlanValueId value = 0;
  };
  struct Area {  // all but its places is red
    std::byte* begin = nullptr;
    uint64_t bytes = 0;
    std::vector<Place> places;  // by address
  };
  struct FreeBlock {
    void operator()(std::byte* p) const { std::free(p); }
  };

  bool OneStream() const { return fn_.streams.size() <= 1; }
  Status MakePlace(PlanValueId value, Place* place);
  void Let(const ge_buf& buf, bool touch);
  void LetAll(const ge_launch& launch, bool touch);
  std::string Harm() const;
  std::string HarmIn(const Area& area) const;
  std::string NameAt(const void* address) const;
  std::string Name(PlanValueId value) const;

  const PlanFunction& fn_;
  std::vector<Area> areas_;
  std::vector<std::unique_ptr<std::byte, FreeBlock>> blocks_;
  std::vector<Place> inputs_, outputs_;  // by position
  std::vector<uint64_t> sums_;           // of the open launch's inputs
};

}  // namespace ge
