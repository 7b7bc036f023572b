#include "ge/session/recorder.h"

#include <fmt/format.h>

#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "frontend/text/plan_text.h"
#include "ge/base/no_throw.h"
#include "ge/capsule/graph_members.h"
#include "ge/capsule/store/capsule_writer.h"
#include "ge/capsule/store/member_name.h"
#include "ge/capsule/tensor_members.h"
#include "ge/host/machine.h"
#include "ge/run/observer.h"

namespace ge {
namespace {

constexpr char kPlanMember[] = "plan/run.plan";

std::span<const std::byte> BytesOf(const void* data, uint64_t bytes) {
  return {static_cast<const std::byte*>(data), bytes};
}

CapsuleTensor Described(const TensorView& view, std::string name, std::string member) {
  return {std::move(name), 0, view.dtype, view.dims, std::move(member)};
}

Status NoMemoryFor(const char* what, const std::string& name, uint64_t bytes) {
  return Status(Code::kResourceExhausted,
                fmt::format("no memory for the {} bytes of {} '{}'", bytes, what, name));
}

class Recorder : public RunObserver {
 public:
  Recorder(std::unique_ptr<CapsuleWriter> writer, const RecordOptions& options)
      : writer_(std::move(writer)),
        options_(options),
        manifest_(options.about),
        edits_of_load_(EditsSoFar()) {}

  // Everything that there is before the run.
  Status Before(Session* session, const Compiled& compiled, std::span<const TensorView> inputs) {
    GraphMembers graphs(writer_.get());
    const auto add = [&](const std::string& stage, const Graph& graph) {
      const std::string member =
          fmt::format("graph/{:02}-{}.gepb", manifest_.graphs.size(), MemberPart(stage));
      manifest_.graphs.push_back({stage, member});
      return graphs.Write(member, graph);
    };
    GE_RETURN_IF_ERROR(add("load", session->loaded_graph()));
    for (size_t i = 0; i < EditsSoFar(); ++i) {
      if (i == edits_of_load_) GE_RETURN_IF_ERROR(add("rewrite", session->graph()));
      const EditedGraph& e = (*options_.edited)[i];
      GE_RETURN_IF_ERROR(add("pass/" + e.pass, e.graph));
    }
    if (edits_of_load_ == EditsSoFar()) GE_RETURN_IF_ERROR(add("rewrite", session->graph()));
    GE_RETURN_IF_ERROR(add("check", compiled.graph));
    GE_RETURN_IF_ERROR(writer_->Add(kPlanMember, PrintPlan(compiled.plan)));
    manifest_.plan = kPlanMember;
    manifest_.expanded.assign(compiled.expanded.begin(), compiled.expanded.end());
    for (size_t i = 1; i < compiled.plan.engines.size(); ++i) {
      const PlanEngine& e = compiled.plan.engines[i];
      manifest_.engines.push_back({e.name, e.version, e.plugin_hash});
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
      GE_RETURN_IF_ERROR(
          AddTensor("input", i, compiled.inputs[i].name, inputs[i], &manifest_.inputs));
    }
    GE_RETURN_IF_ERROR(AddStates(session));
    ListValues(compiled);
    for (size_t i = 0; i < compiled.outputs.size(); ++i) {
      const Compiled::Port& port = compiled.outputs[i];
      manifest_.outputs.push_back(
          {port.name, 0, port.dtype, port.dims, MemberOf("output", i, port.name)});
    }
    GE_RETURN_IF_ERROR(writer_->Add(kMachineMember, MachineToText(HostMachine())));
    GE_RETURN_IF_ERROR(WriteManifest(manifest_, writer_.get()));
    return writer_->Publish();
  }

  void After(uint32_t index, std::span<const ge_buf> written, bool queued) override {
    if (queued || index >= made_.size()) return;
    for (size_t i = 0; i < written.size() && i < made_[index].size(); ++i) {
      const CapsuleTensor* t = made_[index][i];
      if (t == nullptr) continue;
      Keep(WriteTensorMember(*t, BytesOf(written[i].ptr, written[i].bytes), writer_.get()));
      ++report_.values;
    }
  }

  RecordReport Finish(const Status& run, std::span<const TensorView> outputs) {
    for (size_t i = 0; run.ok() && i < outputs.size(); ++i) {
      const auto bytes = BytesOf(outputs[i].data, outputs[i].bytes);
      Keep(WriteTensorMember(manifest_.outputs[i], bytes, writer_.get()));
    }
    Keep(WriteOutcome({run.ok(), run.message()}, writer_.get()));
    Keep(writer_->Finish());
    report_.bytes = writer_->bytes();
    return report_;
  }

 private:
  size_t EditsSoFar() const { return options_.edited ? options_.edited->size() : 0; }

  static std::string MemberOf(const char* folder, size_t i, const std::string& name) {
    return fmt::format("{}/{}-{}.npy", folder, i, MemberPart(name));
  }

