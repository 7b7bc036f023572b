// KvCaches: states that runs append to (ge.KvAppend), without a fixed capacity in the
// model. They grow by powers of two; each capacity has plans of its own. Before a run it
// makes room for the run's rows and pads inputs as long as all rows (masks) to the
// capacity, with zeros behind. Rows beyond the length always hold finite numbers, since
// operators weigh them with zero: it clears them after a failed run, and after the user has
// set states. Runs of an entry with caches take turns. Thread-safe but for Find and Clear;
// one of a session.
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <span>
#include <vector>

#include "ge/base/aligned.h"
#include "ge/base/status.h"
#include "ge/compile/compiled/compiled.h"
#include "ge/compile/compiled/plan_cache.h"
#include "ge/ir/graph.h"
#include "ge/run/state_store.h"
#include "ge/run/tensor_view.h"

namespace ge {

class KvCaches {
 public:
  static constexpr int64_t kFirstCapacity = 256;

  KvCaches(StateStore* states, PlanCache* plans) : states_(*states), plans_(*plans) {}
  // Looks for caches in a loaded graph. The first capacity is a power of two, at least `first`.
  // UNSUPPORTED where a state has a free size and is no such cache.
  Status Find(const Graph& graph, int64_t first, uint64_t most_bytes);
  void Clear() noexcept;
  bool empty() const { return caches_.empty(); }
  // By Graph::states index: whether the state has no fixed size.
  const std::vector<bool>& grows() const { return grows_; }
  // Inputs and states checked against the lengths, states of a fixed size included.
  const std::vector<CountedRows>& counted() const { return counted_; }
  // Rows that the caches have room for; 0 where there are none.
  int64_t capacity() const { return empty() ? 0 : capacity_.load(); }
  // Sizes for BIND, beyond those that the inputs give.
  std::map<SymbolId, int64_t> Sizes() const;
  // UNSUPPORTED for an entry that reads or writes caches where no single plan holds it.
  Status CheckWhole(const Graph& graph, const Entry& entry) const;

  // Held by a run, or by the planning of one.
  class Turn {
   public:
    Turn() = default;
    // Takes back a greater capacity if planning at it failed.
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    std::span<const TensorView> inputs() const { return inputs_; }
    void Planned() { planned_ = true; }
    // Gives the states the sizes of the plan. INVALID_ARGUMENT where they hold other sizes,
    // FAILED_PRECONDITION where they were set since Begin.
    Status Fit(const Compiled& compiled);
    void Done();  // the run has succeeded

   private:
    friend class KvCaches;
    KvCaches* caches_ = nullptr;  // null: there is nothing to see to
    std::unique_lock<std::mutex> lock_;
    std::span<const TensorView> inputs_;
    std::vector<std::shared_ptr<Compiled>> former_;  // of the capacity before
    int64_t length_ = 0, capacity_before_ = 0;
    uint64_t edits_ = 0;  // before the length was read
    bool planned_ = false;
  };
  // RESOURCE_EXHAUSTED where there is no memory for an input at the capacity; other checks of
  // inputs report everything else wrong with them.
  Status Begin(const Graph& graph, const Entry& entry, std::span<const TensorView> inputs,
               Turn* turn);

 private:
  struct Padded {  // an input at the capacity
    AlignedBytes memory;
    uint64_t bytes = 0;
  };
  void Count(const Graph& graph, const Node& append, StateId cache, StateId length);
  Status Add(const Graph& graph, FunctionId fn, const Node& append, StateId cache, StateId length);
  int64_t RowsOf(const Graph& graph, const Entry& entry, std::span<const TensorView> inputs) const;
  Status Pad(const Function& function, int64_t rows, Turn* turn);
  Status PadOne(const Value& param, size_t axis, Padded* padded, TensorView* input) const;
  Status CheckLength(int64_t length, int64_t more) const;
  Status Fit(std::span<const State> wanted, int64_t length, uint64_t edits);

  StateStore& states_;
  PlanCache& plans_;
  std::vector<CountedRows> caches_;   // those that grow
  std::vector<CountedRows> counted_;  // all
  std::vector<bool> grows_;
  std::map<FunctionId, Dim> rows_;  // that a run of the entry adds
  SymbolId symbol_ = 0;             // of the capacity
  Dim size_;                        // it
  uint64_t most_bytes_ = 0;
  std::atomic<int64_t> capacity_{0};
  std::mutex turn_;  // of the following
  std::vector<TensorView> views_;
  std::vector<Padded> padded_;
  int64_t known_length_ = 0;  // behind which rows are finite
  uint64_t known_edits_ = 0;
};

}  // namespace ge
