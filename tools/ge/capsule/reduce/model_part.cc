#include "tools/ge/capsule/reduce/model_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "ge/ir/cut.h"
#include "ge/ir/walk.h"
#include "ge/ops/edit.h"

namespace ge::tool {
namespace {

bool IsNumbers(const FlowValue& v) {
  return v.is_tensor() && v.dtype != DType::kString && (v.data != nullptr || v.bytes == 0);
}

Type TypeOf(const FlowValue& v) { return TensorType(v.dtype, v.dims.vector()); }

// By value: whether inputs, states or chance have a say in it.
std::vector<bool> VariesOf(const Function& f) {
  std::vector<bool> varies(f.values.size(), false);
  for (const ValueId v : f.params) varies[v] = true;
  for (const Node& n : f.nodes) {
    const bool moved = !n.effects.empty() || std::any_of(n.inputs.begin(), n.inputs.end(),
                                                         [&](ValueId v) { return varies[v]; });
    for (const ValueId v : n.outputs) varies[v] = varies[v] || moved;
  }
  return varies;
}

// Names that a capsule, a case and a user can tell apart.
std::vector<std::string> NamesOf(Function* f, const std::vector<ValueId>& values,
                                 const char* word) {
  std::vector<std::string> names;
  for (size_t i = 0; i < values.size(); ++i) {
    std::string& name = f->value(values[i]).name;
    if (name.empty()) name = fmt::format("{}{}", word, i);
    names.push_back(name);
  }
  return names;
}

}  // namespace

KnownModel::KnownModel(Graph graph, std::string entry, std::vector<FlowValue> values)
    : graph_(std::move(graph)), entry_(std::move(entry)), values_(std::move(values)) {
  const Entry* found = graph_.FindEntry(entry_);
  fn_ = found != nullptr ? found->fn : 0;
  values_.resize(main().values.size());
  varies_ = VariesOf(main());
}

bool KnownModel::is_known(ValueId id) const { return IsNumbers(values_[id]); }

NodeChoice KnownModel::Whole() const {
  return {std::vector<bool>(main().nodes.size(), true), main().results};
}

std::vector<bool> KnownModel::Closed(std::vector<bool> keep) const {
  const Function& f = main();
  const std::vector<int32_t> producer = BuildProducers(f);
  std::set<std::pair<EffectKind, uint32_t>> touched;
  for (size_t i = keep.size(); i-- > 0;) {
    const Node& n = f.nodes[i];
    for (const Effect& e : n.effects) keep[i] = keep[i] || touched.count({e.kind, e.object}) != 0;
    if (!keep[i]) continue;
    for (const Effect& e : n.effects) touched.insert({e.kind, e.object});
    for (const ValueId v : n.inputs) {
      if (v == 0 || producer[v] < 0 || is_known(v)) continue;
      keep[static_cast<size_t>(producer[v])] = true;
    }
  }
  return keep;
}

// What constants alone decide becomes one: an engine may need it to be one. Sizes that the run had
// are those of the part.
void KnownModel::FixInputs(Graph* graph) const {
  Function& f = graph->fn(fn_);
  for (ValueId v = 1; v < f.values.size(); ++v) {
    if (f.value(v).constant == 0 && is_known(v)) f.value(v).type = TypeOf(values_[v]);
  }
  std::vector<ValueId> params;
  for (const ValueId v : f.params) {
    if (varies_[v] || !is_known(v)) {
      params.push_back(v);
      continue;
    }
    Const c;
    c.name = f.value(v).name;
    c.type = f.value(v).type;
    c.owner = values_[v].owner;
    c.data = values_[v].data;
    c.bytes = values_[v].bytes;
    f.value(v).constant = graph->AddConst(std::move(c));
  }
  f.params = std::move(params);
}

ModelPart KnownModel::Part(const NodeChoice& choice) const {
  ModelPart part;
  part.graph = graph_;
  Function& f = part.graph.fn(fn_);
  CutFunction(&f, NeededNodes(f, Closed(choice.keep), choice.results), choice.results);
  FixInputs(&part.graph);
  for (const ValueId v : f.params) part.inputs.push_back(values_[v]);
  for (const ValueId v : f.results) part.results.push_back(values_[v]);
  part.result_ids = f.results;
  part.input_names = NamesOf(&f, f.params, "in");
  part.result_names = NamesOf(&f, f.results, "out");
  for (const Node& n : f.nodes) part.nodes.push_back(NodeLabel(n));
  Entry entry = *graph_.FindEntry(entry_);
  entry.name = "main";
  part.graph.entries = {std::move(entry)};
  DropUncalled(&part.graph);
  DropUnusedStates(&part.graph);
  Compact(&part.graph);
  return part;
}

size_t CountNodes(const Graph& graph) {
  size_t count = 0;
  for (const Function& f : graph.functions) count += f.nodes.size();
  return count;
}

size_t KnownModel::nodes() const { return CountNodes(Part(Whole()).graph); }

TensorView ViewOf(const FlowValue& v) {
  return {v.dtype, v.dims.vector(), const_cast<std::byte*>(v.data), v.bytes};
}

}  // namespace ge::tool
