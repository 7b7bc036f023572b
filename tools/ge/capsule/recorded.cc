#include "tools/ge/capsule/recorded.h"

#include <fmt/format.h>

#include "frontend/text/plan_text.h"
#include "ge/capsule/tensor_members.h"
#include "ge/host/machine.h"

namespace ge::tool {

Result<Recorded> OpenRecorded(const std::string& path, bool needs_plan) {
  Recorded r;
  GE_ASSIGN_OR_RETURN(r.capsule, CapsuleReader::Open(path));
  GE_ASSIGN_OR_RETURN(r.manifest, ReadManifest(*r.capsule));
  GE_ASSIGN_OR_RETURN(const CapsuleOutcome outcome, ReadOutcome(*r.capsule));
  r.done = outcome.done;
  if (r.manifest.plan.empty() && needs_plan) {
    return Status(Code::kFailedPrecondition,
                  fmt::format("capsule '{}' has no plan of a recorded run; make one: ge dump MODEL "
                              "--values -o F.gecap",
                              path));
  }
  if (r.manifest.plan.empty()) return r;
  GE_ASSIGN_OR_RETURN(const auto text, r.capsule->Read(r.manifest.plan));
  GE_ASSIGN_OR_RETURN(r.plan, ParsePlan({reinterpret_cast<const char*>(text.data()), text.size()},
                                        r.manifest.plan));
  return r;
}

Options OptionsLike(const Options& asked, const CapsuleManifest& m) {
  Options o = asked;
  o.prices = "analytic";
  if (!m.numerics.empty()) o.numerics = m.numerics;
  if (!m.precision.empty()) o.precision = m.precision;
  if (!m.denormals.empty()) o.denormals = m.denormals;
  if (o.threads == 0) o.threads = m.threads;
  if (o.isa == "native" && !m.isa.empty()) o.isa = m.isa;
  if (o.engines.empty()) {
    for (const CapsuleEngine& e : m.engines) o.engines += (o.engines.empty() ? "" : ",") + e.name;
  }
  return o;
}

Result<const CapsuleGraph*> GraphOf(const CapsuleManifest& m, const std::string& stage) {
  for (const CapsuleGraph& g : m.graphs) {
    if (g.stage == stage) return &g;
  }
  return Status(Code::kDataCorrupt,
                fmt::format("the capsule's manifest names no graph of stage '{}'", stage));
}

Status UseRecordedMachine(const Recorded& r, SessionOptions* options) {
  options->process.rates = ProcessFacts::Rates::kKnown;
  if (!r.capsule->Has(kMachineMember)) return {};
  GE_ASSIGN_OR_RETURN(const auto text, r.capsule->Read(kMachineMember));
  MachineRecord record;
  const Status read =
      MachineFromText({reinterpret_cast<const char*>(text.data()), text.size()},
                      IdentifyMachine(options->process.isa_cap, options->process.threads), &record);
  if (read.code() == Code::kFailedPrecondition) return {};
  GE_RETURN_IF_ERROR(read);
  options->process.rates = ProcessFacts::Rates::kGiven;
  options->process.given = std::make_shared<const MachineRecord>(std::move(record));
  return {};
}

Result<TensorView> RecordedTensor(const Recorded& r, const CapsuleTensor& t) {
  GE_ASSIGN_OR_RETURN(const auto bytes, ReadTensorMember(*r.capsule, t));
  return TensorView{t.dtype, t.dims, const_cast<std::byte*>(bytes.data()), bytes.size()};
}

Result<std::vector<TensorView>> RecordedInputs(const Recorded& r) {
  std::vector<TensorView> views;
  for (const CapsuleTensor& t : r.manifest.inputs) {
    GE_ASSIGN_OR_RETURN(views.emplace_back(), RecordedTensor(r, t));
  }
  return views;
}

Status SetStates(const Recorded& r, Session* session) {
  for (const CapsuleTensor& t : r.manifest.states) {
    GE_ASSIGN_OR_RETURN(const TensorView value, RecordedTensor(r, t));
    const Graph& graph = session->graph();
    for (StateId id = 1; id < graph.states.size(); ++id) {
      if (graph.states[id].name != t.name) continue;
      GE_RETURN_IF_ERROR(session->SetState(id, value));
    }
  }
  return {};
}

}  // namespace ge::tool
