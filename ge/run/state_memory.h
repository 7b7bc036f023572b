// StateMemory: the bytes of one state, in the host's memory or in a device's. A plan reads and
// writes them there; everybody else copies. Who holds it last frees them; it keeps its engine open.
// One thread at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "ge/base/aligned.h"
#include "ge/base/status.h"
#include "ge/domain/domain_memory.h"
#include "ge/ge_plugin.h"

namespace ge {

// How to free a state's memory: our own, or an application's, which is told.
struct FreeState {
  void (*release)(void* context) = nullptr;
  void* context = nullptr;
  void operator()(std::byte* memory) const {
    if (release != nullptr) return release(context);
    FreeAligned()(memory);
  }
};

// The memory that a device's tensors lie in; none: the host's.
struct StateHome {
  DomainMemory* memory = nullptr;
  uint64_t align = 64;                           // of blocks
  const std::atomic<bool>* lost_flag = nullptr;  // set when the device is lost
  std::shared_ptr<const void> engine = {};       // which owns the memory, and the flag
  bool lost() const { return lost_flag != nullptr && lost_flag->load(std::memory_order_acquire); }
  bool at_host() const { return memory == nullptr; }
  friend bool operator==(const StateHome& a, const StateHome& b) { return a.memory == b.memory; }
};

// Where such bytes are. In place of an address Program::Run takes a pointer to one of these for
// each input and output in a device's memory.
struct DevicePlace {
  void* address = nullptr;
  ge_mem* mem = nullptr;
  uint64_t number = 0;  // of the block, as no other has
  std::weak_ptr<const void> owner = {};
};

class StateMemory {
 public:
  StateMemory() = default;
  // Host memory of ours, or of who gives it.
  StateMemory(std::byte* host, FreeState free);
  StateMemory(StateMemory&&) noexcept = default;
  StateMemory& operator=(StateMemory&&) noexcept = default;
  void swap(StateMemory& m) noexcept { held_.swap(m.held_); }
  // Not initialised. RESOURCE_EXHAUSTED where memory is short, LIMIT_EXCEEDED where the device's
  // memory has no room for it; `state` names it.
  static Result<StateMemory> Make(const StateHome& home, uint64_t bytes, const std::string& state);
  // The same bytes, for who must only keep them.
  StateMemory Share() const { return StateMemory(held_); }

  explicit operator bool() const { return held_ != nullptr; }
  const StateHome& home() const;
  bool at_host() const { return home().at_host(); }
  std::byte* host() const { return held_ ? held_->host.get() : nullptr; }  // null: it is not there
  // What a run is given.
  const void* run_address() const {
    return at_host() ? static_cast<const void*>(host()) : &held_->place;
  }
  // The first `bytes`, to and from host memory; both end before they return, or with the call that
  // this thread works for. No device uses the host memory given, which the caller may free.
  Status CopyOut(void* to, uint64_t bytes) const;
  Status CopyIn(const void* from, uint64_t bytes);

 private:
  struct Held {
    std::unique_ptr<std::byte, FreeState> host;
    StateHome home;
    DevicePlace place;
    DomainMemory::Block block;  // the same
    ~Held();
  };
  explicit StateMemory(std::shared_ptr<Held> held) : held_(std::move(held)) {}
  std::shared_ptr<Held> held_;
};

// The same for what a run was given.
Status CopyOutOf(const StateHome& home, const DevicePlace& place, void* to, uint64_t bytes);

}  // namespace ge
