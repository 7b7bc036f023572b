// OfferTimer: times one offer by itself, in a plan or not: compiles it as a segment of its own with
// GE_SEGMENT_OBSERVE and launches it on made-up inputs and the real constants, as cold and warm as
// in a run. It prices nothing and keeps no execs. Used by one thread; it keeps its buffers from one
// offer to the next.
#pragma once

#include <memory>
#include <vector>

#include "ge/base/aligned.h"
#include "ge/base/repeat_timing.h"
#include "ge/base/status.h"
#include "ge/compile/compiled/compiled.h"
#include "ge/engine/abi_layouts.h"
#include "ge/engine/engine.h"
#include "ge/engine/offers.h"
#include "ge/engine/view.h"

namespace ge {

class OfferTimer {
 public:
  // All must outlive the timer; the view is changed for the time of a call where a constant has to
  // be aligned.
  OfferTimer(const EngineList& engines, const Graph& graph, const Function& function,
             const std::vector<PlanLayout>& layouts, GraphView* view);

  // Memory of the model that stays in place while this lives: reading it between launches makes
  // their inputs as cold as in a run, and only the missing rest is allocated for that.
  void ReadBetween(std::vector<ge_buf> memory) { between_ = std::move(memory); }

  struct Timing {
    Repeats of;  // ns of a launch
    uint32_t count() const { return static_cast<uint32_t>(of.ns.size()); }
    // Their median. A shared machine rarely repeats the shortest, above all for memory-bound
    // kernels.
    double ns() const;
  };
  // Stops early when `budget_ns` is used up, but launches at least once. A Status when the engine
  // refuses to compile or run the offer alone, or its layouts have no size known beforehand.
  Result<Timing> Time(const Offer& offer, const OfferChoice& choice, uint32_t choice_index,
                      double budget_ns);

 private:
  struct Border {
    std::vector<ValueId> in, out;
    std::vector<uint32_t> in_layout, out_layout;
    uint64_t constant_bytes = 0;
  };
  class Launcher;

  Border BorderOf(const Offer& offer, const OfferChoice& choice) const;
  Result<ge_compiled> Compile(const Offer& offer, uint32_t choice_index, const Border& border);
  Status AlignConstants(const Offer& offer);
  void RestoreConstants();
  void Evict(uint64_t constant_bytes, const std::vector<ge_buf>& own);

  const EngineList& engines_;
  const Graph& graph_;
  const Function& function_;
  const std::vector<PlanLayout>& layouts_;
  GraphView* view_;
  AbiLayouts abi_layouts_;
  std::vector<std::vector<uint32_t>> users_;  // by value: nodes reading it
  std::vector<bool> is_result_;
  uint64_t weight_bytes_ = 0;  // of the whole graph
  std::vector<ge_buf> between_;
  AlignedBytes evict_;
  uint64_t evict_bytes_ = 0;
  std::vector<std::pair<ValueId, const void*>> replaced_;
  std::vector<AlignedBytes> aligned_;
};

}  // namespace ge
