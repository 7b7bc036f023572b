#include "tools/ge/capsule/own_errors.h"

#include <algorithm>
#include <map>
#include <set>

#include "ge/capsule/segment_graph.h"
#include "ge/ir/walk.h"

namespace ge::tool {
namespace {

bool Has(const std::vector<ValueId>& values, ValueId v) {
  return std::find(values.begin(), values.end(), v) != values.end();
}

std::vector<std::string> LabelsOf(const Function& f, const std::vector<NodeId>& ids) {
  std::vector<std::string> out;
  for (const Node& n : f.nodes) {
    if (std::find(ids.begin(), ids.end(), n.id) != ids.end()) out.push_back(NodeLabel(n));
  }
  return out;
}

// Readers of the piece's inner values read inputs with what was recorded of them instead.
void CutAtRecorded(const Piece& piece, Trial* trial) {
  Function& f = trial->graph.fn(piece.fn);
  std::map<ValueId, ValueId> instead;
  for (const InnerValue& inner : piece.inner) {
    Type type = f.value(inner.value).type;
    const ValueId given = AddValue(&f, std::move(type), f.value(inner.value).name + "@recorded");
    instead[inner.value] = given;
    f.params.push_back(given);
    f.results.push_back(inner.value);
    const auto& t = inner.tensor;
    trial->inputs.push_back(
        {t.dtype, t.dims, const_cast<std::byte*>(inner.recorded.data()), inner.recorded.size()});
  }
  for (Node& n : f.nodes) {
    for (ValueId& in : n.inputs) {
      const auto found = instead.find(in);
      if (found != instead.end()) in = found->second;
    }
  }
}

// The outputs of every node as results: what each node alone reads and makes.
struct EachNode {
  std::vector<ValueId> values;
  TrialAnswer answer;
  std::map<ValueId, size_t> at;
};

Result<EachNode> ReferenceOfEach(const Recorded& r, const Piece& piece, const Options& reference,
                                 double seconds) {
  EachNode out;
  Trial trial{piece.graph, "main", piece.inputs, reference};
  Function& f = trial.graph.fn(piece.fn);
  f.results.clear();
  for (const Node& n : f.nodes) {
    for (const ValueId v : n.outputs) {
      if (v == 0 || !f.value(v).type.is_static()) continue;
      out.at[v] = out.values.size();
      out.values.push_back(v);
      f.results.push_back(v);
    }
  }
  GE_ASSIGN_OR_RETURN(out.answer, RunTrial(r, trial, seconds));
  return out;
}

// One node of a piece on what the reference has for its inputs; false in *known where one of them
// is not there.
Trial OneNode(const Piece& piece, const EachNode& each, const Node& node, bool* known) {
  const Function& f = piece.graph.fn(piece.fn);
  Trial trial;
  std::vector<ValueId> inputs, outputs;
  for (const ValueId in : node.inputs) {
    if (in == 0 || f.value(in).constant != 0 || Has(inputs, in)) continue;
    inputs.push_back(in);
    const auto made = each.at.find(in);
    const auto param = std::find(f.params.begin(), f.params.end(), in);
    if (made != each.at.end()) {
      const auto& bytes = each.answer[made->second];
      trial.inputs.push_back({f.value(in).type.dtype, f.value(in).type.static_dims(),
                              const_cast<std::byte*>(bytes.data()), bytes.size()});
    } else if (param != f.params.end()) {
      trial.inputs.push_back(piece.inputs[static_cast<size_t>(param - f.params.begin())]);
    } else {
      *known = false;
    }
  }
  for (const ValueId v : node.outputs) {
    if (v == 0) continue;
    outputs.push_back(v);
    *known &= each.at.count(v) != 0;
  }
  auto graph = NodesGraph(piece.graph, piece.fn, {{node.id}}, inputs, outputs);
  *known &= graph.ok();
  if (graph.ok()) trial.graph = *std::move(graph);
  trial.entry = "main";
  return trial;
}

}  // namespace

std::vector<NodeId> NodesBehind(const Function& f, ValueId value,
                                const std::vector<ValueId>& known) {
  const std::vector<int32_t> producer = BuildProducers(f);
  std::set<uint32_t> found;
  std::vector<ValueId> open = {value};
  while (!open.empty()) {
    const ValueId v = open.back();
    open.pop_back();
    if (v >= producer.size() || producer[v] < 0) continue;
    if (!found.insert(static_cast<uint32_t>(producer[v])).second) continue;
    for (const ValueId in : f.nodes[static_cast<size_t>(producer[v])].inputs) {
      if (!Has(known, in)) open.push_back(in);
    }
  }
  std::vector<NodeId> out;
  for (const uint32_t i : found) out.push_back(f.nodes[i].id);
  return out;
}

Result<std::vector<OwnError>> OwnErrorsOf(const Recorded& r, const Piece& piece,
                                          const Options& options, double bound, bool rounds) {
  Trial trial{piece.graph, "main", piece.inputs, options};
  CutAtRecorded(piece, &trial);
  GE_ASSIGN_OR_RETURN(const TrialAnswer wanted, RunTrial(r, trial, options.seconds_a_trial));
  const Function& f = piece.graph.fn(piece.fn);
  std::vector<ValueId> known;
  for (const InnerValue& inner : piece.inner) known.push_back(inner.value);
  struct Made {
    ValueId value;
    const CapsuleTensor* tensor;
    std::span<const std::byte> recorded;
  };
  std::map<ValueId, std::pair<Made, size_t>> made;
  for (size_t i = 0; i < piece.outputs.size(); ++i) {
    made.emplace(f.results[i],
                 std::pair(Made{f.results[i], &piece.outputs[i], piece.recorded[i]}, i));
  }
  for (size_t i = 0; i < piece.inner.size(); ++i) {
    const InnerValue& in = piece.inner[i];
    made.emplace(in.value,
                 std::pair(Made{in.value, &in.tensor, in.recorded}, piece.outputs.size() + i));
  }
  std::vector<OwnError> errors;
  for (const Node& n : f.nodes) {
    for (const ValueId v : n.outputs) {
      const auto found = made.find(v);
      if (found == made.end() || found->second.second >= wanted.size()) continue;
      const auto& [m, position] = found->second;
      const double least = RelativeBound(m.tensor->dtype, rounds);
      OwnError e;
      e.compared =
          CompareTensor(*m.tensor, m.recorded, wanted[position], bound >= 0 ? bound : least);
      e.ids = NodesBehind(f, v, known);
      e.nodes = LabelsOf(f, e.ids);
      errors.push_back(std::move(e));
    }
  }
  return errors;
}

Result<std::vector<std::string>> WrongAlone(const Recorded& r, const Piece& piece,
                                            const std::vector<NodeId>& among,
                                            const Options& reference, const Options& engine,
                                            double bound) {
  const double seconds = reference.seconds_a_trial;
  GE_ASSIGN_OR_RETURN(const EachNode each, ReferenceOfEach(r, piece, reference, seconds));
  const Function& f = piece.graph.fn(piece.fn);
  for (const Node& n : f.nodes) {
    if (std::find(among.begin(), among.end(), n.id) == among.end()) continue;
    bool known = true;
    Trial trial = OneNode(piece, each, n, &known);
    if (!known) continue;
    trial.options = engine;
    const auto found = RunTrial(r, trial, seconds);
    size_t position = 0;
    for (const ValueId v : n.outputs) {
      if (v == 0 || !found.ok()) continue;
      CapsuleTensor t;
      t.dtype = f.value(v).type.dtype;
      const Compared c = CompareTensor(t, (*found)[position++], each.answer[each.at.at(v)], bound);
      if (!c.within) return std::vector<std::string>{NodeLabel(n)};
    }
  }
  return std::vector<std::string>();
}

}  // namespace ge::tool
