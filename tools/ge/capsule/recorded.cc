#include "tools/ge/capsule/recorded.h"

#include <fmt/format.h>

#include <algorithm>

#include "ge/capsule/graph_members.h"
#include "ge/capsule/plan_members.h"
#include "ge/capsule/tensor_members.h"
#include "ge/host/machine.h"

namespace ge::tool {

Status WantPlan(const Recorded& r) {
  const std::string& path = r.capsule->path();
  if (r.manifest.in_pieces) {
    return Status(
        Code::kUnsupported,
        fmt::format("capsule '{}' is of a run in pieces, each with a plan of its own, and "
                    "this needs a run by one plan; ge replay repeats it",
                    path));
  }
  if (!r.manifest.plan.empty()) return {};
  return Status(Code::kFailedPrecondition,
                fmt::format("capsule '{}' has no plan of a recorded run; make one: ge dump MODEL "
                            "--values -o F.gecap",
                            path));
}

Result<Recorded> OpenRecorded(const std::string& path, bool needs_plan) {
  Recorded r;
  GE_ASSIGN_OR_RETURN(r.capsule, CapsuleReader::Open(path));
  GE_ASSIGN_OR_RETURN(r.manifest, ReadManifest(*r.capsule));
  GE_ASSIGN_OR_RETURN(const CapsuleOutcome outcome, ReadOutcome(*r.capsule));
  r.done = outcome.done;
  if (needs_plan) GE_RETURN_IF_ERROR(WantPlan(r));
  if (r.manifest.plan.empty()) return r;
  GE_ASSIGN_OR_RETURN(r.plan, ReadPlanMember(*r.capsule, r.manifest.plan));
  return r;
}

Options OptionsLike(const Options& asked, const CapsuleManifest& m) {
  Options o = asked;
  o.prices = "analytic";
  if (!m.numerics.empty()) o.numerics = m.numerics;
  if (!m.precision.empty()) o.precision = m.precision;
  if (!m.denormals.empty()) o.denormals = m.denormals;
  if (o.kv_cache == 0) o.kv_cache = m.kv_cache;
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

Result<Graph> ModelToReplay(const Recorded& r, bool rewritten) {
  if (!rewritten) {
    GE_ASSIGN_OR_RETURN(const CapsuleGraph* loaded, GraphOf(r.manifest, "load"));
    GE_ASSIGN_OR_RETURN(Graph graph, ReadGraphMember(r.capsule, loaded->member));
    if (graph.FindEntry(r.manifest.entry) != nullptr) return graph;
  }
  GE_ASSIGN_OR_RETURN(const CapsuleGraph* after, GraphOf(r.manifest, "rewrite"));
  return ReadGraphMember(r.capsule, after->member);
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

// A length is taken once the caches that it counts have as many rows.
Status SetStates(const Recorded& r, Session* session) {
  const Graph& graph = session->graph();
  std::vector<StateId> left;
  for (StateId id = 1; id < graph.states.size(); ++id) left.push_back(id);
  Status failed;
  for (size_t before = 0; before != left.size();) {
    before = left.size();
    failed = {};
    std::vector<StateId> again;
    for (const StateId id : left) {
      const auto t = std::find_if(r.manifest.states.begin(), r.manifest.states.end(),
                                  [&](const auto& s) { return s.name == graph.states[id].name; });
      if (t == r.manifest.states.end()) continue;
      GE_ASSIGN_OR_RETURN(const TensorView value, RecordedTensor(r, *t));
      const Status set = session->SetState(id, value);
      if (set.ok()) continue;
      again.push_back(id);
      if (failed.ok()) failed = set;
    }
    left = std::move(again);
  }
  return failed;
}

}  // namespace ge::tool
