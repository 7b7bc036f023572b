// A session with a compiled model, and the saving of one; see compiled_file.h.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ge/base/clock.h"
#include "ge/base/log.h"
#include "ge/base/mapping_faults.h"
#include "ge/compile/compiled/memory_limit.h"
#include "ge/compile/fold/folding.h"
#include "ge/infer/infer.h"
#include "ge/ops/defaults.h"
#include "ge/session/compiled_file.h"
#include "ge/session/session.h"
#include "ge/verify/verify.h"

namespace ge {
namespace {

// Verifies a graph whose function has states as its last results: one may be a result twice.
Status VerifyLifted(Graph* graph, FunctionId fn, size_t states) {
  if (fn >= graph->functions.size() || graph->fn(fn).results.size() < states) {
    return Status(Code::kDataCorrupt, "a saved graph has fewer results than states");
  }
  std::vector<ValueId>& results = graph->fn(fn).results;
  const std::vector<ValueId> all = results;
  for (const ValueId v : all) {
    if (v == 0 || v >= graph->fn(fn).values.size()) {
      return Status(Code::kDataCorrupt,
                    fmt::format("a saved graph has the result {}, which is no value", v));
    }
  }
  results.resize(all.size() - states);
  const Status verified = Verify(*graph);
  results = all;
  return verified;
}

}  // namespace

Status Session::OpenCompiled(std::shared_ptr<const CapsuleReader> capsule) {
  GE_ASSIGN_OR_RETURN(compiled_file_, CompiledFile::Open(std::move(capsule)));
  compiled_model_ = true;
  misfit_ = compiled_file_->MisfitOfOptions(*this);
  if (misfit_.empty()) {
    GE_RETURN_IF_ERROR(OpenPlanEngines());
    misfit_ = compiled_file_->MisfitOfEngines(plan_engines());
  }
  if (misfit_.empty()) return {};
  const std::string what =
      fmt::format("compiled model '{}' does not fit: {}", compiled_file_->path(), misfit_);
  if (options_.strict) {
    compiled_file_.reset();
    compiled_model_ = false;
    return Status(Code::kFailedPrecondition, what + "; compile it here, or leave out strict");
  }
  LogLine(1, what + "; it is planned anew");
  compiled_file_.reset();
  return {};
}

void Session::KnowFlows() {
  if (!compiled_file_) return;
  std::lock_guard<std::mutex> lock(flow_mutex_);
  for (const std::string& name : compiled_file_->index().in_pieces) {
    const Entry* entry = graph_.FindEntry(name);
    if (entry == nullptr) continue;
    flows_.insert(entry);
    has_flows_.store(true, std::memory_order_release);
  }
}

Status Session::CheckCompiled(Graph* graph, std::vector<StageTime>* times) {
  Runner runner(options_.build.runner);
  GE_RETURN_IF_ERROR(runner.RunStage(
      StageId::kVerify, [graph] { return Verify(*graph); }, [] { return Status(); }));
  GE_RETURN_IF_ERROR(runner.RunStage(
      StageId::kInfer, [graph] { return Infer(graph); }, [] { return Status(); }));
  *times = runner.times();
  return {};
}

Result<std::shared_ptr<Compiled>> Session::TakeSaved(const Entry& entry,
                                                     std::span<const TensorView> inputs) {
  if (!compiled_file_) return std::shared_ptr<Compiled>();
  const auto& plans = compiled_file_->index().plans;
  for (size_t i = 0; i < plans.size(); ++i) {
    const CompiledPlan& p = plans[i];
    const auto same = [](const CompiledShape& s, const TensorView& t) { return s.dims == t.dims; };
    if (!p.piece.empty() || p.entry != entry.name ||
        !std::equal(p.inputs.begin(), p.inputs.end(), inputs.begin(), inputs.end(), same)) {
      continue;
    }
    auto made = MakeSaved(entry, i);
    if (made.ok() || made.status().code() != Code::kFailedPrecondition || options_.strict) {
      return made;
    }
    misfit_ = made.status().message();
    LogLine(1, fmt::format("compiled model '{}': {}; it is planned anew", compiled_file_->path(),
                           misfit_));
    compiled_file_.reset();
    return std::shared_ptr<Compiled>();
  }
  GE_RETURN_IF_ERROR(TakeOthers(entry));
  return std::shared_ptr<Compiled>();
}

Status Session::TakeOthers(const Entry& entry) {
  const auto& plans = compiled_file_->index().plans;
  for (size_t i = 0; i < plans.size(); ++i) {
    if (!plans[i].piece.empty() || plans[i].entry != entry.name || saved_.count(i) != 0) continue;
    const Status made = MakeSaved(entry, i).status();
    // One that does not fit any more is none to be like.
    if (made.code() != Code::kFailedPrecondition || options_.strict) GE_RETURN_IF_ERROR(made);
  }
  return {};
}

// The entry's own inputs and outputs as the plan's graph has them, where these are the entry's.
Status Session::PortsOfSaved(const Function& f, const CompiledPlan& p, const Entry& entry,
                             std::vector<Compiled::Port>* ports_in,
                             std::vector<Compiled::Port>* ports_out) const {
  const Function& own = graph_.fn(entry.fn);
  const auto& in = p.states_in;
  const auto& out = p.states_out;
  const auto is_state = [&](StateId id) { return id > 0 && id < graph_.states.size(); };
  if (p.inputs.size() != own.params.size()) {
    return Status(Code::kDataCorrupt,
                  fmt::format("capsule '{}': member '{}': a plan of entry '{}' has {} inputs, "
                              "wanted {}",
                              compiled_file_->path(), kCompiledMember, entry.name, p.inputs.size(),
                              own.params.size()));
  }
  if (f.params.size() != own.params.size() + in.size() ||
      f.results.size() != own.results.size() + out.size() ||
      !std::all_of(in.begin(), in.end(), is_state) ||
      !std::all_of(out.begin(), out.end(), is_state)) {
    return Status(
        Code::kDataCorrupt,
        fmt::format("capsule '{}': member '{}' has {} inputs and {} outputs, wanted those "
                    "of entry '{}' and of its states",
                    compiled_file_->path(), p.graph, f.params.size(), f.results.size(),
                    entry.name));
  }
  *ports_in = Compiled::PortsOf(f, std::span(f.params).first(own.params.size()));
  *ports_out = Compiled::PortsOf(f, std::span(f.results).first(own.results.size()));
  for (size_t k = 0; k < ports_in->size(); ++k) {
    const bool same = (*ports_in)[k].dims == p.inputs[k].dims &&
                      (*ports_in)[k].dtype == own.value(own.params[k]).type.dtype;
    if (same) continue;
    return Status(Code::kDataCorrupt,
                  fmt::format("capsule '{}': member '{}': input '{}' is not of the type of entry "
                              "'{}'",
                              compiled_file_->path(), p.graph, (*ports_in)[k].name, entry.name));
  }
  return {};
}

Result<std::shared_ptr<Compiled>> Session::MakeSaved(const Entry& entry, size_t i) {
  const CompiledPlan& p = compiled_file_->index().plans[i];
  GE_ASSIGN_OR_RETURN(auto c, BuildSaved(i, [&](const Function& f, auto* in, auto* out) {
                        return PortsOfSaved(f, p, entry, in, out);
                      }));
  c->plan.entry = entry.name;
  return c;
}

Result<std::shared_ptr<Compiled>> Session::TakeSavedPiece(const std::string& key) {
  const auto& plans = compiled_file_->index().plans;
  const auto at = std::find_if(plans.begin(), plans.end(),
                               [&](const CompiledPlan& p) { return p.piece == key; });
  if (at == plans.end()) return std::shared_ptr<Compiled>();
  auto made = BuildSaved(static_cast<size_t>(at - plans.begin()),
                         [](const Function& f, auto* in, auto* out) {
                           *in = Compiled::PortsOf(f, f.params);
                           *out = Compiled::PortsOf(f, f.results);
                           return Status();
                         });
  if (made.ok() || made.status().code() != Code::kFailedPrecondition || options_.strict) {
    return made;
  }
  misfit_ = made.status().message();
  LogLine(1, fmt::format("compiled model '{}': {}; it is planned anew", compiled_file_->path(),
                         misfit_));
  return std::shared_ptr<Compiled>();
}

Result<std::shared_ptr<Compiled>> Session::BuildSaved(size_t i, const PortsOfPlan& ports) {
  const auto known = saved_.find(i);
  if (known != saved_.end()) return known->second;
  const double start = NowMs();
  const FaultScope faults;
  const FoldingScope folding(weight_bytes_);
  GE_ASSIGN_OR_RETURN(CompiledFile::Loaded loaded, compiled_file_->Load(i));
  const CompiledPlan& p = compiled_file_->index().plans[i];
  std::vector<StateId> in(p.states_in.begin(), p.states_in.end()),
      out(p.states_out.begin(), p.states_out.end());
  loaded.graph.ops = ops_;
  FillDefaults(&loaded.graph);
  GE_RETURN_IF_ERROR(VerifyLifted(&loaded.graph, loaded.fn, out.size()));
  GE_RETURN_IF_ERROR(InferAgain(&loaded.graph));
  GE_RETURN_IF_ERROR(ExpandSplats(&loaded.graph, MemoryLimitOf(options_.build)));
  std::vector<Compiled::Port> ports_in, ports_out;
  GE_RETURN_IF_ERROR(ports(loaded.graph.fn(loaded.fn), &ports_in, &ports_out));
  BuildOptions given = options_.build;
  given.saved = &loaded.plan;
  given.states = PairStates(in, out, ports_in.size(), ports_out.size());
  given.all_states = AllStates(in, out, ports_in.size(), ports_out.size());
  auto made = BuildCompiled(std::move(loaded.graph), loaded.fn, plan_engines(), given);
  GE_RETURN_IF_ERROR(files_.Check());
  if (made.status().code() == Code::kDataCorrupt) {
    return Status(Code::kDataCorrupt,
                  fmt::format("capsule '{}': member '{}': {}", compiled_file_->path(), p.plan,
                              made.status().message()));
  }
  GE_ASSIGN_OR_RETURN(auto c, std::move(made));
  ++placed_[static_cast<size_t>(c->placing)];
  ++compiles_;
  c->TakeStates(std::move(in), std::move(out));
  c->inputs = std::move(ports_in);
  c->outputs = std::move(ports_out);
  c->compile_ms = NowMs() - start;
  saved_[i] = c;
  return c;
}

Result<std::shared_ptr<Compiled>> Session::CompileToSave(std::string_view entry_name,
                                                         std::span<const TensorView> inputs) {
  GE_RETURN_IF_ERROR(Engines().status());  // with prices, which are among the options
  BuildOptions build = options_.build;
  build.apart = true;
  return CompileApart(entry_name, inputs, build);
}

std::vector<PlanToSave> Session::PiecesToSave() {
  std::vector<PlanToSave> out;
  std::set<std::string> seen;
  std::lock_guard<std::mutex> lock(flow_mutex_);
  for (const auto& piece : pieces_) {
    const std::shared_ptr<Compiled> c = piece.lock();
    if (c == nullptr || c->graph.functions.empty() || c->exact_key.empty()) continue;
    if (seen.insert(c->exact_key).second) out.push_back({"", c});
  }
  return out;
}

Status Session::SaveCompiled(const std::string& path) {
  if (!loaded_)
    return Status(Code::kFailedPrecondition, "the session has no model; load one first");
  std::vector<PlanToSave> plans;
  for (const Entry& entry : graph_.entries) {
    for (const auto& c : plans_.Of(&entry)) {
      // One that was shaped like another is shaped so again.
      if (!c->graph.functions.empty()) plans.push_back({entry.name, c});
    }
  }
  for (PlanToSave& piece : PiecesToSave()) plans.push_back(std::move(piece));
  if (plans.empty()) {
    return Status(Code::kFailedPrecondition,
                  "nothing was compiled for this model yet; compile or run it first");
  }
  SaveReport report;
  return SaveCompiledFile(this, plans, path, &report);
}

}  // namespace ge
