#include "ge/compile/compiled/execute.h"

#include <algorithm>

#include "ge/base/aligned.h"
#include "ge/base/interrupt.h"
#include "ge/base/mapping_faults.h"
#include "ge/host/machine.h"

namespace ge {
namespace {

// In host memory: the given addresses, or copies of what lies in devices' memory.
struct HostStates {
  std::vector<void*> at;
  std::vector<AlignedBytes> copies;

  Status Take(std::span<const void* const> given, std::span<const StateHome> homes,
              std::span<const uint64_t> bytes) {
    for (size_t i = 0; i < given.size(); ++i) {
      at.push_back(const_cast<void*>(given[i]));
      if (homes.empty() || homes[i].at_host()) continue;
      AlignedBytes copy = AllocateAligned(bytes[i], 64);
      if (!copy) return Status(Code::kResourceExhausted, "no memory to show a state in");
      at.back() = copy.get();
      copies.push_back(std::move(copy));
      const auto& place = *static_cast<const DevicePlace*>(given[i]);
      GE_RETURN_IF_ERROR(CopyOutOf(homes[i], place, at.back(), bytes[i]));
    }
    return {};
  }
};

Status TellBegin(const Compiled& c, std::span<const void* const> in, RunObserver* observer) {
  HostStates states;
  GE_RETURN_IF_ERROR(states.Take(in.last(c.states_in.size()), c.states_in_home, c.states_in_bytes));
  const std::vector<const void*> shown(states.at.begin(), states.at.end());
  observer->Begin(shown);
  return {};
}

Status TellEnd(const Compiled& c, std::span<void* const> out, RunObserver* observer) {
  HostStates states;
  const std::vector<const void*> written(out.begin(), out.end());
  GE_RETURN_IF_ERROR(states.Take(std::span(written).last(c.states_out.size()), c.states_out_home,
                                 c.states_out_bytes));
  observer->End(states.at);
  return {};
}

Status InFlight(const Status& ran) {
  return Status(ran.code(), ran.message() +
                                "; a device has not ended its work for this run and may still use "
                                "the buffers that were given for it: keep them, and give others")
      .AtNode(ran.node());
}

}  // namespace

Status ExecutePlan(Compiled* compiled, StateStore* store, std::vector<const void*>* in,
                   std::vector<void*>* out, RunObserver* observer, std::shared_ptr<KeptRun>* kept) {
  StateStore::Access states;
  GE_RETURN_IF_ERROR(store->Begin(compiled->states_in, compiled->states_out, compiled->in_place,
                                  &states, in, out, compiled->states_in_bytes,
                                  compiled->states_out_bytes, compiled->states_in_home,
                                  compiled->states_out_home));
  // On a device runs wait for it, not for the cores.
  ComputePool::InFlight run;
  if (compiled->plan.functions[0].streams.size() <= 1) GE_RETURN_IF_ERROR(run.Begin(HostPool()));
  const FaultScope faults(!compiled->files().empty());
  Compiled::PinnedPacks packs;
  GE_RETURN_IF_ERROR(packs.Pin(compiled));
  GE_ASSIGN_OR_RETURN(std::unique_ptr<Frame> frame, compiled->TakeFrame());
  if (observer != nullptr) [[unlikely]] {
    GE_RETURN_IF_ERROR(TellBegin(*compiled, *in, observer));
  }
  const Status ran = compiled->program().Run(frame.get(), in->data(), out->data(), observer);
  const Status whole = compiled->files().Check();  // after all reads
  if (ran.code() == Code::kDataCorrupt || !whole.ok())
    store->Lose(compiled->states_out, compiled->in_place);
  if (frame->in_flight()) [[unlikely]] {
    auto run = KeepRun(compiled->shared_from_this(), std::move(packs), std::move(frame));
    store->Leave(compiled->states_in, compiled->states_out, compiled->in_place, &run->states);
    if (kept != nullptr) *kept = std::move(run);
    return InFlight(ran);
  }
  GE_RETURN_IF_ERROR(whole);
  GE_RETURN_IF_ERROR(ran);
  if (observer != nullptr) [[unlikely]] {
    GE_RETURN_IF_ERROR(TellEnd(*compiled, *out, observer));
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
