// RunWatch: is told by a session of one run, as it goes on: of the plan that holds all of it, or of
// each piece's plan and its executions, in their order. What is run and what the session keeps are
// as without it. Called by the thread of the run; its owner keeps it until the run has ended.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "ge/compile/compiled/compiled.h"
#include "ge/control/value.h"
#include "ge/ir/graph.h"
#include "ge/run/observer.h"
#include "ge/run/tensor_view.h"

namespace ge {

class RunWatch {
 public:
  virtual ~RunWatch() = default;

  // One plan holds the run, whose buffers have been checked; the inputs are as it reads them. The
  // answer is told of its instructions; null: nobody.
  virtual RunObserver* Whole(const std::shared_ptr<Compiled>& plan,
                             std::span<const TensorView> inputs) = 0;

  // The run goes piece by piece. `states`: that the entry reads, with their values.
  virtual void PiecesBegin(const Entry& entry, std::span<const FlowValue> inputs,
                           std::span<const StateId> states, std::span<const FlowValue> values) = 0;
  // One piece is run now; the answer as above. Inputs and outputs have their types.
  virtual RunObserver* PieceBegins(const std::shared_ptr<Compiled>& piece,
                                   std::span<const TensorView> inputs) = 0;
  virtual void PieceEnds(const Status& run, std::span<const TensorView> outputs) = 0;
  // All pieces have run. `states`: that the entry writes, at `values`.
  virtual void PiecesEnd(std::span<const FlowValue> results, std::span<const StateId> states,
                         std::span<const void* const> values) = 0;
};

}  // namespace ge
