#include "tools/ge/capsule/piece.h"

#include <fmt/format.h>

#include <algorithm>

#include "ge/capsule/graph_members.h"
#include "ge/capsule/segment_graph.h"
#include "ge/capsule/tensor_members.h"

namespace ge::tool {
namespace {

// Of one value of the plan, where it lies as the graph has it.
void Note(const Recorded& r, const PlanValue& v, std::map<ValueId, const CapsuleTensor*>* out) {
  const CapsuleManifest& m = r.manifest;
  if (v.kind == PlanValueKind::kInput && v.index < m.inputs.size()) {
    (*out)[v.graph_value] = &m.inputs[v.index];
  }
  // States that the run reads are inputs behind the entry's own.
  if (v.kind == PlanValueKind::kInput && v.index >= m.inputs.size() &&
      v.index - m.inputs.size() < m.states.size()) {
    (*out)[v.graph_value] = &m.states[v.index - m.inputs.size()];
  }
}

}  // namespace

Result<Pieces> Pieces::Of(const Recorded& r) {
  Pieces out;
  out.recorded_ = &r;
  GE_ASSIGN_OR_RETURN(const CapsuleGraph* checked, GraphOf(r.manifest, "check"));
  GE_ASSIGN_OR_RETURN(out.graph_, ReadGraphMember(r.capsule, checked->member));
  const Entry* entry = out.graph_.FindEntry(r.manifest.entry);
  if (entry == nullptr || r.plan.functions.empty()) {
    return Status(Code::kDataCorrupt,
                  fmt::format("capsule '{}': its checked graph has no entry '{:.64}'",
                              r.capsule->path(), r.manifest.entry));
  }
  out.fn_ = entry->fn;
  const PlanFunction& f = r.plan.functions[0];
  for (const PlanValue& v : f.values) Note(r, v, &out.by_value_);
  for (const CapsuleTensor& t : r.manifest.values) {
    // One in an opaque layout is a list of bytes.
    const Function& fn = out.graph_.fn(out.fn_);
    if (t.graph_value == 0 || t.graph_value >= fn.values.size()) continue;
    if (t.dtype == fn.value(t.graph_value).type.dtype) out.by_value_[t.graph_value] = &t;
  }
  return out;
}

Result<const CapsuleTensor*> Pieces::TensorOf(ValueId value, size_t segment, bool whole) const {
  const auto found = by_value_.find(value);
  const bool there = found != by_value_.end() && recorded_->capsule->Has(found->second->member);
  if (there) return found->second;
  const Function& f = graph_.fn(fn_);
  const std::string name = value < f.values.size() ? f.value(value).name : "";
  if (whole) {
    return Status(
        Code::kFailedPrecondition,
        fmt::format("value '{}' was not recorded as numbers: it lies in a device's memory, "
                    "or in an engine's own layout",
                    name));
  }
  return Status(Code::kFailedPrecondition,
                fmt::format("value '{}' was not recorded; values inside of segment {} are not, and "
                            "isolate '#{}' takes it whole",
                            name, segment, segment));
}

Result<Piece> Pieces::Make(const std::vector<NodeId>& nodes, const std::vector<ValueId>& inputs,
                           const std::vector<ValueId>& outputs, size_t segment, bool whole) const {
  Piece piece;
  for (const ValueId id : inputs) {
    GE_ASSIGN_OR_RETURN(const CapsuleTensor* t, TensorOf(id, segment, whole));
    GE_ASSIGN_OR_RETURN(piece.inputs.emplace_back(), RecordedTensor(*recorded_, *t));
    piece.input_tensors.push_back(*t);
  }
  for (const ValueId id : outputs) {
    const auto listed = by_value_.find(id);
    if (listed != by_value_.end() && !recorded_->capsule->Has(listed->second->member) &&
        !recorded_->done) {
      piece.ended = true;
      piece.outputs.push_back(*listed->second);
      continue;
    }
    GE_ASSIGN_OR_RETURN(const CapsuleTensor* t, TensorOf(id, segment, whole));
    GE_ASSIGN_OR_RETURN(piece.recorded.emplace_back(), ReadTensorMember(*recorded_->capsule, *t));
    piece.outputs.push_back(*t);
  }
  GE_ASSIGN_OR_RETURN(piece.graph, NodesGraph(graph_, fn_, nodes, inputs, outputs));
  piece.fn = fn_;
  for (const Node& n : piece.graph.fn(fn_).nodes) {
    piece.nodes.push_back(NodeLabel(n));
    for (const ValueId id : n.outputs) {
      if (std::find(outputs.begin(), outputs.end(), id) != outputs.end()) continue;
      const auto found = by_value_.find(id);
      if (found == by_value_.end() || !recorded_->capsule->Has(found->second->member)) continue;
      GE_ASSIGN_OR_RETURN(const auto bytes, ReadTensorMember(*recorded_->capsule, *found->second));
      piece.inner.push_back({id, *found->second, bytes});
    }
  }
  const Plan& plan = recorded_->plan;
  const DeviceId device = plan.functions[0].segments[segment].device;
  if (device < plan.devices.size() && plan.devices[device].engine < plan.engines.size()) {
    piece.engine = plan.engines[plan.devices[device].engine].name;
  }
  return piece;
}

Result<Piece> Pieces::Segment(size_t segment) const {
  const PlanFunction& f = recorded_->plan.functions[0];
  if (segment >= f.segments.size() || f.segments[segment].offers.empty()) {
    return Status(
        Code::kInvalidArgument,
        fmt::format("segment {} {}; the plan has segments 0 to {}", segment,
                    segment < f.segments.size() ? "is a copy and has no nodes" : "is not there",
                    f.segments.size() - 1));
  }
  std::vector<ValueId> inputs, outputs;
  const PlanSegment& s = f.segments[segment];
  const auto take = [&](const std::vector<PlanValueId>& from, std::vector<ValueId>* to) {
    for (const PlanValueId id : from) {
      const bool known = id < f.values.size();
      if (!known) return false;
      to->push_back(f.values[id].graph_value);
    }
    return true;
  };
  if (!take(s.inputs, &inputs) || !take(s.outputs, &outputs)) {
    return Status(
        Code::kDataCorrupt,
        fmt::format("capsule '{}': segment {} of its plan names a value that is not there",
                    recorded_->capsule->path(), segment));
  }
  return Make(NodesOf(s), inputs, outputs, segment, true);
}

Result<Piece> Pieces::All() const {
  const Function& f = graph_.fn(fn_);
  std::vector<NodeId> nodes;
  std::vector<ValueId> outputs;
  for (const Node& n : f.nodes) {
    nodes.push_back(n.id);
    for (const ValueId v : n.outputs) {
      const auto found = by_value_.find(v);
      const bool there = found != by_value_.end() && recorded_->capsule->Has(found->second->member);
      if (there) outputs.push_back(v);
    }
  }
  return Make(nodes, f.params, outputs, 0, true);
}

std::vector<std::string> Pieces::LabelsOf(const PlanSegment& segment) const {
  const std::vector<NodeId> ids = NodesOf(segment);
  std::vector<std::string> out;
  for (const Node& n : graph_.fn(fn_).nodes) {
    if (std::find(ids.begin(), ids.end(), n.id) != ids.end()) out.push_back(NodeLabel(n));
  }
  return out;
}

Result<Piece> Pieces::Named(const std::string& name) const {
  const Function& f = graph_.fn(fn_);
  const auto node =
      std::find_if(f.nodes.begin(), f.nodes.end(), [&](const Node& n) { return n.name == name; });
  if (node == f.nodes.end()) {
    return Status(
        Code::kInvalidArgument,
        fmt::format("no node is named '{:.64}'; wanted a name of ge explain, or #SEGMENT", name));
  }
  const auto& segments = recorded_->plan.functions[0].segments;
  size_t segment = 0;
  for (size_t i = 0; i < segments.size(); ++i) {
    const std::vector<NodeId> nodes = NodesOf(segments[i]);
    if (std::find(nodes.begin(), nodes.end(), node->id) != nodes.end()) segment = i;
  }
  std::vector<ValueId> inputs, outputs;
  for (const ValueId in : node->inputs) {
    const bool again = std::find(inputs.begin(), inputs.end(), in) != inputs.end();
    if (in != 0 && f.value(in).constant == 0 && !again) inputs.push_back(in);
  }
  for (const ValueId out : node->outputs) {
    if (out != 0) outputs.push_back(out);
  }
  return Make({node->id}, inputs, outputs, segment, false);
}

}  // namespace ge::tool
