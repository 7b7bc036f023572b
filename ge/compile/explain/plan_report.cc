#include "ge/compile/explain/plan_report.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "ge/compile/explain/capture_report.h"
#include "ge/host/machine.h"

namespace ge {
namespace {

// Predicted beside measured, a segment each; measured_us is null where it was not timed by itself.
nlohmann::json SegmentTimes(const Plan& plan, const RunClock::Summary& seen) {
  nlohmann::json all = nlohmann::json::array();
  const auto& segments = plan.functions[0].segments;
  for (size_t s = 0; s < segments.size(); ++s) {
    nlohmann::json nodes = nlohmann::json::array(), measured;
    for (const PlanOffer& o : segments[s].offers) {
      for (NodeId n : o.nodes) nodes.push_back(n);
    }
    if (seen.segments[s].count > 0) measured = seen.segments[s].ns / 1e3;
    all.push_back({{"device", plan.devices[segments[s].device].name},
                   {"nodes", nodes},
                   {"predicted_us", segments[s].predicted_ns / 1e3},
                   {"measured_us", measured}});
  }
  return all;
}

void AddPrices(const Compiled& c, PriceMode mode, nlohmann::json* out) {
  nlohmann::json& j = *out;
  j["prices"] = PriceModeName(mode);
  j["measured_us"] = nullptr;  // of the runs that were timed
  if (c.clock) {
    const RunClock::Summary seen = c.clock->Read();
    if (seen.total.count > 0) j["measured_us"] = seen.total.ns / 1e3;
    j["segment_times"] = SegmentTimes(c.plan, seen);
  }
  j["recalled"] = c.recalled;
  if (mode != PriceMode::kMeasure) return;
  j["offers_measured"] = c.measured.measured;
  j["offers_left"] = c.measured.left;
  j["measure_ms"] = c.measured.ms;
  j["plans_rehearsed"] = c.measured.plans;
  j["rehearsal_ms"] = c.measured.rehearsal_ms;
}

// Sums over plans.
// What a run writes of states: whole new values, but of a cache that is appended to where it lies
// the new rows alone.
uint64_t StateBytesWritten(const Compiled& c) {
  const PlanFunction& f = c.plan.functions[0];
  std::map<PlanValueId, int64_t> rows;  // by cache
  for (const PlanSegment& s : f.segments) {
    if (s.appends) rows[s.outputs[0]] = f.values[s.inputs.back()].bytes;
  }
  const size_t own = f.outputs.size() - std::min(f.outputs.size(), c.states_out.size());
  uint64_t sum = 0;
  for (size_t i = own; i < f.outputs.size(); ++i) {
    const auto appended = rows.find(f.outputs[i]);
    const PlanValue& v = f.values[f.outputs[i]];
    sum += static_cast<uint64_t>(appended != rows.end() ? appended->second : v.bytes);
  }
  return sum;
}

struct Totals {
  std::map<std::string, uint64_t> engines, copies, streams;  // nodes; "host->devsim/sim"; launches
  uint64_t nodes = 0, transfers = 0, transfer_bytes = 0, conversions = 0, segments = 0, copied = 0,
           packed = 0, filled = 0, state_written = 0, rounded = 0;
  std::set<const Resident*> residents;
  int64_t arena = 0, live = 0;
  double compile_ms = 0, predicted_ns = 0;

  void Add(const Compiled& c) {
    const PlanFunction& fn = c.plan.functions[0];
    for (const PlanSegment& s : fn.segments) {
      (s.conversion >= 0 ? conversions : segments) += 1;
      for (const PlanOffer& o : s.offers) {
        engines[c.plan.engines[c.plan.devices[s.device].engine].name] += o.nodes.size();
        nodes += o.nodes.size();
        if (o.rounds) rounded += o.nodes.size();
      }
    }
    for (const Instruction& i : fn.code) {
      if (i.op == PlanOp::kCopy && fn.values[i.src].domain != fn.values[i.dst].domain) {
        ++transfers;
        transfer_bytes += static_cast<uint64_t>(fn.values[i.src].bytes);
        ++copies[c.plan.domains[fn.values[i.src].domain].name + "->" +
                 c.plan.domains[fn.values[i.dst].domain].name];
      }
      if (i.op != PlanOp::kLaunch && i.op != PlanOp::kCopy) continue;
      const std::string& device = c.plan.devices[fn.streams[i.stream].device].name;
      ++streams[i.stream == 0 ? "host" : fmt::format("{}#{}", device, i.stream)];
    }
    state_written += StateBytesWritten(c);
    for (int64_t b : c.check.arena_bytes) arena += b;
    for (int64_t b : c.check.max_live_bytes) live += b;
    copied += c.copied_constant_bytes;
    filled += c.filled_bytes;
    packed += c.packed_bytes;
    for (const auto& packs : c.residents()) {
      for (const auto& resident : packs) {
        if (residents.insert(resident.get()).second) packed += resident->bytes();
      }
    }
    compile_ms += c.compile_ms;
    predicted_ns += c.plan.predicted_ns;
  }
};

}  // namespace

nlohmann::json PlanReport(const std::vector<std::shared_ptr<Compiled>>& plans, PriceMode mode) {
  Totals t;
  for (const auto& c : plans) t.Add(*c);
  nlohmann::json j;
  j["compile_ms"] = t.compile_ms;
  j["arena_bytes"] = t.arena;
  j["max_live_bytes"] = t.live;
  j["copied_constant_bytes"] = t.copied;
  j["packed_bytes"] = t.packed;
  j["filled_bytes"] = t.filled;
  j["state_bytes_written"] = t.state_written;
  j["nodes"] = t.nodes;
  j["segments"] = t.segments;
  j["transfers"] = t.transfers;
  j["transfer_bytes"] = t.transfer_bytes;
  j["rounded_nodes"] = t.rounded;
  j["transfers_by_way"] = t.copies;
  j["conversions"] = t.conversions;
  j["streams"] = t.streams;
  j["captures"] = CaptureReport(plans);
  j["engines"] = t.engines;
  j["predicted_us"] = t.predicted_ns / 1e3;
  j["plans"] = plans.size();
  if (!plans.empty()) {
    j["place_method"] = plans[0]->plan.place_method;
    j["searches"] = plans[0]->plan.searches;
    AddPrices(*plans[0], mode, &j);
  }
  return j;
}

void AddProcess(nlohmann::json* json) {
  static const char* const kIsa[] = {"native", "sse4.2", "avx2", "avx512"};
  const ProcessFacts facts = CurrentProcessFacts();
  (*json)["threads"] = facts.threads;
  (*json)["isa"] = facts.isa_cap < 4 ? kIsa[facts.isa_cap] : "native";
  const ComputePool::Counts pool = HostPool()->counts();
  (*json)["forks"] = pool.forks;
  (*json)["team_forks"] = pool.teams;
  (*json)["parks"] = pool.parks;
  (*json)["wakes"] = pool.wakes;
  const ResidentStore::Counts residents = ResidentStore::OfProcess().counts();
  (*json)["residents"] = residents.residents;
  (*json)["resident_bytes"] = residents.bytes;
  (*json)["resident_bytes_present"] = residents.present_bytes;
  (*json)["fills"] = residents.fills;
  (*json)["packs_mapped"] = residents.mapped;
  (*json)["queries"] = QueriesMade();
}

}  // namespace ge
