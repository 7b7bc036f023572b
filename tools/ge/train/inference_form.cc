#include "tools/ge/train/inference_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

namespace ge::tool {
namespace {

bool IsOnnx(const Node& n, std::string_view op) { return n.domain.empty() && n.op == op; }

// A value that is a constant of this name, with what the state holds.
ValueId AddWeight(Graph* g, FunctionId fn, const std::string& name, const Tensor& state) {
  Const c;
  c.name = name;
  c.type = TensorType(state.view.dtype, state.view.dims);
  PutState(state, &c);
  const ValueId made = AddConstValue(g, &g->fn(fn), std::move(c));
  g->fn(fn).value(made).name = name;
  return made;
}

void SplitPlaces(const StatesByName& states, Graph* g, FunctionId fn) {
  std::map<ValueId, int> read;
  for (size_t i = 0; i < g->fn(fn).nodes.size(); ++i) {
    for (size_t k = 0; k < g->fn(fn).nodes[i].inputs.size(); ++k) {
      const ValueId v = g->fn(fn).nodes[i].inputs[k];
      if (v == 0) continue;
      const std::string name = fmt::format("{}@{}", g->fn(fn).value(v).name, ++read[v]);
      const Tensor* state = StateOf(states, name);
      if (state == nullptr) continue;
      const ValueId own = AddWeight(g, fn, name, *state);
      g->fn(fn).nodes[i].inputs[k] = own;
    }
  }
}

void SplitNames(const StatesByName& states, Graph* g, FunctionId fn) {
  std::vector<Node> kept;
  for (Node& n : g->fn(fn).nodes) {
    const bool identity = IsOnnx(n, "Identity") && n.outputs.size() == 1 && n.outputs[0] != 0;
    const Tensor* state = identity ? StateOf(states, g->fn(fn).value(n.outputs[0]).name) : nullptr;
    if (state == nullptr) {
      kept.push_back(std::move(n));
      continue;
    }
    // The value that the node made is the constant.
    const std::string name = g->fn(fn).value(n.outputs[0]).name;
    const ValueId made = AddWeight(g, fn, name, *state);
    Function& f = g->fn(fn);
    f.value(n.outputs[0]).constant = f.value(made).constant;
    f.value(n.outputs[0]).type = f.value(made).type;
    f.values.pop_back();
  }
  g->fn(fn).nodes = std::move(kept);
}

bool IsRead(const Function& f, ValueId v) {
  const auto reads = [&](const Node& n) {
    return std::find(n.inputs.begin(), n.inputs.end(), v) != n.inputs.end();
  };
  return std::find(f.results.begin(), f.results.end(), v) != f.results.end() ||
         std::any_of(f.nodes.begin(), f.nodes.end(), reads);
}

Status LeaveTraining(const Function& f, Node* n) {
  constexpr size_t kMode = 2;  // input of Dropout
  if (IsOnnx(*n, "Dropout") && n->inputs.size() > kMode) n->inputs.resize(kMode);
  if (!IsOnnx(*n, "BatchNormalization")) return {};
  for (Attr& a : n->attrs) {
    if (a.name == "training_mode") a.value = int64_t{0};
  }
  for (size_t k = 1; k < n->outputs.size(); ++k) {
    if (n->outputs[k] == 0 || !IsRead(f, n->outputs[k])) continue;
    return Status(Code::kUnsupported,
                  fmt::format("output {} of BatchNormalization, the running {} of a batch, is read "
                              "by the net; it is not there in inference; export the model in eval "
                              "mode",
                              k, k == 1 ? "mean" : "variance"))
        .AtNode(n->name);
  }
  if (n->outputs.size() > 1) n->outputs.resize(1);
  return {};
}

}  // namespace

const Tensor* StateOf(const StatesByName& states, const std::string& name) {
  auto found = states.find(name + ".ema");
  if (found == states.end()) found = states.find(name);
  return found == states.end() ? nullptr : found->second;
}

void PutState(const Tensor& state, Const* constant) {
  auto bytes = std::make_shared<std::vector<std::byte>>(state.view.bytes);
  std::memcpy(bytes->data(), state.view.data, state.view.bytes);
  constant->data = bytes->data();
  constant->bytes = state.view.bytes;
  constant->owner = bytes;
  constant->mapped = false;
  constant->splat.clear();
  constant->expanded = nullptr;
  constant->external = {};
}

Status ToInferenceForm(const StatesByName& states, Graph* graph, FunctionId fn) {
  SplitPlaces(states, graph, fn);
  SplitNames(states, graph, fn);
  Function& f = graph->fn(fn);
  for (Node& n : f.nodes) GE_RETURN_IF_ERROR(LeaveTraining(f, &n));
  return {};
}

}  // namespace ge::tool
