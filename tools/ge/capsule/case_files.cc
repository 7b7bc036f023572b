#include "tools/ge/capsule/case_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "frontend/text/text.h"
#include "ge/capsule/graph_members.h"
#include "ge/capsule/store/member_name.h"
#include "ge/capsule/tensor_members.h"
#include "ge/ir/cut.h"
#include "ge/ops/edit.h"

namespace ge::tool {
namespace {

constexpr uint64_t kMostCaseBytes = 4u << 20;  // of a text case, which people read

// "f32[2] = [1, 2]", as a text case has it.
std::string TensorText(const CapsuleTensor& t, std::span<const std::byte> bytes,
                       const Graph& graph) {
  Const c;
  c.name = "t";
  c.type.kind = TypeKind::kTensor;
  c.type.dtype = t.dtype;
  c.type.ranked = true;
  for (const int64_t d : t.dims) c.type.dims.push_back(KnownDim(d));
  c.data = bytes.data();
  c.bytes = bytes.size();
  const std::string text = PrintConst(c, graph);
  const size_t at = text.find(" : ");
  return at == std::string::npos ? text : text.substr(at + 3);
}

Status AddTensor(const char* folder, size_t i, std::span<const std::byte> bytes,
                 CapsuleTensor* tensor, CapsuleWriter* writer) {
  tensor->plan_value = tensor->graph_value = 0;
  tensor->member = fmt::format("{}/{}-{}.npy", folder, i, MemberPart(tensor->name));
  return WriteTensorMember(*tensor, bytes, writer);
}

// The recorded states that the graph still has.
Status AddStates(const Recorded& r, const Graph& graph, CapsuleManifest* m, CapsuleWriter* writer) {
  std::vector<CapsuleTensor> kept;
  for (const CapsuleTensor& t : m->states) {
    const bool used = std::any_of(graph.states.begin(), graph.states.end(),
                                  [&](const State& s) { return s.name == t.name; });
    if (!used) continue;
    GE_ASSIGN_OR_RETURN(const auto bytes, ReadTensorMember(*r.capsule, t));
    kept.push_back(t);
    GE_RETURN_IF_ERROR(AddTensor("state", kept.size(), bytes, &kept.back(), writer));
  }
  m->states = std::move(kept);
  return {};
}

}  // namespace

void TidyPiece(Piece* piece) {
  Function& f = piece->graph.fn(piece->graph.entries[0].fn);
  for (size_t i = 0; i < f.params.size(); ++i) {
    std::string& name = f.value(f.params[i]).name;
    if (name.empty()) name = fmt::format("in{}", i);
    piece->input_tensors[i].name = name;
  }
  for (size_t i = 0; i < f.results.size(); ++i) {
    std::string& name = f.value(f.results[i]).name;
    if (name.empty()) name = fmt::format("out{}", i);
    piece->outputs[i].name = name;
  }
  DropUncalled(&piece->graph);
  DropUnusedStates(&piece->graph);
  Compact(&piece->graph);
}

Status WriteCaseCapsule(const std::string& path, const Recorded& r, const Piece& piece,
                        const std::string& plan) {
  GE_ASSIGN_OR_RETURN(const auto writer, CapsuleWriter::Create(path));
  CapsuleManifest m = r.manifest;
  m.entry = "main";
  m.graphs = {{"load", "graph/00-load.gepb"}};
  if (!plan.empty()) {
    for (const char* stage : {"rewrite", "check"}) m.graphs.push_back({stage, m.graphs[0].member});
  }
  m.plan = plan.empty() ? "" : "plan/run.plan";
  m.expanded.clear();
  m.in_pieces = false;
  m.kv_cache = 0;
  m.values.clear();
  m.states_after.clear();
  m.left_out.clear();
  m.inputs = piece.input_tensors;
  m.outputs = piece.outputs;
  GraphMembers graphs(writer.get());
  GE_RETURN_IF_ERROR(graphs.Write(m.graphs[0].member, piece.graph));
  if (!plan.empty()) GE_RETURN_IF_ERROR(writer->Add(m.plan, plan));
  for (size_t i = 0; i < m.inputs.size(); ++i) {
    const TensorView& v = piece.inputs[i];
    GE_RETURN_IF_ERROR(AddTensor("input", i, {static_cast<const std::byte*>(v.data), v.bytes},
                                 &m.inputs[i], writer.get()));
  }
  GE_RETURN_IF_ERROR(AddStates(r, piece.graph, &m, writer.get()));
  for (size_t i = 0; i < piece.recorded.size(); ++i) {
    GE_RETURN_IF_ERROR(AddTensor("output", i, piece.recorded[i], &m.outputs[i], writer.get()));
  }
  if (r.capsule->Has(kMachineMember)) {
    GE_ASSIGN_OR_RETURN(const auto text, r.capsule->Read(kMachineMember));
    GE_RETURN_IF_ERROR(
        writer->Add(kMachineMember, {reinterpret_cast<const char*>(text.data()), text.size()}));
  }
  GE_RETURN_IF_ERROR(WriteManifest(m, writer.get()));
  GE_RETURN_IF_ERROR(WriteOutcome({!piece.ended, ""}, writer.get()));
  return writer->Finish();
}

Result<std::string> CaseText(const std::string& title, const Piece& piece) {
  uint64_t bytes = 0;
  for (const TensorView& v : piece.inputs) bytes += v.bytes;
  for (const auto& out : piece.recorded) bytes += out.size();
  for (const Const& c : piece.graph.consts) bytes += c.bytes;
  if (bytes > kMostCaseBytes) {
    return Status(Code::kLimitExceeded,
                  fmt::format("the piece has tensors of {} bytes, a text case at most {}; write a "
                              "capsule: -o F.gecap",
                              bytes, kMostCaseBytes));
  }
  std::string text = fmt::format("# {}\n--- graph\n{}", title, PrintText(piece.graph));
  for (size_t i = 0; i < piece.inputs.size(); ++i) {
    const TensorView& v = piece.inputs[i];
    text += fmt::format("--- input {}\n{}\n", piece.input_tensors[i].name,
                        TensorText(piece.input_tensors[i],
                                   {static_cast<const std::byte*>(v.data), v.bytes}, piece.graph));
  }
  text += "--- run run\n";
  for (size_t i = 0; i < piece.outputs.size(); ++i) {
    text += fmt::format("--- expect-value {}\n{}\n", piece.outputs[i].name,
                        TensorText(piece.outputs[i], piece.recorded[i], piece.graph));
  }
  return text;
}

}  // namespace ge::tool
