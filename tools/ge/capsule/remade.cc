#include "tools/ge/capsule/remade.h"

#include <algorithm>

#include "ge/place/placed.h"
#include "ge/session/observed_values.h"
#include "ge/session/recorder.h"

namespace ge::tool {
namespace {

// Keeps some values of a run, in plain order.
class Keeper : public RunObserver {
 public:
  Keeper(const Compiled& compiled, std::span<const PlanValueId> values)
      : observed_(compiled, compiled.graph.fn(compiled.fn), false),
        values_(values),
        kept_(values.size()) {}

  void After(uint32_t index, std::span<const ge_buf> written, bool queued) override {
    observed_.After(index, written, queued, [&](size_t at, std::span<const std::byte> bytes) {
      const auto found = std::find(values_.begin(), values_.end(), observed_.list()[at].plan_value);
      if (found == values_.end()) return;
      kept_[static_cast<size_t>(found - values_.begin())].assign(bytes.begin(), bytes.end());
    });
  }
  TrialAnswer Take() { return std::move(kept_); }

 private:
  ObservedValues observed_;
  std::span<const PlanValueId> values_;
  TrialAnswer kept_;
};

Result<TrialAnswer> RunHereWhole(const Recorded& r, const Options& asked, const TrialMemory& memory,
                                 std::span<const PlanValueId> values) {
  const Options o = OptionsLike(asked, r.manifest);
  GE_ASSIGN_OR_RETURN(SessionOptions options, SessionOptionsOf(o));
  GE_RETURN_IF_ERROR(UseRecordedMachine(r, &options));
  GE_ASSIGN_OR_RETURN(const auto session, Session::Create(std::move(options)));
  GE_ASSIGN_OR_RETURN(const std::vector<TensorView> inputs, RecordedInputs(r));
  BuildOptions build = BuildLikeRecorded(*session, r);
  Apply(memory, &build);
  GE_ASSIGN_OR_RETURN(const auto compiled, RemakePlan(r, inputs, build, session.get()));
  GE_ASSIGN_OR_RETURN(OutputBuffers outputs, MakeOutputs(*compiled));
  Keeper keeper(*compiled, values);
  GE_RETURN_IF_ERROR(session->RunApart(compiled.get(), inputs, outputs.views,
                                       memory.red_zones ? nullptr : &keeper));
  return keeper.Take();
}

}  // namespace

BuildOptions BuildLikeRecorded(const Session& session, const Recorded& r) {
  BuildOptions build = session.build_options();
  build.prices.recall = false;
  build.place.cover = CoverOf(r.plan, r.plan.functions[0]);
  build.place.cover_method = kRemade;
  build.place.expanded = r.manifest.expanded;
  return build;
}

Result<std::shared_ptr<Compiled>> RemakePlan(const Recorded& r, std::span<const TensorView> inputs,
                                             const BuildOptions& build, Session* session) {
  GE_ASSIGN_OR_RETURN(Graph model, ModelToReplay(r, true));
  GE_RETURN_IF_ERROR(session->LoadGraph(std::move(model)));
  GE_RETURN_IF_ERROR(SetStates(r, session));
  GE_ASSIGN_OR_RETURN(auto compiled, session->CompileApart(r.manifest.entry, inputs, build));
  if (build.place.cover.empty() || compiled->plan.place_method == kRemade) return compiled;
  return Status(Code::kUnsupported,
                "the recorded placement cannot be made again: an engine offers other work now; "
                "replay with --from load, which places anew");
}

Result<TrialAnswer> RunWhole(const Recorded& r, const Options& options, const TrialMemory& memory,
                             std::span<const PlanValueId> values) {
  return InChild(options.seconds_a_trial, [&] { return RunHereWhole(r, options, memory, values); });
}

}  // namespace ge::tool
