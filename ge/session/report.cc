// What a session tells of itself: texts of graphs and plans, and the numbers of the latest plan.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "frontend/text/plan_text.h"
#include "frontend/text/text.h"
#include "ge/base/mapping_faults.h"
#include "ge/compile/compiled/kept_run.h"
#include "ge/compile/explain/plan_report.h"
#include "ge/control/flow.h"
#include "ge/domain/host_copies.h"
#include "ge/infer/infer.h"
#include "ge/run/tensor_view.h"
#include "ge/session/session.h"
#include "ge/verify/verify.h"

namespace ge {
namespace {

// What lies in devices' memory now, of all sessions that share these engines: one record a memory.
nlohmann::json DeviceMemory(const EngineList& engines) {
  nlohmann::json list = nlohmann::json::array();
  std::set<const DomainAccount*> seen;
  for (const auto& engine : engines) {
    for (uint32_t d = 0; d < engine->devices().size(); ++d) {
      for (uint32_t i = 0; i < engine->devices()[d].domains.size(); ++i) {
        const DomainMemory* memory = engine->memory(d, i);
        if (memory == nullptr || !seen.insert(memory->account().get()).second) continue;
        const DomainAccount::Counts c = memory->counts();
        list.push_back({{"memory", memory->name()},
                        {"arena_bytes", c.arenas},
                        {"pack_bytes", c.packs},
                        {"state_bytes", c.states},
                        {"peak_bytes", c.peak}});
        if (c.limit != 0) list.back()["limit_bytes"] = c.limit;
      }
    }
  }
  return list;
}

}  // namespace

// The plans that runs have made of an entry which is planned piece by piece.
Result<std::string> Session::PiecesText(std::string_view entry_name) {
  const auto pieces = Pieces();
  if (pieces.empty()) {
    return Status(
        Code::kFailedPrecondition,
        fmt::format("entry '{}' is planned piece by piece, as runs need it, and none of its "
                    "runs has planned a piece so far; run it first",
                    entry_name));
  }
  std::string text;
  for (size_t i = 0; i < pieces.size(); ++i) {
    text += fmt::format("{}# piece {} of {}, of function '{}'\n", i == 0 ? "" : "\n", i + 1,
                        pieces.size(), pieces[i]->plan.functions[0].name);
    text += PrintPlan(pieces[i]->plan);
  }
  return text;
}

Result<std::string> Session::DumpText(std::string_view entry_name, StageId stage,
                                      std::span<const TensorView> inputs) {
  const FaultScope faults(!files_.empty());
  auto text = StageText(entry_name, stage, inputs);
  GE_RETURN_IF_ERROR(files_.Check());
  return text;
}

Result<std::string> Session::StageText(std::string_view entry_name, StageId stage,
                                       std::span<const TensorView> inputs) {
  if (!loaded_)
    return Status(Code::kFailedPrecondition, "the session has no model; load one first");
  if (stage == StageId::kLoad || stage == StageId::kVerify)
    return PrintText(loaded_graph_, kForPeople);
  if (stage == StageId::kInfer) {
    Graph inferred = loaded_graph_;
    GE_RETURN_IF_ERROR(Verify(inferred));
    GE_RETURN_IF_ERROR(Infer(&inferred));
    return PrintText(inferred, kForPeople);
  }
  if (stage == StageId::kRewrite) return PrintText(graph_, kForPeople);
  GE_RETURN_IF_ERROR(Engines().status());
  GE_ASSIGN_OR_RETURN(const Entry* entry, FindEntry(entry_name));
  if (stage != StageId::kBind && FlowEntry(entry_name) != nullptr) return PiecesText(entry->name);
  GE_RETURN_IF_ERROR(CheckInputs(graph_, *entry, inputs));
  KvCaches::Turn turn;
  GE_RETURN_IF_ERROR(caches_.Begin(graph_, *entry, inputs, &turn));
  inputs = turn.inputs();
  std::vector<StageTime> times;
  GE_ASSIGN_OR_RETURN(const auto model, WholeModel(*entry, inputs));
  auto made = BindAndFold({model}, *entry, inputs, &times);
  GE_RETURN_IF_ERROR(OfTwoSizes({model}, *entry, inputs, made.status()));
  Graph bound = *std::move(made);
  if (stage == StageId::kBind) return PrintText(bound, kForPeople);
  BuildOptions options = options_.build;
  options.stop_after = stage;
  GE_ASSIGN_OR_RETURN(auto c, CompileBound(std::move(bound), entry->fn, options));
  c->plan.entry = entry->name;
  return PrintPlan(c->plan);
}

uint64_t Session::EvictedPlans() {
  std::lock_guard<std::mutex> lock(flow_mutex_);
  return plans_.evicted() + (flow_ ? flow_->evicted() : 0);
}

uint64_t Session::FlowCuts() {
  std::lock_guard<std::mutex> lock(flow_mutex_);
  return flow_ ? flow_->cuts() : 0;
}

std::vector<std::shared_ptr<Compiled>> Session::Pieces() {
  std::lock_guard<std::mutex> lock(flow_mutex_);
  std::vector<std::shared_ptr<Compiled>> plans;
  for (const auto& piece : pieces_) {
    if (auto c = piece.lock()) plans.push_back(std::move(c));
  }
  return plans;
}

Result<std::string> Session::ReportJson(std::string_view entry_name) {
  std::vector<std::shared_ptr<Compiled>> plans;
  if (FlowEntry(entry_name) != nullptr) {
    plans = Pieces();
  } else if (auto c = Latest(entry_name)) {
    plans.push_back(std::move(c));
  } else {
    return Status(Code::kFailedPrecondition,
                  "nothing was compiled for this entry yet; compile or run it first");
  }
  nlohmann::json j = PlanReport(plans, options_.build.prices.mode);
  j["load_ms"] = load_ms_;
  j["weight_bytes"] = weight_bytes_;
  j["copied_constant_bytes"] = import_copied_bytes_ + j["copied_constant_bytes"].get<uint64_t>();
  j["replans"] = replans();
  j["evicted"] = EvictedPlans();
  j["compiles"] = compiles_.load() + flow_plans_.load();
  j["flow_plans"] = flow_plans_.load();
  j["plans_searched"] = placed_[0].load();
  j["plans_by_class"] = placed_[1].load();
  j["plans_shaped"] = placed_[2].load();
  j["plans_saved"] = placed_[3].load();
  j["open_engines"] = OpenEngineNames();
  if (!misfit_.empty()) j["incompatible"] = misfit_;
  j["flow_cuts"] = FlowCuts();
  j["flow_programs"] = flow_programs_.load();
  j["classes"] = classes_.classes();
  j["covers"] = classes_.covers();
  j["state_bytes"] = states_.bytes();
  j["state_device_bytes"] = states_.device_bytes();
  j["state_moves"] = states_.moves();
  j["device_memory"] = DeviceMemory(OpenOnes());
  j["lost_devices"] = nlohmann::json::array();
  for (const auto& e : OpenOnes()) {
    for (const auto& [device, why] : e->Losses()) {
      j["lost_devices"].push_back(
          {{"engine", e->name()}, {"device", e->devices()[device].name}, {"why", why}});
    }
  }
  j["repeated_runs"] = repeated_runs();
  j["kept_runs"] = KeptRuns();
  j["kept_copies"] = KeptCopies();
  AddProcess(&j);
  return j.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace ge
