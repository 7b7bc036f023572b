// Program: a compiled segment, its kernels over places in the launch's buffers. It plans nothing;
// an exec owns it. Nothing changes it after compile, so any number of threads may queue it at once.
// Queueing neither allocates nor locks, as far as the driver does not.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ge/ge_plugin.h"
#include "plugins/device/device.h"
#include "plugins/units/told_steps.h"

namespace ge_engines::device {

// What a launch of a kernel is given.
struct Call {
  Driver& driver;
  int device;  // the driver's number
  StreamHandle stream;
  std::span<const Buffer> at;  // in the order in which the kernel's places were added
};

// The work of one step. Immutable; any number of threads may queue it.
class Kernel {
 public:
  virtual ~Kernel() = default;
  // Queues the work; waits for nothing, allocates nothing, reads no tensor on the host.
  virtual Result Queue(const Call& call) const = 0;
  // Whether what it queues may be captured: it follows from the addresses alone.
  virtual bool capturable() const { return true; }
};

// Memory that kernels touch: a tensor, a pack, the workspace.
struct Storage {
  enum class Kind : uint8_t { kIn, kOut, kInternal, kPack, kWorkspace } kind = Kind::kInternal;
  uint32_t index = 0;  // position in the launch's list
  uint64_t bytes = 0;
  uint32_t value = 0;                     // that lies here, for the host's messages
  uint32_t first = UINT32_MAX, last = 0;  // steps
};

struct Ref {
  uint32_t storage = 0;
  uint64_t offset = 0, bytes = 0;
};
struct Use {
  Ref ref;
  bool reads = false, writes = false;
};
inline Use Reads(const Ref& ref) { return {ref, true, false}; }
inline Use Writes(const Ref& ref) { return {ref, false, true}; }

inline constexpr size_t kMostUses = 96;  // of one kernel: they lie on the stack

struct Step {
  std::unique_ptr<Kernel> kernel;
  uint32_t node = 0;  // index in the segment's graph, for messages
  std::vector<Use> uses;
};

class Program {
 public:
  std::vector<Storage> storages;
  std::vector<Step> steps;
  bool infallible = false;  // GE_COMPILED_INFALLIBLE: it does not look at stop
  uint64_t workspace = 0;
  // Reports to the host; ge_compiled holds pointers into these.
  std::vector<ge_internal> internals;
  std::vector<ge_const_use> constants;
  std::vector<ge_pack> packs;
  std::vector<uint32_t> alias;  // pairs (output position, input position) that may share a place
  ToldSteps told;
  // Of packs: keys and values, by position.
  struct PackText {
    std::string key;
    Ids values;
  };
  std::deque<PackText> pack_texts;

  bool capturable() const;
  ge_rc Queue(const ge_launch& launch, Device* device, StreamHandle stream, ge_err* err) const;

 private:
  ge_rc Check(const ge_launch& launch, const Device& device, ge_err* err) const;
};

}  // namespace ge_engines::device
