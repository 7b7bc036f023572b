#include "ge/session/recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "frontend/text/plan_text.h"
#include "ge/base/no_throw.h"
#include "ge/capsule/graph_members.h"
#include "ge/capsule/statistics.h"
#include "ge/capsule/store/capsule_writer.h"
#include "ge/capsule/store/member_name.h"
#include "ge/capsule/tensor_members.h"
#include "ge/control/tensor_values.h"
#include "ge/host/machine.h"
#include "ge/run/observer.h"
#include "ge/session/observed_values.h"
#include "ge/session/piece_recorder.h"
#include "ge/session/value_members.h"
#include "ge/session/version.h"

namespace ge {
namespace {

constexpr char kPlanMember[] = "plan/run.plan";

std::span<const std::byte> BytesOf(const void* data, uint64_t bytes) {
  return {static_cast<const std::byte*>(data), bytes};
}

CapsuleTensor Described(const TensorView& view, std::string name, std::string member) {
  return {std::move(name), 0, 0, view.dtype, view.dims, std::move(member)};
}

Status NoMemoryFor(const char* what, const std::string& name, uint64_t bytes) {
  return Status(Code::kResourceExhausted,
                fmt::format("no memory for the {} bytes of {} '{}'", bytes, what, name));
}

class Recorder : public RunRecorder, public RunObserver {
 public:
  Recorder(Session* session, std::string_view entry, std::unique_ptr<CapsuleWriter> writer,
           const RecordOptions& options)
      : session_(*session),
        entry_(entry),
        writer_(std::move(writer)),
        graphs_(writer_.get()),
        tensors_(writer_.get()),
        pieces_(writer_.get(), &graphs_, &tensors_, options.values),
        options_(options),
        manifest_(AboutSession(*session)) {
    manifest_.entry = entry;
    manifest_.seed = options.seed;
    manifest_.run = options.run;
  }

  RunObserver* Whole(const std::shared_ptr<Compiled>& plan,
                     std::span<const TensorView> inputs) override {
    compiled_ = plan;
    inputs_ = inputs;
    return this;
  }
  void Begin(std::span<const void* const> states) override {
    Keep(BeforeWhole(states));
    begun_ = report_.written.ok();
  }
  void End(std::span<void* const> states) override {
    for (size_t i = 0; i < states.size() && i < manifest_.states_after.size(); ++i) {
      const CapsuleTensor& t = manifest_.states_after[i];
      Put([&] {
        return WriteTensorMember(t, BytesOf(states[i], compiled_->states_out_bytes[i]),
                                 writer_.get());
      });
    }
  }

  void PiecesBegin(const Entry& entry, std::span<const FlowValue> inputs,
                   std::span<const StateId> states, std::span<const FlowValue> values) override {
    manifest_.in_pieces = true;
    Keep(BeforePieces(entry, inputs, states, values));
    begun_ = report_.written.ok();
  }
  RunObserver* PieceBegins(const std::shared_ptr<Compiled>& piece,
                           std::span<const TensorView> inputs) override {
    bool begun = false;
    Put([&] {
      const Status status = pieces_.Begin(piece, inputs);
      begun = status.ok();
      return status;
    });
    return begun ? &pieces_ : nullptr;
  }
  void PieceEnds(const Status& run, std::span<const TensorView> outputs) override {
    if (run.ok()) Put([&] { return pieces_.End(outputs); });
  }
  void PiecesEnd(std::span<const FlowValue> results, std::span<const StateId> states,
                 std::span<const void* const> values) override {
    Put([&] { return AfterPieces(results, states, values); });
  }

  void AfterStep(uint32_t index, uint32_t step, const ge_launch& launch) override {
    if (observed_) observed_->AfterStep(index, step, launch, take_);
  }
  void After(uint32_t index, std::span<const ge_buf> written, bool queued) override {
    if (observed_) observed_->After(index, written, queued, take_);
  }

