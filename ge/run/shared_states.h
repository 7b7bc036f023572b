// SharedStates: states by name, outside of any session (ge_states of ge.h). The states of a session
// made with them are theirs: one memory, one type, one home for all sessions. A state that a
// session uses keeps its type and its name. Thread-safe.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ge/base/status.h"
#include "ge/ir/graph.h"
#include "ge/run/state_locks.h"
#include "ge/run/tensor_view.h"

namespace ge {

class SharedStates {
 public:
  // Set, Get and Erase end with the call that the thread works for while they wait for runs;
  // FAILED_PRECONDITION from within a run that uses the states.
  //
  // A new state, or a new value of one. INVALID_ARGUMENT naming both for another type than one in
  // use has.
  Status Set(std::string_view name, const TensorView& value);
  // INVALID_ARGUMENT where there is none; else as StateSlot::Get.
  Status Get(std::string_view name, TensorView* out);
  // FAILED_PRECONDITION where a session uses it.
  Status Erase(std::string_view name);
  // Names and types, by name.
  std::vector<std::pair<std::string, Type>> List() const;

  struct Wanted {
    std::string name;
    Type type;  // static
  };
  using Slots = std::vector<std::shared_ptr<StateSlot>>;
  // Gives the slots there those values that a graph begins with.
  using First = std::function<Status(std::span<const size_t> which, const Slots& slots)>;
  // Of a session: a slot for each, in order. Those that are not there are added; `added` says which
  // ones. INVALID_ARGUMENT, with all as it was, for another type. A name stands once in `wanted`.
  Result<Slots> Join(std::span<const Wanted> wanted, const First& first, std::vector<bool>* added);
  // The session goes. `added`, where it was never of use: of these those go that nobody else uses.
  void Part(const Slots& slots, const std::vector<bool>& added) noexcept;
  StateLocks* locks() { return &locks_; }

 private:
  struct Named {
    std::shared_ptr<StateSlot> slot;
    uint32_t users = 0;  // sessions
  };
  static Result<std::shared_ptr<StateSlot>> Make(std::string_view name, const Type& type);
  // Those of `wanted` that are neither there nor `made`; INVALID_ARGUMENT for another type. The
  // caller has the mutex.
  Result<std::vector<size_t>> Lacking(std::span<const Wanted> wanted, const Slots& made) const;
  Result<std::shared_ptr<StateSlot>> Find(std::string_view name) const;
  bool Has(const StateSlot& slot) const;

  StateLocks locks_;
  mutable std::mutex mutex_;  // of the following; a slot's type never changes
  std::map<std::string, Named, std::less<>> named_;
};

}  // namespace ge
