#include "ge/compile/compiled/execute.h"

#include <algorithm>

#include "ge/base/interrupt.h"
#include "ge/base/mapping_faults.h"
#include "ge/host/machine.h"

namespace ge {

Status ExecutePlan(Compiled* compiled, StateStore* store, std::vector<const void*>* in,
                   std::vector<void*>* out, RunObserver* observer) {
  StateStore::Access states;
  GE_RETURN_IF_ERROR(store->Begin(compiled->states_in, compiled->states_out, compiled->in_place,
                                  &states, in, out, compiled->states_in_bytes,
                                  compiled->states_out_bytes));
  // On a device runs wait for it, not for the cores.
  ComputePool::InFlight run;
  if (compiled->plan.functions[0].streams.size() <= 1) GE_RETURN_IF_ERROR(run.Begin(HostPool()));
  const FaultScope faults(!compiled->files().empty());
  Compiled::PinnedPacks packs;
  GE_RETURN_IF_ERROR(packs.Pin(compiled));
  GE_ASSIGN_OR_RETURN(std::unique_ptr<Frame> frame, compiled->TakeFrame());
  if (observer != nullptr) [[unlikely]] {
    observer->Begin(std::span(*in).last(compiled->states_in.size()));
  }
  const Status ran = compiled->program().Run(frame.get(), in->data(), out->data(), observer);
  const Status whole = compiled->files().Check();  // after all reads
  if (ran.code() == Code::kDataCorrupt || !whole.ok())
    store->Lose(compiled->states_out, compiled->in_place);
  GE_RETURN_IF_ERROR(whole);
  GE_RETURN_IF_ERROR(ran);
  if (observer != nullptr) [[unlikely]] {
    observer->End(std::span(*out).last(compiled->states_out.size()));
  }
  compiled->GiveFrame(std::move(frame));
  // What it wrote is not taken over, unless it has overwritten a state already.
  const bool committed = std::find(compiled->in_place.begin(), compiled->in_place.end(), true) !=
                         compiled->in_place.end();
  if (!committed) GE_RETURN_IF_ERROR(CheckInterrupt());
  store->Commit(compiled->states_out, compiled->in_place);
  return {};
}

}  // namespace ge