  RecordReport Finish(const Status& run, std::span<const TensorView> outputs) override {
    if (!begun_) return report_;
    for (size_t i = 0; !manifest_.in_pieces && run.ok() && i < outputs.size(); ++i) {
      const auto bytes = BytesOf(outputs[i].data, outputs[i].bytes);
      Put([&] { return WriteTensorMember(manifest_.outputs[i], bytes, writer_.get()); });
    }
    if (observed_) Keep(observed_->status());
    if (options_.values == RecordedValues::kStats && !manifest_.in_pieces) {
      Put([&] { return WriteStatistics(statistics_, writer_.get()); });
    }
    Put([&] { return WriteOutcome({run.ok(), run.message()}, writer_.get()); });
    Keep(writer_->Finish());
    report_.bytes = writer_->bytes();
    report_.pieces = pieces_.executions();
    report_.values += pieces_.values();
    report_.left_out = pieces_.left_out();
    if (observed_) report_.left_out = observed_->left_out().size();
    return report_;
  }

 private:
  static std::string MemberOf(const char* folder, size_t i, const std::string& name) {
    return fmt::format("{}/{}-{}.npy", folder, i, MemberPart(name));
  }

  // The first that failed; the run goes on.
  void Keep(const Status& status) {
    if (report_.written.ok() && !status.ok()) report_.written = status;
  }
  // Writes while that goes well.
  template <typename Write>
  void Put(Write write) {
    if (begun_ && report_.written.ok()) Keep(write());
  }

  Status AddGraph(const std::string& stage, const Graph& graph) {
    const std::string member =
        fmt::format("graph/{:02}-{}.gepb", manifest_.graphs.size(), MemberPart(stage));
    manifest_.graphs.push_back({stage, member});
    return graphs_.Write(member, graph);
  }
  Status AddGraphs(const std::vector<EditedGraph>& edits) {
    GE_RETURN_IF_ERROR(AddGraph("load", session_.loaded_graph()));
    for (const EditedGraph& e : session_.load_edits()) {
      GE_RETURN_IF_ERROR(AddGraph("pass/" + e.pass, e.graph));
    }
    GE_RETURN_IF_ERROR(AddGraph("rewrite", session_.graph()));
    for (const EditedGraph& e : edits) GE_RETURN_IF_ERROR(AddGraph("pass/" + e.pass, e.graph));
    return {};
  }
  Status AddEnd() {
    GE_ASSIGN_OR_RETURN(const EngineList* engines, session_.Engines());
    for (const auto& e : *engines) {
      manifest_.engines.push_back({e->name(), e->plugin().version, e->plugin().hash});
    }
    GE_RETURN_IF_ERROR(writer_->Add(kMachineMember, MachineToText(HostMachine())));
    GE_RETURN_IF_ERROR(WriteManifest(manifest_, writer_.get()));
    return writer_->Publish();
  }

  Status AddTensor(const char* folder, size_t i, const std::string& name, const TensorView& view,
                   std::vector<CapsuleTensor>* list) {
    list->push_back(Described(view, name, MemberOf(folder, i, name)));
    return WriteTensorMember(list->back(), BytesOf(view.data, view.bytes), writer_.get());
  }

  // Everything that there is before a run by one plan.
  Status BeforeWhole(std::span<const void* const> states) {
    const Compiled& c = *compiled_;
    GE_RETURN_IF_ERROR(AddGraphs(c.edits));
    GE_ASSIGN_OR_RETURN(graph_, session_.GraphOfPlan(entry_, inputs_, c));
    fn_ = c.fn;
    GE_RETURN_IF_ERROR(AddGraph("check", graph_));
    GE_RETURN_IF_ERROR(writer_->Add(kPlanMember, PrintPlan(c.plan)));
    manifest_.plan = kPlanMember;
    manifest_.expanded.assign(c.expanded.begin(), c.expanded.end());
    for (size_t i = 0; i < inputs_.size(); ++i) {
      GE_RETURN_IF_ERROR(AddTensor("input", i, c.inputs[i].name, inputs_[i], &manifest_.inputs));
    }
    GE_RETURN_IF_ERROR(AddStates(states));
    ListValues(c);
    for (size_t i = 0; i < c.outputs.size(); ++i) {
      const Compiled::Port& port = c.outputs[i];
      manifest_.outputs.push_back(
          {port.name, 0, 0, port.dtype, port.dims, MemberOf("output", i, port.name), {}});
    }
    return AddEnd();
  }