  // The first that failed; the run goes on.
  void Keep(const Status& status) {
    if (report_.written.ok() && !status.ok()) report_.written = status;
  }

  Status AddTensor(const char* folder, size_t i, const std::string& name, const TensorView& view,
                   std::vector<CapsuleTensor>* list) {
    list->push_back(Described(view, name, MemberOf(folder, i, name)));
    return WriteTensorMember(list->back(), BytesOf(view.data, view.bytes), writer_.get());
  }

  Status AddStates(Session* session) {
    const Graph& graph = session->graph();
    for (StateId id = 1; id < graph.states.size(); ++id) {
      TensorView view;
      GE_RETURN_IF_ERROR(session->GetState(id, &view));  // its size alone
      const AlignedBytes memory = AllocateAligned(view.bytes, 64);
      if (!memory) return NoMemoryFor("state", graph.states[id].name, view.bytes);
      view.data = memory.get();
      GE_RETURN_IF_ERROR(session->GetState(id, &view));
      GE_RETURN_IF_ERROR(AddTensor("state", id, graph.states[id].name, view, &manifest_.states));
    }
    return {};
  }

  // The outputs of launches that a host's engine leaves in plain host memory.
  void ListValues(const Compiled& compiled) {
    const Plan& plan = compiled.plan;
    const PlanFunction& fn = plan.functions[0];
    made_.resize(fn.code.size());
    if (options_.values == RecordedValues::kNone) return;
    std::vector<std::pair<size_t, size_t>>
        places;  // launches and positions, as in manifest_.values
    for (size_t i = 0; i < fn.code.size(); ++i) {
      if (fn.code[i].op != PlanOp::kLaunch) continue;
      const PlanSegment& segment = fn.segments[fn.code[i].segment];
      made_[i].resize(segment.outputs.size());
      for (size_t o = 0; o < segment.outputs.size(); ++o) {
        const PlanValue& value = fn.values[segment.outputs[o]];
        if (value.domain != 0 || plan.devices[segment.device].async) {
          ++report_.left_out;
          continue;
        }
        places.emplace_back(i, o);
        manifest_.values.push_back(DescribedValue(compiled, segment.outputs[o]));
      }
    }
    for (size_t v = 0; v < places.size(); ++v) {  // now that the list stays where it is
      made_[places[v].first][places[v].second] = &manifest_.values[v];
    }
  }

  CapsuleTensor DescribedValue(const Compiled& compiled, PlanValueId id) const {
    const PlanValue& value = compiled.plan.functions[0].values[id];
    const Function& fn = compiled.graph.fn(compiled.fn);
    CapsuleTensor t;
    t.plan_value = id;
    t.name = value.graph_value ? fn.value(value.graph_value).name : value.name;
    if (t.name.empty()) t.name = value.name;
    t.member = MemberOf("value", id, t.name);
    t.dtype = value.type.dtype;
    for (const Dim& d : value.type.dims) t.dims.push_back(d.value);
    if (value.layout != 0) {  // as it lies, which other readers cannot know
      t.dtype = DType::kUint8;
      t.dims = {value.bytes};
    }
    return t;
  }

  std::unique_ptr<CapsuleWriter> writer_;
  const RecordOptions& options_;
  CapsuleManifest manifest_;
  const size_t edits_of_load_;  // the first of options_.edited
  RecordReport report_;
  std::vector<std::vector<const CapsuleTensor*>> made_;  // by instruction and position
};

}  // namespace

Result<RecordedValues> RecordedValuesFromName(std::string_view name) {
  if (name == "none") return RecordedValues::kNone;
  if (name == "border") return RecordedValues::kBorder;
  return Status(Code::kInvalidArgument,
                fmt::format("recorded values are '{:.64}', wanted none or border", name));
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

Status RecordRun(Session* session, std::string_view entry, std::span<const TensorView> inputs,
                 const RecordOptions& options, RecordReport* report) {
  if (session->states_grow()) {
    return Status(Code::kUnsupported, "runs whose caches grow cannot be recorded yet");
  }
  GE_ASSIGN_OR_RETURN(auto writer, CapsuleWriter::Create(options.path));
  Recorder recorder(std::move(writer), options);
  const auto compiled = session->CompileApart(entry, inputs, session->build_options());
  if (!compiled.ok()) {
    if (!session->RunsInPieces(entry)) return compiled.status();
    return Status(Code::kUnsupported,
                  fmt::format("entry '{}' runs in pieces, planned as sizes become known; such a "
                              "run cannot be recorded yet",
                              options.about.entry));
  }
  GE_ASSIGN_OR_RETURN(OutputBuffers outputs, MakeOutputs(**compiled));
  GE_RETURN_IF_ERROR(recorder.Before(session, **compiled, inputs));
  const Status run = session->RunApart(compiled->get(), inputs, outputs.views, &recorder);
  *report = recorder.Finish(run, outputs.views);
  return run;
}

}  // namespace ge
