#include "passes/quant/quantized_groups.h"

namespace ge {
namespace {

bool IsOnnx(const Node* n, std::string_view op) {
  return n != nullptr && n->domain.empty() && n->op == op;
}

bool IsCode(DType dtype) { return dtype == DType::kInt8 || dtype == DType::kUint8; }

// The only reader of a value, with its slot; null where there are others.
const Node* OnlyReader(Transaction& t, FunctionId fn, ValueId v, uint32_t* slot) {
  if (!v || t.IsResult(fn, v)) return nullptr;
  const std::vector<Use> readers = t.Readers(fn, v);
  if (readers.size() != 1) return nullptr;
  *slot = readers[0].slot;
  return &t.graph().fn(fn).nodes[readers[0].node_index];
}

}  // namespace

bool IsQuantized(Transaction& transaction, FunctionId fn, const Node& n) {
  constexpr int kMostBehind = 2;  // Relu, Clip
  const Node* at = &n;
  for (int i = 0; i <= kMostBehind; ++i) {
    uint32_t slot = 0;
    if (at->outputs.size() != 1) return false;
    at = OnlyReader(transaction, fn, at->outputs[0], &slot);
    if (at == nullptr || slot != 0) return false;
    if (IsOnnx(at, "QuantizeLinear"))
      return IsCode(transaction.graph().fn(fn).value(at->outputs[0]).type.dtype);
    if (!IsOnnx(at, "Relu") && !IsOnnx(at, "Clip")) return false;
  }
  return false;
}

bool IsQuantizedWeight(Transaction& transaction, FunctionId fn, const Node& n) {
  const Function& f = transaction.graph().fn(fn);
  if (!IsOnnx(&n, "DequantizeLinear") || n.outputs.size() != 1) return false;
  for (ValueId v : n.inputs) {
    if (v && !f.value(v).constant) return false;
  }
  uint32_t slot = 0;
  const Node* product = OnlyReader(transaction, fn, n.outputs[0], &slot);
  const bool conv = IsOnnx(product, "Conv"), gemm = IsOnnx(product, "Gemm");
  if (!conv && !gemm && !IsOnnx(product, "MatMul")) return false;
  const DType codes = f.value(n.inputs[0]).type.dtype;
  if (slot == 0 || !(slot == 1 ? IsCode(codes) : codes == DType::kInt32)) return false;
  const Node* x = transaction.Producer(fn, product->inputs[0]);
  return IsOnnx(x, "DequantizeLinear") && IsCode(f.value(x->inputs[0]).type.dtype) &&
         !f.value(x->inputs[0]).constant && IsQuantized(transaction, fn, *product);
}

}  // namespace ge