  // Those that the plan reads, and names of those that it writes. Others have no part in the run.
  Status AddStates(std::span<const void* const> states) {
    const Compiled& c = *compiled_;
    const Function& f = graph_.fn(fn_);
    const Graph& model = session_.graph();
    for (size_t i = 0; i < states.size() && i < c.states_in.size(); ++i) {
      const StateId id = c.states_in[i];
      const Type& type = f.value(f.params[c.inputs.size() + i]).type;
      const TensorView view{type.dtype, type.static_dims(), const_cast<void*>(states[i]),
                            c.states_in_bytes[i]};
      GE_RETURN_IF_ERROR(AddTensor("state", id, model.states[id].name, view, &manifest_.states));
    }
    for (size_t i = 0; i < c.states_out.size(); ++i) {
      const StateId id = c.states_out[i];
      const Type& type = f.value(f.results[c.outputs.size() + i]).type;
      const std::string& name = model.states[id].name;
      manifest_.states_after.push_back(
          {name, 0, 0, type.dtype, type.static_dims(), MemberOf("state_after", id, name), {}});
    }
    return {};
  }

  Status BeforePieces(const Entry& entry, std::span<const FlowValue> inputs,
                      std::span<const StateId> states, std::span<const FlowValue> values) {
    const Graph& model = session_.graph();
    const Function& f = model.fn(entry.fn);
    GE_RETURN_IF_ERROR(AddGraphs({}));
    for (size_t i = 0; i < inputs.size(); ++i) {
      const std::string& name = f.value(f.params[i]).name;
      GE_RETURN_IF_ERROR(tensors_.Write(
          inputs[i], name, fmt::format("input/{}-{}", i, MemberPart(name)), &manifest_.inputs));
    }
    for (size_t i = 0; i < states.size(); ++i) {
      const std::string& name = model.states[states[i]].name;
      GE_RETURN_IF_ERROR(tensors_.Write(values[i], name,
                                        fmt::format("state/{}-{}", states[i], MemberPart(name)),
                                        &manifest_.states));
    }
    return AddEnd();
  }

  // What the run has made has sizes of its own.
  Status AfterPieces(std::span<const FlowValue> results, std::span<const StateId> states,
                     std::span<const void* const> values) {
    const Graph& model = session_.graph();
    const Function& f = model.fn((*session_.FindEntry(entry_))->fn);
    std::vector<CapsuleTensor> outputs, after;
    for (size_t i = 0; i < results.size(); ++i) {
      const std::string& name = f.value(f.results[i]).name;
      GE_RETURN_IF_ERROR(tensors_.Write(
          results[i], name, fmt::format("output/{}-{}", i, MemberPart(name)), &outputs));
    }
    for (size_t i = 0; i < states.size(); ++i) {
      const State& state = model.states[states[i]];
      const Type& type = state.type;  // static: what grows is run by one plan
      const TensorView view{type.dtype, type.static_dims(), const_cast<void*>(values[i]),
                            static_cast<uint64_t>(ByteCount(type).value_or(0))};
      GE_RETURN_IF_ERROR(tensors_.Write(
          view, state.name, fmt::format("state_after/{}-{}", states[i], MemberPart(state.name)),
          &after));
    }
    return WriteResults(outputs, after, writer_.get());
  }

  // Values that the run will show, each with a member.
  void ListValues(const Compiled& compiled) {
    if (options_.values == RecordedValues::kNone) return;
    const bool inside = options_.values != RecordedValues::kBorder;
    observed_ = std::make_unique<ObservedValues>(compiled, graph_.fn(fn_), inside);
    manifest_.left_out = observed_->left_out();
    manifest_.values = observed_->list();
    if (options_.values == RecordedValues::kStats) return;
    for (size_t i = 0; i < manifest_.values.size(); ++i) {
      manifest_.values[i].member = MemberOf("value", i, manifest_.values[i].name);
    }
  }

  void KeepValue(size_t index, std::span<const std::byte> bytes) {
    ++report_.values;
    const CapsuleTensor& t = manifest_.values[index];
    if (options_.values != RecordedValues::kStats) {
      return Put([&] { return WriteTensorMember(t, bytes, writer_.get()); });
    }
    statistics_.push_back(StatisticsOf(t.dtype, bytes));
    statistics_.back().value = static_cast<uint32_t>(index);
  }

