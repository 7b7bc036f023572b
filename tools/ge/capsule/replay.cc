// ge replay F.gecap: repeats a recorded run and compares every value that the capsule has.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "ge/capsule/graph_members.h"
#include "ge/capsule/manifest.h"
#include "ge/capsule/statistics.h"
#include "ge/capsule/tensor_members.h"
#include "ge/engine/engine_list.h"
#include "ge/run/observer.h"
#include "ge/session/observed_values.h"
#include "ge/session/recorder.h"
#include "tools/ge/capsule/comparison.h"
#include "tools/ge/capsule/expected.h"
#include "tools/ge/capsule/lockstep.h"
#include "tools/ge/capsule/recorded.h"
#include "tools/ge/capsule/remade.h"
#include "tools/ge/capsule/replay_pieces.h"
#include "tools/ge/command.h"

namespace ge::tool {
namespace {

// Compares what a run makes with what the capsule has.
class Comparison : public RunObserver {
 public:
  // `bits` and `rtol` as of TensorComparison.
  Comparison(const CapsuleReader& capsule, const CapsuleManifest& manifest, bool bits, double rtol)
      : capsule_(capsule), manifest_(manifest), tensors_(capsule, manifest, bits, rtol) {
    for (const CapsuleTensor& t : manifest.values) {
      by_value_.try_emplace({t.plan_value, t.graph_value}, &t);
    }
  }
  TensorComparison& tensors() { return tensors_; }
  // Called before the run. `by_name`: the plan is another one, whose values are those of the same
  // names.
  Status Watch(const Compiled& compiled, bool by_name) {
    for (const CapsuleTensor& t : manifest_.values) {
      if (by_name) by_name_.try_emplace(t.name, &t);
    }
    observed_ = std::make_unique<ObservedValues>(compiled, compiled.graph.fn(compiled.fn), true);
    GE_ASSIGN_OR_RETURN(const auto recorded, ReadStatistics(capsule_));
    states_bytes_ = compiled.states_out_bytes;
    for (const TensorStatistics& s : recorded) statistics_[s.value] = s;
    return {};
  }

  void AfterStep(uint32_t index, uint32_t step, const ge_launch& launch) override {
    observed_->AfterStep(index, step, launch, take_);
  }
  void After(uint32_t index, std::span<const ge_buf> written, bool queued) override {
    observed_->After(index, written, queued, take_);
  }
  void End(std::span<void* const> states) override {
    for (size_t i = 0; i < states.size() && i < manifest_.states_after.size(); ++i) {
      const CapsuleTensor& t = manifest_.states_after[i];
      const uint64_t bytes = states_bytes_[i];
      Take(t, {static_cast<const std::byte*>(states[i]), bytes});
    }
  }
  void TakeOutputs(std::span<const TensorView> outputs) {
    for (size_t i = 0; i < outputs.size() && i < manifest_.outputs.size(); ++i) {
      Take(manifest_.outputs[i],
           {static_cast<const std::byte*>(outputs[i].data), outputs[i].bytes});
    }
  }

 private:
  void Take(const CapsuleTensor& t, std::span<const std::byte> found) {
    if (!t.member.empty()) return tensors_.Take(t, found);
    const auto wanted = statistics_.find(static_cast<uint32_t>(&t - manifest_.values.data()));
    if (wanted != statistics_.end()) tensors_.TakeStatistics(t, wanted->second, found);
  }
  const CapsuleTensor* RecordedOf(const CapsuleTensor& t) const {
    if (!by_name_.empty()) {
      const auto named = by_name_.find(t.name);
      const bool like = named != by_name_.end() && named->second->dtype == t.dtype &&
                        named->second->dims == t.dims;
      return like ? named->second : nullptr;
    }
    const auto found = by_value_.find({t.plan_value, t.graph_value});
    return found == by_value_.end() ? nullptr : found->second;
  }

