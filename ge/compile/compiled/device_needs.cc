#include "ge/compile/compiled/device_needs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace ge {
namespace {

constexpr uint64_t kMaxNeed = uint64_t{1} << 62;  // so that sums of three do not wrap

template <typename Name>
void AddNeed(DeviceNeed* need, uint64_t* sum, uint64_t bytes, const Name& name) {
  *sum += std::min(bytes, kMaxNeed - *sum);
  if (bytes <= need->largest_bytes) return;
  need->largest_bytes = bytes;
  need->largest = name();
}

// A state that is not overwritten where it lies has two values during a run.
void AddStatesTo(DeviceNeed* need, const Compiled& c) {
  const PlanFunction& f = c.plan.functions[0];
  std::map<StateId, std::pair<uint64_t, PlanValueId>> states;
  const auto see = [&](PlanValueId id, uint64_t copies) {
    const PlanValue& v = f.values[id];
    if (v.state == 0 || v.domain != need->domain) return;
    auto& [bytes, value] = states[v.state];
    bytes = std::max(bytes, copies * static_cast<uint64_t>(v.bytes));
    value = id;
  };
  for (const PlanValueId v : f.inputs) see(v, 1);
  for (const PlanValueId v : f.outputs) see(v, f.values[v].alias_of != 0 ? 1 : 2);
  for (const auto& entry : states) {
    AddNeed(need, &need->states, entry.second.first, [&] {
      const bool known = entry.first < c.graph.states.size();
      return fmt::format("state '{}'", known ? c.graph.states[entry.first].name
                                             : f.values[entry.second.second].name);
    });
  }
}

void AddPacksTo(DeviceNeed* need, const Compiled& c, const DomainAccount* account) {
  std::set<const Resident*> seen;
  for (const auto& of_segment : c.residents()) {
    for (const auto& pack : of_segment) {
      const DomainMemory* memory = pack->memory();
      if (memory == nullptr || memory->account().get() != account) continue;
      if (!seen.insert(pack.get()).second) continue;
      AddNeed(need, &need->packs, pack->bytes(), [&] { return pack->Title(); });
    }
  }
}

}  // namespace

std::vector<DeviceNeed> DeviceNeeds(const Compiled& c) {
  std::vector<DeviceNeed> needs;
  if (c.plan.functions.empty()) return needs;
  const PlanFunction& fn = c.plan.functions[0];
  for (DomainId d = 1; d < c.plan.domains.size(); ++d) {
    const PlanDomain& domain = c.plan.domains[d];
    const DomainMemory* memory = c.engines()[domain.engine - 1]->memory(domain.engine_device);
    DeviceNeed need{memory->name(), d, memory->counts().limit, 0, 0, 0, "", 0};
    for (const PlanArena& a : fn.arenas) {
      if (a.domain != d) continue;
      AddNeed(&need, &need.arena, static_cast<uint64_t>(a.bytes),
              [&] { return ArenaName(c.plan); });
    }
    AddPacksTo(&need, c, memory->account().get());
    AddStatesTo(&need, c);
    if (need.total() > 0) needs.push_back(std::move(need));
  }
  return needs;
}

}  // namespace ge