  Session& session_;
  const std::string entry_;
  std::unique_ptr<CapsuleWriter> writer_;
  GraphMembers graphs_;
  ValueMembers tensors_;
  PieceRecorder pieces_;
  const RecordOptions options_;
  CapsuleManifest manifest_;
  std::shared_ptr<Compiled> compiled_;  // of a run by one plan
  std::span<const TensorView> inputs_;  // of it
  Graph graph_;                         // of its plan
  FunctionId fn_ = 0;
  bool begun_ = false;  // all that the run needs is on disk
  RecordReport report_;
  std::vector<TensorStatistics> statistics_;
  std::unique_ptr<ObservedValues> observed_;  // null where no values are recorded
  const ObservedValues::Take take_ = [this](size_t index, std::span<const std::byte> bytes) {
    KeepValue(index, bytes);
  };
};

}  // namespace

Result<RecordedValues> RecordedValuesFromName(std::string_view name) {
  if (name == "none") return RecordedValues::kNone;
  if (name == "stats") return RecordedValues::kStats;
  if (name == "border") return RecordedValues::kBorder;
  if (name == "all") return RecordedValues::kAll;
  return Status(
      Code::kInvalidArgument,
      fmt::format("recorded values are '{:.64}', wanted none, stats, border or all", name));
}

Result<OutputBuffers> MakeOutputs(const Compiled& compiled) {
  OutputBuffers out;
  for (const Compiled::Port& port : compiled.outputs) {
    out.memory.push_back(AllocateAligned(port.bytes, 64));
    if (!out.memory.back()) return NoMemoryFor("output", port.name, port.bytes);
    out.views.push_back({port.dtype, port.dims, out.memory.back().get(), port.bytes});
  }
  return out;
}

CapsuleManifest AboutSession(const Session& session) {
  static const char* const kIsa[] = {"native", "sse4.2", "avx2", "avx512"};
  const SessionOptions& o = session.options();
  const ProcessFacts facts = CurrentProcessFacts();
  CapsuleManifest about;
  about.product = fmt::format("GraphEngine {}", kVersion);
  about.model = session.model_name();
  about.isa = facts.isa_cap < 4 ? kIsa[facts.isa_cap] : "native";
  about.threads = facts.threads;
  about.numerics = o.numerics == Numerics::kExact ? "exact" : "fast";
  about.precision = o.precision == Precision::kBf16 ? "bf16" : "f32";
  about.denormals = o.denormals == Denormals::kKeep ? "keep" : "flush";
  about.kv_cache = session.kv_capacity();
  return about;
}

Result<std::unique_ptr<RunRecorder>> RunRecorder::Begin(Session* session, std::string_view entry,
                                                        const RecordOptions& options) {
  GE_ASSIGN_OR_RETURN(const Entry* found, session->FindEntry(entry));
  GE_ASSIGN_OR_RETURN(auto writer, CapsuleWriter::Create(options.path));
  return std::unique_ptr<RunRecorder>(
      new Recorder(session, found->name, std::move(writer), options));
}

Status RecordRun(Session* session, std::string_view entry_name, std::span<const FlowValue> inputs,
                 const RecordOptions& options, RecordReport* report) {
  GE_ASSIGN_OR_RETURN(const Entry* entry, session->FindEntry(entry_name));
  GE_ASSIGN_OR_RETURN(auto recorder, RunRecorder::Begin(session, entry_name, options));
  const Function& f = session->graph().fn(entry->fn);
  std::vector<TensorView> views;
  const bool numbers =
      std::all_of(f.results.begin(), f.results.end(),
                  [&](ValueId v) {
                    const Type& t = f.value(v).type;
                    return t.is_tensor() && t.dtype != DType::kString;
                  }) &&
      std::none_of(inputs.begin(), inputs.end(), [](const FlowValue& v) { return v.strings; });
  if (!numbers || !TensorsOf(f, inputs, &views)) {
    std::vector<FlowValue> results;
    const Status run = session->RunValuesWatched(entry_name, inputs, &results, recorder.get());
    *report = recorder->Finish(run, {});
    return run;
  }
  for (size_t i = 0; i < views.size(); ++i) {
    views[i].data = const_cast<std::byte*>(inputs[i].data);
    views[i].bytes = inputs[i].bytes;
  }
  std::vector<TensorView> outputs(f.results.size());
  const Status run = session->RunWatched(entry_name, views, outputs, recorder.get());
  *report = recorder->Finish(run, outputs);
  for (const TensorView& t : outputs) {
    if (t.owned) FreeAligned()(static_cast<std::byte*>(t.data));
  }
  return run;
}

}  // namespace ge
