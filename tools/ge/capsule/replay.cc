// ge replay F.gecap: repeats a recorded run and compares every value that the capsule has.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "frontend/text/plan_text.h"
#include "ge/capsule/graph_members.h"
#include "ge/capsule/manifest.h"
#include "ge/capsule/statistics.h"
#include "ge/capsule/tensor_members.h"
#include "ge/host/machine.h"
#include "ge/place/placed.h"
#include "ge/run/observer.h"
#include "ge/session/observed_values.h"
#include "ge/session/recorder.h"
#include "tools/ge/capsule/differences.h"
#include "tools/ge/capsule/recorded.h"
#include "tools/ge/capsule/replay_pieces.h"
#include "tools/ge/command.h"

namespace ge::tool {
namespace {

constexpr char kRecorded[] = "replayed";  // the plan's method where the recorded cover was taken

struct Compared {
  CapsuleTensor tensor;
  Difference difference;
  bool within = true;  // the bound
};

// Compares what a run makes with what the capsule has.
class Comparison : public RunObserver {
 public:
  // `bits`: nothing but the same bits will do. `rtol` below 0: the bound of the type.
  Comparison(const CapsuleReader& capsule, const CapsuleManifest& manifest, bool bits, double rtol)
      : capsule_(capsule), manifest_(manifest), bits_(bits), rtol_(rtol) {
    for (const CapsuleTensor& t : manifest.values) {
      by_value_.try_emplace({t.plan_value, t.graph_value}, &t);
    }
  }
  // Called before the run.
  Status Watch(const Compiled& compiled) {
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

  const Status& status() const { return status_; }
  uint64_t compared() const { return compared_; }
  uint64_t equal() const { return compared_ - differing_.size(); }
  const std::vector<Compared>& differing() const { return differing_; }  // in their order
  bool right() const {
    for (const Compared& c : differing_) {
      if (!c.within) return false;
    }
    return true;
  }
  const Compared& worst() const {
    const Compared* worst = &differing_[0];
    for (const Compared& c : differing_) {
      if (c.difference.relative() > worst->difference.relative()) worst = &c;
    }
    return *worst;
  }

 private:
  // Where statistics alone were recorded, the checksum decides, and extremes say how far.
  void TakeStatistics(const CapsuleTensor& t, std::span<const std::byte> found) {
    const auto wanted = statistics_.find(static_cast<uint32_t>(&t - manifest_.values.data()));
    if (wanted == statistics_.end()) return;
    ++compared_;
    const TensorStatistics &w = wanted->second, f = StatisticsOf(t.dtype, found);
    if (w.crc32 == f.crc32) return;
    Difference d;
    d.elements = f.elements;
    d.differing = 1;  // at the least
    d.largest = std::max(std::fabs(w.min), std::fabs(w.max));
    d.greatest =
        std::max({std::fabs(w.min - f.min), std::fabs(w.max - f.max), std::fabs(w.mean - f.mean)});
    d.unlike = w.nan != f.nan || w.inf != f.inf || w.elements != f.elements ? 1 : 0;
    Judge(t, d);
  }

  void Take(const CapsuleTensor& t, std::span<const std::byte> found) {
    if (t.member.empty()) return TakeStatistics(t, found);
    if (!capsule_.Has(t.member)) return;  // the recorded run ended before it
    const auto wanted = ReadTensorMember(capsule_, t);
    if (!wanted.ok()) {
      if (status_.ok()) status_ = wanted.status();
      return;
    }
    ++compared_;
    if (wanted->size() != found.size()) {
      Compared c{t, {}, false};
      c.difference.unlike = c.difference.differing = c.difference.elements = wanted->size();
      differing_.push_back(std::move(c));
      return;
    }
    const Difference d = DifferenceOf(t.dtype, found, *wanted);
    if (!d.equal()) Judge(t, d);
  }

  void Judge(const CapsuleTensor& t, const Difference& d) {
    const double bound = rtol_ >= 0 ? rtol_ : RelativeBound(t.dtype, manifest_.precision == "bf16");
    const bool within = !bits_ && RelativeBound(t.dtype) > 0 && d.relative() <= bound;
    differing_.push_back({t, d, within});
  }

  const CapsuleReader& capsule_;
  const CapsuleManifest& manifest_;
  const bool bits_;
  const double rtol_;
  std::unique_ptr<ObservedValues> observed_;
  const ObservedValues::Take take_ = [this](size_t index, std::span<const std::byte> found) {
    const CapsuleTensor& t = observed_->list()[index];
    const auto wanted = by_value_.find({t.plan_value, t.graph_value});
    if (wanted != by_value_.end()) Take(*wanted->second, found);
  };
  std::map<std::pair<uint32_t, uint32_t>, const CapsuleTensor*> by_value_;
  std::map<uint32_t, TensorStatistics> statistics_;  // by position in manifest_.values
  std::vector<uint64_t> states_bytes_;               // that the plan writes
  uint64_t compared_ = 0;
  std::vector<Compared> differing_;
  Status status_;
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

BuildOptions BuildLikeRecorded(const Session& session, const Recorded& r) {
  BuildOptions build = session.build_options();
  build.prices.recall = false;
  build.place.cover = CoverOf(r.plan, r.plan.functions[0]);
  build.place.cover_method = kRecorded;
  build.place.expanded = r.manifest.expanded;
  return build;
}

nlohmann::json DifferenceJson(const Compared& c) {
  const double relative = c.difference.relative();
  return {{"value", c.tensor.name},
          {"member", c.tensor.member},
          {"elements", c.difference.elements},
          {"differing", c.difference.differing},
          {"greatest", c.difference.greatest},
          {"largest", c.difference.largest},
          {"unlike", c.difference.unlike},
          {"relative", std::isfinite(relative) ? nlohmann::json(relative) : nlohmann::json()},
          {"within", c.within}};
}

void PrintDifference(const char* what, const Compared& c) {
  const Difference& d = c.difference;
  fmt::print(
      "  {:<5} '{}' ({}): {} of {} elements differ, by {:.3g} where the largest is {:.3g}{}\n",
      what, c.tensor.name, c.tensor.member, d.differing, d.elements, d.greatest, d.largest,
      d.unlike ? fmt::format("; {} are infinite or NaN on one side alone", d.unlike) : "");
}

void PrintReplay(const Options& o, const Comparison& c, bool same_machine) {
  if (o.json) {
    nlohmann::json j = {{"capsule", o.model},
                        {"compared", c.compared()},
                        {"equal", c.equal()},
                        {"same_machine", same_machine},
                        {"right", c.right()}};
    if (!c.differing().empty()) {
      j["first"] = DifferenceJson(c.differing()[0]);
      j["worst"] = DifferenceJson(c.worst());
    }
    fmt::print("{}\n", j.dump(2));
    return;
  }
  fmt::print("{}: {} of {} values are equal bit for bit{}\n", o.model, c.equal(), c.compared(),
             c.differing().empty() ? ""
             : c.right()           ? ", the others within the bounds of their types"
                                   : "");
  if (c.differing().empty()) return;
  PrintDifference("first", c.differing()[0]);
  PrintDifference("worst", c.worst());
}

Status ReplayCapsule(const Options& asked, int* code) {
  if (!asked.from.empty() && asked.from != "plan" && asked.from != "load") {
    return Status(Code::kInvalidArgument,
                  fmt::format("--from is '{:.64}', wanted load or plan", asked.from));
  }
  GE_ASSIGN_OR_RETURN(Recorded r, OpenRecorded(asked.model, false));
  if (r.manifest.in_pieces) return ReplayPieces(OptionsLike(asked, r.manifest), r, code);
  GE_ASSIGN_OR_RETURN(r, OpenRecorded(asked.model, asked.from == "plan"));
  const bool from_plan = asked.from == "plan" || (asked.from.empty() && !r.manifest.plan.empty());
  const Options o = OptionsLike(asked, r.manifest);
  GE_ASSIGN_OR_RETURN(SessionOptions options, SessionOptionsOf(o));
  GE_RETURN_IF_ERROR(UseRecordedMachine(r, &options));
  GE_ASSIGN_OR_RETURN(auto created, Session::Create(std::move(options)));
  SignalledSession session(std::move(created));
  GE_ASSIGN_OR_RETURN(Graph model, ModelToReplay(r, from_plan));
  GE_RETURN_IF_ERROR(session->LoadGraph(std::move(model)));
  GE_ASSIGN_OR_RETURN(const std::vector<TensorView> inputs, RecordedInputs(r));
  GE_RETURN_IF_ERROR(SetStates(r, session.get()));
  const BuildOptions build =
      from_plan ? BuildLikeRecorded(*session.get(), r) : session->build_options();
  GE_ASSIGN_OR_RETURN(const auto compiled, session->CompileApart(r.manifest.entry, inputs, build));
  const bool placed = build.place.cover.empty() || compiled->plan.place_method == kRecorded;
  if (from_plan && !placed) {
    return Status(Code::kUnsupported,
                  "the recorded placement cannot be made again: an engine offers other work now; "
                  "replay with --from load, which places anew");
  }
  const bool same = from_plan && IsSameMachine(r.manifest, compiled->plan, AboutThisProcess(o));
  Comparison comparison(*r.capsule, r.manifest, same, o.rtol);
  GE_RETURN_IF_ERROR(comparison.Watch(*compiled));
  GE_ASSIGN_OR_RETURN(OutputBuffers outputs, MakeOutputs(*compiled));
  RunObserver* observer = from_plan ? &comparison : nullptr;
  GE_RETURN_IF_ERROR(session->RunApart(compiled.get(), inputs, outputs.views, observer));
  comparison.TakeOutputs(outputs.views);
  GE_RETURN_IF_ERROR(comparison.status());
  PrintReplay(o, comparison, same);
  *code = comparison.right() ? 0 : 1;
  return {};
}

}  // namespace

int Replay(const Options& options) {
  int code = 0;
  const Status status = ReplayCapsule(options, &code);
  return status.ok() ? code : Fail(status);
}

}  // namespace ge::tool
