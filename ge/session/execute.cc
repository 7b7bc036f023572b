// Runs: a plan found or made, buffers checked, the plan run; see ge/compile/compiled/execute.h.
#include "ge/compile/compiled/execute.h"

#include <algorithm>

#include "ge/run/call_scratch.h"
#include "ge/run/output_memory.h"
#include "ge/run/tensor_view.h"
#include "ge/session/loss.h"
#include "ge/session/run_watch.h"
#include "ge/session/session.h"

namespace ge {
namespace {

// What a run needs between its call and the program: a run of a known shape allocates nothing.
struct Scratch {
  std::vector<const void*> in;
  std::vector<void*> out;
};

}  // namespace

Status Session::Run(std::string_view entry_name, std::span<const TensorView> inputs,
                    std::span<TensorView> outputs) {
  const auto run = [&](RunWatch* watch) { return RunWatched(entry_name, inputs, outputs, watch); };
  return observed() ? RunObserved(entry_name, outputs, run) : run(nullptr);
}

Status Session::RunWatched(std::string_view entry_name, std::span<const TensorView> inputs,
                           std::span<TensorView> outputs, RunWatch* watch) {
  const CallScope call(&calls_);
  const FloatModeScope mode(options_.denormals);
  // A watch has seen a part of the run already.
  return RunDespiteLoss(watch == nullptr, [&](bool* callers_in_use) {
    return RunOnce(entry_name, inputs, outputs, watch, callers_in_use);
  });
}

Status Session::RunOnce(std::string_view entry_name, std::span<const TensorView> inputs,
                        std::span<TensorView> outputs, RunWatch* watch, bool* callers_in_use) {
  const Entry* flow = FlowEntry(entry_name);
  if (flow != nullptr) return RunFlow(*flow, inputs, outputs, watch);
  KvCaches::Turn turn;
  auto compiled = CompileIn(entry_name, inputs, &turn);
  if (!compiled.ok()) {
    flow = FlowEntry(entry_name);  // as it turned out
    return flow != nullptr ? RunFlow(*flow, inputs, outputs, watch) : compiled.status();
  }
  const std::shared_ptr<Compiled>& c = *compiled;
  inputs = turn.inputs();
  GE_RETURN_IF_ERROR(CheckBuffers(*c, inputs, outputs));
  OutputMemory memory;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Compiled::Port& port = c->outputs[i];
    outputs[i].dtype = port.dtype;
    outputs[i].dims = port.dims;
    GE_RETURN_IF_ERROR(memory.Reserve("output", port.name, port.bytes, &outputs[i]));
  }
  GE_RETURN_IF_ERROR(turn.Fit(*c));
  RunObserver* observer = watch != nullptr ? watch->Whole(c, inputs) : nullptr;
  std::shared_ptr<KeptRun> kept;
  const Status ran = Execute(c.get(), inputs, outputs, observer, &kept);
  if (kept) [[unlikely]] {
    memory.Leave(&kept->memory);
    *callers_in_use = std::any_of(outputs.begin(), outputs.end(),
                                  [](const TensorView& t) { return t.data != nullptr; });
  }
  GE_RETURN_IF_ERROR(ran);
  turn.Done();
  if (options_.build.prices.replan) ReplanIfSurprised(entry_name, inputs, c);
  memory.Commit();
  return {};
}

Status Session::RunChecked(std::string_view entry, const std::shared_ptr<Compiled>& compiled,
                           std::span<const TensorView> inputs, std::span<TensorView> outputs) {
  const CallScope call(&calls_);
  const FloatModeScope mode(options_.denormals);
  std::shared_ptr<Compiled> plan = compiled;
  const auto once = [&](RunWatch* watch, bool* callers_in_use) -> Status {
    if (DeviceLosses::Count() != 0 && plan != nullptr && plan->UsesLost()) plan.reset();
    if (plan == nullptr) {  // the given one was for a device that is lost now
      GE_ASSIGN_OR_RETURN(const Entry* at, FindEntry(entry));
      GE_ASSIGN_OR_RETURN(plan, PlanIn(*at, inputs));
    }
    RunObserver* observer = watch != nullptr ? watch->Whole(plan, inputs) : nullptr;
    std::shared_ptr<KeptRun> kept;
    const Status ran = Execute(plan.get(), inputs, outputs, observer, &kept);
    *callers_in_use = kept != nullptr;
    return ran;
  };
  const auto run = [&](RunWatch* watch) {
    return RunDespiteLoss(watch == nullptr, [&](bool* in_use) { return once(watch, in_use); });
  };
  GE_RETURN_IF_ERROR(observed() ? RunObserved(entry, outputs, run) : run(nullptr));
  if (options_.build.prices.replan) ReplanIfSurprised(entry, inputs, plan);
  return {};
}

Status Session::RunApart(Compiled* c, std::span<const TensorView> inputs,
                         std::span<TensorView> outputs, RunObserver* observer) {
  const CallScope call(&calls_);
  const FloatModeScope mode(options_.denormals);
  GE_RETURN_IF_ERROR(CheckAllBuffers(*c, inputs, outputs));
  return Execute(c, inputs, outputs, observer);
}

Status Session::Execute(Compiled* compiled, std::span<const TensorView> inputs,
                        std::span<TensorView> outputs, RunObserver* observer,
                        std::shared_ptr<KeptRun>* kept) {
  const CallScratch<Scratch> scratch;
  std::vector<const void*>& in = scratch->in;
  std::vector<void*>& out = scratch->out;
  in.clear();
  out.clear();
  for (const TensorView& t : inputs) in.push_back(t.data);
  for (const TensorView& t : outputs) out.push_back(t.data);
  return ExecutePlan(compiled, &states_, &in, &out, observer, kept);
}

}  // namespace ge
