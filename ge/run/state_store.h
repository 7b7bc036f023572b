// StateStore: the values of a model's states. Runs overwrite a state where it lies, behind all that
// can fail, or write beside it, and both are exchanged when they have ended well. Runs that write a
// state are alone; runs that only read share. A state may be of no fixed size: then it has none of
// its free axes at first, and takes the size of what it is given. Thread-safe apart from Init and
// Clear.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <string>
#include <vector>

#include "ge/base/aligned.h"
#include "ge/base/status.h"
#include "ge/ir/graph.h"
#include "ge/run/tensor_view.h"

namespace ge {

// How memory of a state goes: ours, or what an application gave, which is told.
struct FreeState {
  void (*release)(void* context) = nullptr;
  void* context = nullptr;
  void operator()(std::byte* memory) const {
    if (release != nullptr) return release(context);
    FreeAligned()(memory);
  }
};

// A state whose rows along `axis` are in use as far as `length`, a state of one i64, says.
struct CountedRows {
  StateId cache = 0, length = 0;
  size_t axis = 0;
  bool operator==(const CountedRows&) const = default;
};

// How many rows a value of this static type has along `axis`: none where it has no bytes, whatever
// its other sizes are.
int64_t RowsAlong(const Type& type, size_t axis);

class StateStore {
 public:
  // First values; LIMIT_EXCEEDED where all take more than `limit` bytes, each counted twice, with
  // `raise` as the advice. `grows`, by Graph::states index: may be of no fixed size. `counted`:
  // what Set, Donate and Write hold lengths and caches against.
  Status Init(const Graph& graph, uint64_t limit, const char* raise,
              const std::vector<bool>& grows = {}, std::vector<CountedRows> counted = {});
  // First values again, of the sizes that they have.
  Status Reset(const Graph& graph);
  void Clear() noexcept {
    slots_.clear();
    counted_.clear();
  }
  // By Graph::states index, from 1. Get allocates where `out` has no data but bytes to give.
  // INVALID_ARGUMENT for a value of another type, a length that is negative or beyond the rows of
  // its caches, and a cache of fewer rows than its length; the state is then as it was.
  Status Get(const State& state, StateId id, TensorView* out);
  Status Set(const State& state, StateId id, const DimTable& dims, const TensorView& value);

  // The caller's memory becomes the state's, until `free` is called; INVALID_ARGUMENT also where
  // it is not aligned. After a failure it is the caller's.
  Status Donate(const State& state, StateId id, const DimTable& dims, const TensorView& value,
                FreeState free);

  // Looks at all types and values, by Graph::states index from 1, or gives all of them new ones at
  // once, while no run writes or reads them. DATA_CORRUPT for a state that was lost;
  // with all as they were, INVALID_ARGUMENT for values that Set would not take together, and
  // RESOURCE_EXHAUSTED where there is no memory.
  Status Read(
      const std::function<Status(std::span<const Type>, std::span<const std::byte* const>)>& look);
  Status Write(std::span<const Const> values);

  Type TypeOf(StateId id) const;
  // The one number that an i64[] holds.
  Result<int64_t> NumberOf(StateId id) const;
  // Another size; what lies in the first `rows` along `axis` stays, the rest is zero.
  // FAILED_PRECONDITION, with all as it was, where it holds fewer rows, or rows of another size, or
  // edits() is another number by now: what was set meanwhile is not taken for what was there.
  Status Resize(StateId id, const Type& type, size_t axis, int64_t rows, uint64_t edits);
  // Zeros behind the first `rows` along `axis`, where there are more. FAILED_PRECONDITION as above.
  Status ClearBehind(StateId id, size_t axis, int64_t rows, uint64_t edits);
  // How often values were set, written or reset from outside of runs.
  uint64_t edits() const { return edits_.load(); }

  // What a run holds from before its launches until Commit or its end.
  struct Access {
    std::shared_lock<std::shared_mutex> reading;
    std::unique_lock<std::shared_mutex> writing;
  };
  // Waits for its turn, or until the call is to end; appends where the states are read and written.
  // `in_place`, parallel to `out`: which lie where they are read. DATA_CORRUPT for a state that was
  // lost; RESOURCE_EXHAUSTED where there is no memory to write beside; FAILED_PRECONDITION where
  // the sizes of a state that grows are no longer `in_bytes` and `out_bytes`, those of the plan.
  Status Begin(std::span<const StateId> in, std::span<const StateId> out,
               const std::vector<bool>& in_place, Access* access, std::vector<const void*>* from,
               std::vector<void*>* to, std::span<const uint64_t> in_bytes = {},
               std::span<const uint64_t> out_bytes = {});
  void Commit(std::span<const StateId> out, const std::vector<bool>& in_place);
  // A run failed while it overwrote these: nobody reads them until they are set.
  void Lose(std::span<const StateId> out, const std::vector<bool>& in_place);
  // Of all states, with what is written beside.
  uint64_t bytes() const;

 private:
  using Memory = std::unique_ptr<std::byte, FreeState>;
  static Memory Allocate(uint64_t bytes) { return Memory(AllocateAligned(bytes, 64).release()); }
  struct Slot {
    Memory now, next;  // next: null until a run writes beside
    uint64_t bytes = 0;
    Type type;  // as it is; static
    bool lost = false;
    std::string name;
  };
  static Status CheckValue(const Slot& slot, const State& state, const DimTable& dims,
                           const TensorView& value);
  // What a state would hold, by its id; `bytes` null where nobody knows.
  struct Held {
    const Type* type;
    const void* bytes;
  };
  Status CheckCounted(const std::function<Held(StateId)>& held) const;
  Status CheckCountedWith(StateId id, const TensorView& value) const;
  Status CheckEdits(uint64_t edits) const;
  Status Readable(const Slot& slot) const;
  Status Same(const Slot& slot, std::span<const uint64_t> bytes, size_t i) const;

  std::vector<Slot> slots_;
  std::vector<CountedRows> counted_;
  mutable std::shared_mutex mutex_;
  std::atomic<uint64_t> edits_{0};
};

}  // namespace ge
