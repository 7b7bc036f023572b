// ge isolate F.gecap NODE|#SEGMENT -o G.gecap|G.gt: a piece of a recorded run, with the values that
// it read and made, as a capsule of its own or as a case for ge-test.
#include <fmt/format.h>

#include <charconv>

#include "frontend/text/text.h"
#include "ge/capsule/graph_members.h"
#include "ge/capsule/store/member_name.h"
#include "ge/capsule/tensor_members.h"
#include "tools/ge/capsule/piece.h"
#include "tools/ge/command.h"

namespace ge::tool {
namespace {

constexpr uint64_t kMostCaseBytes = 4u << 20;  // of a text case, which people read

Result<Piece> AskedPiece(const Recorded& r, const std::string& asked) {
  GE_ASSIGN_OR_RETURN(const Pieces pieces, Pieces::Of(r));
  if (!asked.starts_with('#')) return pieces.Named(asked);
  size_t segment = 0;
  const char* end = asked.data() + asked.size();
  const auto [stop, error] = std::from_chars(asked.data() + 1, end, segment);
  if (error == std::errc() && stop == end) return pieces.Segment(segment);
  return Status(
      Code::kInvalidArgument,
      fmt::format("'{:.64}' is no segment; wanted # and its number in ge explain", asked));
}

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

// Inputs and results have names of the model, which a case needs to be there and to differ.
void NameValues(Piece* piece) {
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
}

Result<std::string> CaseText(const Options& o, const Piece& piece) {
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
  std::string text = fmt::format("# {} of {}, which ran on {}.\n--- graph\n{}", o.piece, o.model,
                                 piece.engine, PrintText(piece.graph));
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

Status WriteCapsule(const Options& o, const Recorded& r, Piece piece) {
  GE_ASSIGN_OR_RETURN(const auto writer, CapsuleWriter::Create(o.output_file));
  CapsuleManifest m = r.manifest;
  m.entry = "main";
  m.graphs = {{"load", "graph/00-load.gepb"}};
  m.plan.clear();
  m.expanded.clear();
  m.states.clear();
  m.values.clear();
  m.inputs = std::move(piece.input_tensors);
  m.outputs = std::move(piece.outputs);
  GraphMembers graphs(writer.get());
  GE_RETURN_IF_ERROR(graphs.Write(m.graphs[0].member, piece.graph));
  for (size_t i = 0; i < m.inputs.size(); ++i) {
    CapsuleTensor& t = m.inputs[i];
    t.plan_value = t.graph_value = 0;
    t.member = fmt::format("input/{}-{}.npy", i, MemberPart(t.name));
    const TensorView& v = piece.inputs[i];
    GE_RETURN_IF_ERROR(
        WriteTensorMember(t, {static_cast<const std::byte*>(v.data), v.bytes}, writer.get()));
  }
  for (size_t i = 0; i < piece.recorded.size(); ++i) {
    CapsuleTensor& t = m.outputs[i];
    t.plan_value = t.graph_value = 0;
    t.member = fmt::format("output/{}-{}.npy", i, MemberPart(t.name));
    GE_RETURN_IF_ERROR(WriteTensorMember(t, piece.recorded[i], writer.get()));
  }
  GE_RETURN_IF_ERROR(WriteManifest(m, writer.get()));
  GE_RETURN_IF_ERROR(WriteOutcome({!piece.ended, ""}, writer.get()));
  return writer->Finish();
}

Status IsolatePiece(const Options& o) {
  const bool as_case = o.output_file.ends_with(".gt");
  if (!as_case && !o.output_file.ends_with(".gecap")) {
    return Status(Code::kInvalidArgument,
                  fmt::format("-o is '{:.64}', wanted F.gecap or F.gt", o.output_file));
  }
  GE_ASSIGN_OR_RETURN(const Recorded r, OpenRecorded(o.model));
  GE_ASSIGN_OR_RETURN(Piece piece, AskedPiece(r, o.piece));
  if (piece.ended && as_case) {
    return Status(
        Code::kFailedPrecondition,
        "the recorded run ended in this piece, so that a case has nothing to expect; write "
        "a capsule: -o F.gecap");
  }
  NameValues(&piece);
  fmt::print("{}: {} nodes from '{}', which ran on {}; {} inputs, {} outputs\n", o.output_file,
             piece.nodes.size(), piece.nodes[0], piece.engine, piece.inputs.size(),
             piece.outputs.size());
  if (!as_case) return WriteCapsule(o, r, std::move(piece));
  GE_ASSIGN_OR_RETURN(const std::string text, CaseText(o, piece));
  return WriteFile(o.output_file, text);
}

}  // namespace

int Isolate(const Options& options) {
  const Status status = IsolatePiece(options);
  return status.ok() ? 0 : Fail(status);
}

}  // namespace ge::tool
