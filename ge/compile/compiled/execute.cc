#include "ge/compile/compiled/execute.h"

#include <algorithm>

#include "ge/base/interrupt.h"
#include "ge/base/mapping_faults.h"
#include "ge/host/machine.h"

namespace ge {

Status ExecutePlan(Compiled* c, StateStore* store, std::vector<const void*>* in,
                   std::vector<void*>* out) {
  StateStore::Access states;
  GE_RETURN_IF_ERROR(store->Begin(c->states_in, c->states_out, c->in_place, &states, in, out,
                                  c->states_in_bytes, c->states_out_bytes));
  // On a device runs wait for it, not for the cores.
  ComputePool::InFlight run;
  if (c->plan.functions[0].streams.size() <= 1) GE_RETURN_IF_ERROR(run.Begin(HostPool()));
  const FaultScope faults(!c->files().empty());
  Compiled::PinnedPacks packs;
  GE_RETURN_IF_ERROR(packs.Pin(c));
  GE_ASSIGN_OR_RETURN(std::unique_ptr<Frame> frame, c->TakeFrame());
  const Status ran = c->program().Run(frame.get(), in->data(), out->data());
  const Status whole = c->files().Check();  // after all reads
  if (ran.code() == Code::kDataCorrupt || !whole.ok()) store->Lose(c->states_out, c->in_place);
  GE_RETURN_IF_ERROR(whole);
  GE_RETURN_IF_ERROR(ran);
  c->GiveFrame(std::move(frame));
  // What it wrote is not taken over, unless it has overwritten a state already.
  const bool committed =
      std::find(c->in_place.begin(), c->in_place.end(), true) != c->in_place.end();
  if (!committed) GE_RETURN_IF_ERROR(CheckInterrupt());
  store->Commit(c->states_out, c->in_place);
  return {};
}

}  // namespace ge
