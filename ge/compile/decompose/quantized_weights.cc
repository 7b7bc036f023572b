#include "ge/compile/decompose/quantized_weights.h"

#include "ge/compile/fold/folding.h"
#include "ge/ops/op.h"

namespace ge {

bool IsQuantizedWeight(const Graph& g, const Function& f, const Node& n) {
  if (!n.domain.empty() || n.op != "DequantizeLinear" || n.outputs.size() != 1) return false;
  if (!n.effects.empty() || !n.after.empty() || !f.value(n.outputs[0]).type.is_static())
    return false;
  for (ValueId v : n.inputs) {
    if (!v) continue;
    const ConstId id = f.value(v).constant;
    if (!id || (!g.consts[id].data && g.consts[id].splat.empty())) return false;
  }
  return true;
}

std::vector<NodeId> QuantizedWeightsOf(const Graph& g, const Function& f) {
  std::vector<bool> multiplied(f.values.size());
  for (const Node& n : f.nodes) {
    if (!n.domain.empty() || (n.op != "Conv" && n.op != "Gemm" && n.op != "MatMul")) continue;
    for (size_t i = 1; i < n.inputs.size(); ++i) multiplied[n.inputs[i]] = true;
  }
  std::vector<NodeId> out;
  for (const Node& n : f.nodes) {
    if (IsQuantizedWeight(g, f, n) && multiplied[n.outputs[0]]) out.push_back(n.id);
  }
  return out;
}

Const StandIn(const Type& type) {
  Const c;
  c.type = type;
  c.splat.resize(static_cast<size_t>(DTypeBits(type.dtype)) / 8);
  return c;
}

Result<std::optional<Const>> WeightFloats::Of(const Graph& g, const Function& f, const Node& n,
                                              Evaluator* evaluator) {
  std::vector<const Const*> inputs;
  std::vector<const void*> key;
  Made made;
  bool known = true;
  for (ValueId v : n.inputs) {
    const Const* c = v ? &g.consts[f.value(v).constant] : nullptr;
    inputs.push_back(c);
    known &= c == nullptr || (c->data != nullptr && c->owner != nullptr);
    key.push_back(c ? c->data : nullptr);
    if (c) made.from.push_back(*c);
  }
  for (const char* attr : {"axis", "block_size", "output_dtype"}) {
    key.push_back(reinterpret_cast<const void*>(AttrInt(n, attr)));
  }
  const Type& type = f.value(n.outputs[0]).type;
  std::lock_guard lock(mutex_);
  if (const auto it = made_.find(key); known && it != made_.end()) {
    if (it->second.floats.type == type) return std::optional(it->second.floats);
  }
  const auto bytes = ByteCount(type);
  FoldBudget* budget = FoldingScope::budget();
  if (!bytes || (budget && !budget->Take(*bytes, FoldBudget::kWorkOfOne + 2.0 * *bytes))) {
    return std::optional<Const>();
  }
  auto floats = evaluator->Evaluate(g, f, n, inputs);
  if (!floats.ok()) {
    const Code code = floats.status().code();
    if (code == Code::kUnsupported || code == Code::kLimitExceeded) return std::optional<Const>();
    return floats.status();
  }
  made.floats = std::move((*floats)[0]);
  made.floats.name = f.value(n.outputs[0]).name;
  const Const out = made.floats;
  if (known) made_[key] = std::move(made);
  return std::optional(out);
}

}  // namespace ge
