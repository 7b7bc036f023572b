// StateStore: the values of a model's states, its own or SharedStates'. Runs overwrite a state
// where it lies, once nothing can fail any more, or write beside it, and exchange both after a
// successful end. A run writing a state is alone with it; runs only reading share it. A state may
// have no fixed size: then its free axes begin at size 0, and it takes the size of each value set.
// A state lies where the plans want it that run: it moves when one wants it elsewhere, and set
// values begin in host memory. Thread-safe apart from Init and Clear.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ge/base/status.h"
#include "ge/ir/graph.h"
#include "ge/run/shared_states.h"
#include "ge/run/state_locks.h"
#include "ge/run/state_memory.h"
#include "ge/run/state_slot.h"
#include "ge/run/tensor_view.h"

namespace ge {

// A state whose rows in use along `axis` are counted by `length`, a state of one i64.
struct CountedRows {
  StateId cache = 0, length = 0;
  size_t axis = 0;
  bool operator==(const CountedRows&) const = default;
};

// The number of rows of a value of this static type along `axis`: none for a value without bytes,
// in spite of its other sizes.
int64_t RowsAlong(const Type& type, size_t axis);

class StateStore {
 public:
  StateStore() = default;
  ~StateStore() { Clear(); }
  StateStore(const StateStore&) = delete;
  StateStore& operator=(const StateStore&) = delete;
  // Sets first values; LIMIT_EXCEEDED where all take more than `limit` bytes, each counted twice,
  // with `raise` as the advice. `grows`, by Graph::states index: may have no fixed size. `counted`:
  // Set, Donate and Write check lengths and caches against these. `shared`: the states are those of
  // these names there, which keep the values that they have; those that are not there are added.
  Status Init(const Graph& graph, uint64_t limit, const char* raise,
              const std::vector<bool>& grows = {}, std::vector<CountedRows> counted = {},
              std::shared_ptr<SharedStates> shared = nullptr);
  // From here on shared states that were added stay.
  void Loaded() { added_.clear(); }
  // Sets first values again, at the present sizes.
  Status Reset(const Graph& graph);
  void Clear() noexcept;
  // All that follow end with the call that the thread works for while they wait for others or for a
  // device; states are then as they were. By Graph::states index, from 1. Get allocates where `out`
  // has no data but bytes to give. INVALID_ARGUMENT for a value of another type, a length that is
  // negative or beyond the rows of its caches, and a cache of fewer rows than its length; the state
  // is then as it was.
  Status Get(const State& state, StateId id, TensorView* out);
  Status Set(const State& state, StateId id, const DimTable& dims, const TensorView& value);

  // The caller's memory becomes the state's, until `free` is called; INVALID_ARGUMENT also where
  // it is not aligned. After a failure it is the caller's.
  Status Donate(const State& state, StateId id, const DimTable& dims, const TensorView& value,
                FreeState free);

  // Read shows all types and values, by Graph::states index from 1; Write gives all of them new
  // ones at once, while no run writes or reads them. DATA_CORRUPT for a lost state; with all as
  // they were, INVALID_ARGUMENT for values that Set would not take together, and RESOURCE_EXHAUSTED
  // where memory is short.
  Status Read(
      const std::function<Status(std::span<const Type>, std::span<const std::byte* const>)>& look);
  Status Write(std::span<const Const> values);

  Type TypeOf(StateId id) const;
  // The single number in a state of type i64[].
  Result<int64_t> NumberOf(StateId id) const;
  // Resizes a state; the first `rows` along `axis` stay, the rest is zero. FAILED_PRECONDITION,
  // with all as it was, where it holds fewer rows, or rows of another size, or edits() has changed:
  // values set meanwhile are not mistaken for the earlier ones.
  Status Resize(StateId id, const Type& type, size_t axis, int64_t rows, uint64_t edits);
  // Zeros behind the first `rows` along `axis`, where there are more. FAILED_PRECONDITION as above.
  Status ClearBehind(StateId id, size_t axis, int64_t rows, uint64_t edits);
  // How often values were set, written or reset from outside of runs.
  uint64_t edits() const { return edits_.load(); }

