#include "ge/session/piece_recorder.h"

#include <fmt/format.h>

#include <string>

#include "frontend/text/plan_text.h"
#include "ge/capsule/store/member_name.h"
#include "ge/capsule/tensor_members.h"
#include "ge/session/bound_key.h"

namespace ge {
namespace {

std::string StemOf(size_t execution, const char* what, size_t i, const std::string& name) {
  return fmt::format("execution/{}/{}-{}-{}", execution, what, i, MemberPart(name));
}

}  // namespace

Result<uint32_t> PieceRecorder::NumberOf(const std::shared_ptr<Compiled>& piece) {
  const auto known = numbers_.find(piece);
  if (known != numbers_.end()) return known->second;
  const auto number = static_cast<uint32_t>(numbers_.size());
  CapsulePiece p;
  p.key = piece->bound_key;
  p.function = piece->plan.functions[0].name;
  p.plan = fmt::format("piece/{}.plan", number);
  p.expanded.assign(piece->expanded.begin(), piece->expanded.end());
  GE_RETURN_IF_ERROR(writer_.Add(p.plan, PrintPlan(piece->plan)));
  if (!piece->graph.functions.empty()) {
    // Of a piece that was planned before anybody watched, where its graph is still the bound one.
    if (p.key.empty() && p.expanded.empty()) p.key = BoundKey(piece->graph, piece->fn);
    p.graph = fmt::format("piece/{}.gepb", number);
    GE_RETURN_IF_ERROR(graphs_.Write(p.graph, piece->graph));
  }
  GE_RETURN_IF_ERROR(WritePiece(number, p, &writer_));
  numbers_.emplace(piece, number);
  return number;
}

Status PieceRecorder::Begin(const std::shared_ptr<Compiled>& piece,
                            std::span<const TensorView> inputs) {
  current_ = {};
  GE_ASSIGN_OR_RETURN(current_.piece, NumberOf(piece));
  const size_t n = executions_++;
  for (size_t i = 0; values_ && i < inputs.size(); ++i) {
    const std::string& name = piece->inputs[i].name;
    GE_RETURN_IF_ERROR(tensors_.Write(inputs[i], name, StemOf(n, "in", i, name), &current_.inputs));
  }
  for (size_t i = 0; values_ && i < piece->outputs.size(); ++i) {
    const Compiled::Port& port = piece->outputs[i];
    CapsuleTensor t;
    t.name = port.name;
    t.dtype = port.dtype;
    t.dims = port.dims;
    t.member = StemOf(n, "out", i, port.name) + ".npy";
    current_.outputs.push_back(std::move(t));
  }
  return WriteExecution(n, current_, &writer_);
}

Status PieceRecorder::End(std::span<const TensorView> outputs) {
  for (size_t i = 0; i < outputs.size() && i < current_.outputs.size(); ++i) {
    const TensorView& v = outputs[i];
    const CapsuleTensor& t = current_.outputs[i];
    GE_RETURN_IF_ERROR(
        WriteTensorMember(t, {static_cast<const std::byte*>(v.data), v.bytes}, &writer_));
    tensors_.Learn(t, v.data, v.bytes);
  }
  return {};
}

}  // namespace ge
