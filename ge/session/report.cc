// What a session tells of itself: texts of graphs and plans, and the numbers of the latest plan.
#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "frontend/text/plan_text.h"
#include "frontend/text/text.h"
#include "ge/session/session.h"

namespace ge {
namespace {

std::string GraphText(const Graph& graph) {
  PrintOptions options;
  options.elide = true, options.show_ints = true;
  return PrintText(graph, options);
}

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
  j["offers_measured"] = c.measured.measured, j["offers_left"] = c.measured.left;
  j["measure_ms"] = c.measured.ms;
  j["plans_rehearsed"] = c.measured.plans, j["rehearsal_ms"] = c.measured.rehearsal_ms;
}

}  // namespace

Result<std::string> Session::DumpText(std::string_view entry_name, StageId stage,
                                      std::span<const TensorView> inputs) {
  if (!loaded_)
    return Status(Code::kFailedPrecondition, "the session has no model; load one first");
  if (stage == StageId::kLoad || stage == StageId::kVerify) return GraphText(loaded_graph_);
  if (stage == StageId::kInfer) {
    Graph inferred = loaded_graph_;
    GE_RETURN_IF_ERROR(InferOnly(&inferred));
    return GraphText(inferred);
  }
  if (stage == StageId::kRewrite) return GraphText(graph_);
  GE_ASSIGN_OR_RETURN(const Entry* entry, FindEntry(entry_name));
  GE_RETURN_IF_ERROR(CheckInputs(*entry, inputs));
  std::vector<StageTime> times;
  GE_ASSIGN_OR_RETURN(Graph bound, BindAndFold(*entry, inputs, &times));
  if (stage == StageId::kBind) return GraphText(bound);
  std::vector<StateId> in, out;
  GE_RETURN_IF_ERROR(LiftStates(&bound, entry->fn, &in, &out));
  BuildOptions options = options_.build;
  options.stop_after = stage;
  GE_ASSIGN_OR_RETURN(auto c, BuildCompiled(std::move(bound), entry->fn, engines_, options));
  c->plan.entry = entry->name;
  return PrintPlan(c->plan);
}

Result<std::string> Session::ReportJson(std::string_view entry_name) {
  std::shared_ptr<Compiled> c = Latest(entry_name);
  if (!c) {
    return Status(Code::kFailedPrecondition,
                  "nothing was compiled for this entry yet; compile or run it first");
  }
  const PlanFunction& fn = c->plan.functions[0];
  nlohmann::json j;
  std::map<std::string, uint64_t> engines;
  uint64_t nodes = 0, transfers = 0, conversions = 0, segments = 0;
  for (const PlanSegment& s : fn.segments) {
    if (s.conversion >= 0) ++conversions;
    if (s.conversion < 0) ++segments;
    for (const PlanOffer& o : s.offers) {
      engines[c->plan.engines[c->plan.devices[s.device].engine].name] += o.nodes.size();
      nodes += o.nodes.size();
    }
  }
  std::map<std::string, uint64_t> copies;  // "host->devsim/sim"
  for (const Instruction& i : fn.code) {
    if (i.op != PlanOp::kCopy || fn.values[i.src].domain == fn.values[i.dst].domain) continue;
    ++transfers;
    ++copies[c->plan.domains[fn.values[i.src].domain].name + "->" +
             c->plan.domains[fn.values[i.dst].domain].name];
  }
  std::map<std::string, uint64_t> on_stream;  // launches by stream
  for (const Instruction& i : fn.code) {
    if (i.op == PlanOp::kLaunch || i.op == PlanOp::kCopy) {
      ++on_stream[i.stream == 0
                      ? "host"
                      : fmt::format("{}#{}", c->plan.devices[fn.streams[i.stream].device].name,
                                    i.stream)];
    }
  }
  int64_t arena = 0, live = 0;
  for (int64_t b : c->check.arena_bytes) arena += b;
  for (int64_t b : c->check.max_live_bytes) live += b;
  ProcessFacts facts = CurrentProcessFacts();
  static const char* const kIsa[] = {"native", "sse4.2", "avx2", "avx512"};
  j["load_ms"] = load_ms_, j["compile_ms"] = c->compile_ms;
  j["arena_bytes"] = arena, j["max_live_bytes"] = live;
  j["weight_bytes"] = weight_bytes_;
  j["copied_constant_bytes"] = import_copied_bytes_ + c->copied_constant_bytes;
  j["packed_bytes"] = c->packed_bytes;
  j["nodes"] = nodes, j["segments"] = segments, j["transfers"] = transfers;
  j["transfers_by_way"] = copies, j["conversions"] = conversions;
  j["streams"] = on_stream;
  j["engines"] = engines;
  j["predicted_us"] = c->plan.predicted_ns / 1e3;
  j["place_method"] = c->plan.place_method;
  j["replans"] = replans();
  AddPrices(*c, options_.build.prices.mode, &j);
  j["threads"] = facts.threads;
  j["isa"] = facts.isa_cap < 4 ? kIsa[facts.isa_cap] : "native";
  return j.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace ge