  const CapsuleReader& capsule_;
  const CapsuleManifest& manifest_;
  TensorComparison tensors_;
  std::unique_ptr<ObservedValues> observed_;
  const ObservedValues::Take take_ = [this](size_t index, std::span<const std::byte> found) {
    const CapsuleTensor* wanted = RecordedOf(observed_->list()[index]);
    if (wanted != nullptr) Take(*wanted, found);
  };
  std::map<std::pair<uint32_t, uint32_t>, const CapsuleTensor*> by_value_;
  std::map<std::string, const CapsuleTensor*> by_name_;
  std::map<uint32_t, TensorStatistics> statistics_;  // by position in manifest_.values
  std::vector<uint64_t> states_bytes_;               // that the plan writes
};

// Engines, instruction set and threads of the recorded run.
bool IsSameMachine(const CapsuleManifest& m, const Plan& plan, const CapsuleManifest& here) {
  if (m.isa != here.isa || m.threads != here.threads) return false;
  std::vector<std::string> hashes;
  for (size_t i = 1; i < plan.engines.size(); ++i) hashes.push_back(plan.engines[i].plugin_hash);
  if (hashes.size() != m.engines.size()) return false;
  for (size_t i = 0; i < hashes.size(); ++i) {
    if (hashes[i].empty() || hashes[i] != m.engines[i].hash) return false;
  }
  return true;
}

// Of all runs: the first that is wrong, else the last one.
struct Replayed {
  std::unique_ptr<Comparison> comparison;
  uint32_t run = 0, runs = 0, wrong = 0;
  bool same_machine = false;
};

void PrintReplay(const Options& o, const Replayed& found) {
  const TensorComparison& c = found.comparison->tensors();
  if (o.json) {
    nlohmann::json j = {{"capsule", o.model},       {"compared", c.compared()},
                        {"equal", c.equal()},       {"same_machine", found.same_machine},
                        {"right", c.right()},       {"runs", found.runs},
                        {"wrong_runs", found.wrong}};
    AddDifferences(c, &j);
    fmt::print("{}\n", j.dump(2));
    return;
  }
  if (found.runs > 1) {
    fmt::print("{}: {} of {} runs are wrong{}\n", o.model, found.wrong, found.runs,
               found.wrong ? fmt::format(", the first is run {}", found.run) : "");
  }
  fmt::print("{}: {} of {} values are equal bit for bit{}\n", o.model, c.equal(), c.compared(),
             RestText(c));
  PrintDifferences(c);
}

// The plan of the recorded run, or another one where nodes are pinned elsewhere, or of the model.
Result<std::shared_ptr<Compiled>> PlanOf(const Recorded& r, const Options& o, bool from_plan,
                                         std::span<const TensorView> inputs, Session* session) {
  BuildOptions build = from_plan ? BuildLikeRecorded(*session, r) : session->build_options();
  if (!o.pins.empty()) build.place = session->build_options().place;
  if (from_plan) return RemakePlan(r, inputs, build, session);
  GE_ASSIGN_OR_RETURN(Graph model, ModelToReplay(r, false));
  GE_RETURN_IF_ERROR(session->LoadGraph(std::move(model)));
  return session->CompileApart(r.manifest.entry, inputs, build);
}

Status RunAgain(const Recorded& r, const Options& o, bool from_plan, Replayed* out) {
  GE_ASSIGN_OR_RETURN(SessionOptions options, SessionOptionsOf(o));
  GE_RETURN_IF_ERROR(UseRecordedMachine(r, &options));
  GE_ASSIGN_OR_RETURN(auto created, Session::Create(std::move(options)));
  SignalledSession session(std::move(created));
  GE_ASSIGN_OR_RETURN(const std::vector<TensorView> inputs, RecordedInputs(r));
  GE_ASSIGN_OR_RETURN(const auto compiled, PlanOf(r, o, from_plan, inputs, session.get()));
  const bool moved = !o.pins.empty();
  out->same_machine =
      from_plan && !moved && IsSameMachine(r.manifest, compiled->plan, AboutThisProcess(o));
  GE_ASSIGN_OR_RETURN(OutputBuffers outputs, MakeOutputs(*compiled));
  for (out->runs = 0; out->runs < o.runs;) {
    auto comparison =
        std::make_unique<Comparison>(*r.capsule, r.manifest, out->same_machine, o.rtol);
    GE_RETURN_IF_ERROR(comparison->Watch(*compiled, moved));
    comparison->tensors().SetModel(session->loaded_graph());
    GE_RETURN_IF_ERROR(SetStates(r, session.get()));  // which a run changes
    RunObserver* observer = from_plan ? comparison.get() : nullptr;
    GE_RETURN_IF_ERROR(session->RunApart(compiled.get(), inputs, outputs.views, observer));
    comparison->TakeOutputs(outputs.views);
    GE_RETURN_IF_ERROR(comparison->tensors().status());
    ++out->runs;
    const bool first_wrong = !comparison->tensors().right() && out->wrong++ == 0;
    if (!first_wrong && out->wrong > 0) continue;
    out->comparison = std::move(comparison);
    out->run = out->runs;
  }
  return {};
}

void PrintExpectation(const Options& o, const Expectation& e) {
  const std::string left =
      e.unknown.empty()
          ? ""
          : fmt::format(", {} names are not among the recorded ones", e.unknown.size());
  if (o.json) {
    nlohmann::json j = {{"capsule", o.model},
                        {"compared", e.compared},
                        {"right", e.differing.empty()},
                        {"unknown", e.unknown}};
    if (!e.differing.empty()) j["first"] = DifferenceJson(e.differing[0]);
    fmt::print("{}\n", j.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
    return;
  }
  fmt::print("{}: {} of {} expected values are within the bounds of their types{}\n", o.model,
             e.compared - e.differing.size(), e.compared, left);
  if (!e.differing.empty()) PrintDifference("first", e.differing[0]);
}

// The recorded values beside the expected ones; nothing is run.
Status CompareWithExpected(const Recorded& r, const Options& o, int* code) {
  GE_ASSIGN_OR_RETURN(const Npz expected, ReadNpz(o.expect));
  GE_ASSIGN_OR_RETURN(const Expectation found, CompareExpected(r, expected, o.rtol));
  PrintExpectation(o, found);
  *code = found.differing.empty() ? 0 : 1;
  return {};
}

// Whether the engines asked for have all those of the recorded plan. A path does not tell a name.
bool HasEnginesOfPlan(const Options& asked, const Plan& plan) {
  if (asked.engines.empty() || asked.engines.find('/') != std::string::npos) return true;
  const auto listed = ParseEngineList(asked.engines);
  if (!listed.ok() || plan.functions.empty()) return true;
  for (const PlanSegment& segment : plan.functions[0].segments) {
    if (segment.offers.empty()) continue;
    const std::string& name = plan.engines[plan.devices[segment.device].engine].name;
    if (std::none_of(listed->begin(), listed->end(),
                     [&](const EngineSpec& e) { return e.name == name; })) {
      return false;
    }
  }
  return true;
}

Status ReplayCapsule(const Options& asked, int* code) {
  if (!asked.from.empty() && asked.from != "plan" && asked.from != "load") {
    return Status(Code::kInvalidArgument,
                  fmt::format("--from is '{:.64}', wanted load or plan", asked.from));
  }
  if (asked.lockstep && !asked.expect.empty()) {
    return Status(Code::kInvalidArgument,
                  "--lockstep compares with an engine and --expect with a file; leave one out");
  }
  GE_ASSIGN_OR_RETURN(const Recorded r, OpenRecorded(asked.model, false));
  const Options o = OptionsLike(asked, r.manifest);
  if (!o.expect.empty()) return CompareWithExpected(r, o, code);
  if (r.manifest.in_pieces && !o.lockstep) return ReplayPieces(o, r, code);
  if (asked.from == "plan" || asked.lockstep) GE_RETURN_IF_ERROR(WantPlan(r));
  if (o.lockstep) return RunLockstep(r, asked, code);
  Replayed found;
  const bool from_plan = o.from == "plan" || (o.from.empty() && !r.manifest.plan.empty() &&
                                              HasEnginesOfPlan(asked, r.plan));
  GE_RETURN_IF_ERROR(RunAgain(r, o, from_plan, &found));
  PrintReplay(o, found);
  *code = found.wrong == 0 ? 0 : 1;
  return {};
}

}  // namespace

int Replay(const Options& options) {
  int code = 0;
  const Status status = ReplayCapsule(options, &code);
  return status.ok() ? code : Fail(status);
}

}  // namespace ge::tool