  // Held by a run from before its launches until Commit or its end.
  struct Access {
    std::vector<StateId> all;  // where states are moved for it; `held` may point into it
    StateAccess held;
  };
  // Waits for its turn, or until the call is to end; appends the addresses for reading and writing
  // the states. `in_place`, parallel to `out`: written where it is read. DATA_CORRUPT for a lost
  // state; RESOURCE_EXHAUSTED where memory to write beside is short; FAILED_PRECONDITION where a
  // growing state no longer has the plan's `in_bytes` and `out_bytes`, and as StateAccess. `in` and
  // `out` stay in place as long as `access`. `in_home`, `out_home`: where
  // the plan has them, parallel; none: all in host memory. For one elsewhere the address is that of
  // a DevicePlace.
  Status Begin(std::span<const StateId> in, std::span<const StateId> out,
               const std::vector<bool>& in_place, Access* access, std::vector<const void*>* from,
               std::vector<void*>* to, std::span<const uint64_t> in_bytes = {},
               std::span<const uint64_t> out_bytes = {}, std::span<const StateHome> in_home = {},
               std::span<const StateHome> out_home = {});
  void Commit(std::span<const StateId> out, const std::vector<bool>& in_place);
  // A run failed while overwriting these: nobody reads them until they are set.
  void Lose(std::span<const StateId> out, const std::vector<bool>& in_place);
  // A device may still use what the run was given: `kept` gets it, or shares it where the run only
  // reads it. Behind Lose, and before the run's Access ends.
  void Leave(std::span<const StateId> in, std::span<const StateId> out,
             const std::vector<bool>& in_place, std::vector<StateMemory>* kept);
  // Bytes of all states, including new values written beside; of them those in devices' memory.
  uint64_t bytes() const;
  uint64_t device_bytes() const;
  // How often a state was brought from one memory to another for a run.
  uint64_t moves() const { return moves_.load(); }

 private:
  using Slot = StateSlot;
  Status CheckSized(const Graph& graph, uint64_t limit, const char* raise,
                    const std::vector<bool>& grows, SharedStates::Slots* slots) const;
  Status JoinShared(const Graph& graph, const SharedStates::Slots& wanted);
  // What a call on one state has to hold: others, too, where their lengths are checked.
  std::span<const StateId> With(const StateId& id) const {
    return counted_.empty() ? std::span(&id, 1) : std::span<const StateId>(all_);
  }
  Status Begin(StateAccess* access, std::span<const StateId> read,
               std::span<const StateId> write) const {
    return access->Begin(locks_, slots_, read, write);
  }
  static Status CheckValue(const Slot& slot, const State& state, const DimTable& dims,
                           const TensorView& value);
  // The content a state would get, by its id; `memory` where it is a state's own, else `bytes`;
  // both null where it is not known.
  struct Held {
    const Type* type;
    const void* bytes;
    const StateMemory* memory = nullptr;
  };
  Status CheckCounted(const std::function<Held(StateId)>& held) const;
  Status CheckCountedWith(StateId id, const TensorView& value) const;
  Status CheckEdits(uint64_t edits) const;
  // Whether all of these are in it.
  bool AtHome(std::span<const StateId> ids, std::span<const StateHome> homes) const;
  Status BringHome(std::span<const StateId> ids, std::span<const StateHome> homes);
  Status Same(const Slot& slot, std::span<const uint64_t> bytes, size_t i) const;

  SharedStates::Slots slots_;  // by id; none of id 0
  std::vector<StateId> all_;
  std::vector<CountedRows> counted_;
  std::shared_ptr<SharedStates> shared_;  // null: the states are the model's own
  std::vector<bool> added_;               // to them by this, by slot
  mutable StateLocks own_locks_;
  StateLocks* locks_ = &own_locks_;
  std::atomic<uint64_t> edits_{0}, moves_{0};
};

}  // namespace ge
