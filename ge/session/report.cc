// What a session tells of itself: texts of graphs and plans, and the numbers of the latest plan.
#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "frontend/text/plan_text.h"
#include "frontend/text/text.h"
#include "ge/flow/flow.h"
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

namespace {

// Sums over plans.
struct Totals {
  std::map<std::string, uint64_t> engines, copies, streams;  // nodes; "host->devsim/sim"; launches
  uint64_t nodes = 0, transfers = 0, conversions = 0, segments = 0, copied = 0, packed = 0;
  int64_t arena = 0, live = 0;
  double compile_ms = 0, predicted_ns = 0;

  void Add(const Compiled& c) {
    const PlanFunction& fn = c.plan.functions[0];
    for (const PlanSegment& s : fn.segments) {
      (s.conversion >= 0 ? conversions : segments) += 1;
      for (const PlanOffer& o : s.offers) {
        engines[c.plan.engines[c.plan.devices[s.device].engine].name] += o.nodes.size();
        nodes += o.nodes.size();
      }
    }
    for (const Instruction& i : fn.code) {
      if (i.op == PlanOp::kCopy && fn.values[i.src].domain != fn.values[i.dst].domain) {
        ++transfers;
        ++copies[c.plan.domains[fn.values[i.src].domain].name + "->" +
                 c.plan.domains[fn.values[i.dst].domain].name];
      }
      if (i.op != PlanOp::kLaunch && i.op != PlanOp::kCopy) continue;
      const std::string& device = c.plan.devices[fn.streams[i.stream].device].name;
      ++streams[i.stream == 0 ? "host" : fmt::format("{}#{}", device, i.stream)];
    }
    for (int64_t b : c.check.arena_bytes) arena += b;
    for (int64_t b : c.check.max_live_bytes) live += b;
    copied += c.copied_constant_bytes, packed += c.packed_bytes;
    compile_ms += c.compile_ms, predicted_ns += c.plan.predicted_ns;
  }
};

}  // namespace

uint64_t Session::EvictedPlans() {
  std::lock_guard<std::mutex> lock(flow_mutex_);
  return evicted_.load(std::memory_order_relaxed) + (flow_ ? flow_->evicted() : 0);
}

Result<std::string> Session::ReportJson(std::string_view entry_name) {
  std::vector<std::shared_ptr<Compiled>> plans;
  if (FlowEntry(entry_name) != nullptr) {
    std::lock_guard<std::mutex> lock(flow_mutex_);
    for (const auto& piece : pieces_) {
      if (auto c = piece.lock()) plans.push_back(std::move(c));
    }
  } else if (auto c = Latest(entry_name)) {
    plans.push_back(std::move(c));
  } else {
    return Status(Code::kFailedPrecondition,
                  "nothing was compiled for this entry yet; compile or run it first");
  }
  Totals t;
  for (const auto& c : plans) t.Add(*c);
  nlohmann::json j;
  ProcessFacts facts = CurrentProcessFacts();
  static const char* const kIsa[] = {"native", "sse4.2", "avx2", "avx512"};
  j["load_ms"] = load_ms_, j["compile_ms"] = t.compile_ms;
  j["arena_bytes"] = t.arena, j["max_live_bytes"] = t.live;
  j["weight_bytes"] = weight_bytes_;
  j["copied_constant_bytes"] = import_copied_bytes_ + t.copied;
  j["packed_bytes"] = t.packed;
  j["nodes"] = t.nodes, j["segments"] = t.segments, j["transfers"] = t.transfers;
  j["transfers_by_way"] = t.copies, j["conversions"] = t.conversions;
  j["streams"] = t.streams;
  j["engines"] = t.engines;
  j["predicted_us"] = t.predicted_ns / 1e3;
  j["plans"] = plans.size();
  if (!plans.empty()) {
    j["place_method"] = plans[0]->plan.place_method;
    AddPrices(*plans[0], options_.build.prices.mode, &j);
  }
  j["replans"] = replans(), j["evicted"] = EvictedPlans();
  j["threads"] = facts.threads;
  j["isa"] = facts.isa_cap < 4 ? kIsa[facts.isa_cap] : "native";
  return j.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace ge
