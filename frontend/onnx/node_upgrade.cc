#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "frontend/onnx/upgrade.h"

namespace ge {
namespace {

// Rounds to nearest even; beyond the largest finite value gives infinity.
uint16_t HalfBits(double value) {
  float f = static_cast<float>(value);
  uint16_t sign = std::signbit(f) ? 0x8000 : 0;
  float a = std::fabs(f);
  if (std::isnan(a)) return 0x7e00;
  if (a >= 65520.0f) return sign | 0x7c00;
  if (a < 0x1p-14f) return sign | static_cast<uint16_t>(std::nearbyint(a * 0x1p24f));
  int exponent;
  float mantissa = std::frexp(a, &exponent);                              // in [0.5, 1)
  auto bits = static_cast<uint32_t>(std::nearbyint(mantissa * 2048.0f));  // in [1024, 2048]
  return static_cast<uint16_t>(sign + (static_cast<uint32_t>(exponent + 13) << 10) + bits);
}

uint16_t Bfloat16Bits(double value) {
  auto bits = std::bit_cast<uint32_t>(static_cast<float>(value));
  if (std::isnan(value)) return 0x7fc0;
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

Type VectorType(DType dtype, size_t size) {
  return TensorType(dtype, std::vector<int64_t>{static_cast<int64_t>(size)});
}

template <typename T>
std::optional<T> Take(Node* n, std::string_view name) {
  for (size_t i = 0; i < n->attrs.size(); ++i) {
    if (n->attrs[i].name != name) continue;
    auto* value = std::get_if<T>(&n->attrs[i].value);
    if (!value) return std::nullopt;  // left in place, refused by the operator's record
    T taken = std::move(*value);
    n->attrs.erase(n->attrs.begin() + static_cast<ptrdiff_t>(i));
    return taken;
  }
  return std::nullopt;
}

}  // namespace

bool IsPlainFloat(DType t) {
  return t == DType::kFloat || t == DType::kDouble || t == DType::kFloat16 || t == DType::kBfloat16;
}

ValueHint NodeUpgrade::input_hint(size_t i) const {
  return has_input(i) ? (*hints_)[node.inputs[i]] : ValueHint{};
}

const Const* NodeUpgrade::input_const(size_t i) const {
  if (!has_input(i)) return nullptr;
  ConstId id = graph_->fn(fn_).value(node.inputs[i]).constant;
  return id ? &graph_->consts[id] : nullptr;
}

std::optional<std::vector<int64_t>> NodeUpgrade::TakeInts(std::string_view name) {
  return Take<std::vector<int64_t>>(&node, name);
}
std::optional<double> NodeUpgrade::TakeFloat(std::string_view name) {
  return Take<double>(&node, name);
}
std::optional<std::vector<double>> NodeUpgrade::TakeFloats(std::string_view name) {
  return Take<std::vector<double>>(&node, name);
}
std::optional<int64_t> NodeUpgrade::TakeInt(std::string_view name) {
  return Take<int64_t>(&node, name);
}

std::optional<std::vector<std::string>> NodeUpgrade::TakeStrings(std::string_view name) {
  return Take<std::vector<std::string>>(&node, name);
}

void NodeUpgrade::SetAttr(std::string name, Attr::Payload value) {
  for (Attr& a : node.attrs) {
    if (a.name != name) continue;
    a.value = std::move(value);
    return;
  }
  node.attrs.push_back({std::move(name), std::move(value)});
}

void NodeUpgrade::SetInput(size_t i, ValueId value) {
  if (node.inputs.size() <= i) node.inputs.resize(i + 1, 0);
  node.inputs[i] = value;
}

ValueId NodeUpgrade::NewValue(ValueHint hint) {
  ValueId v = AddValue(&fn(), Type{});
  hints_->resize(v + 1);
  (*hints_)[v] = hint;
  return v;
}

ValueId NodeUpgrade::IntsConst(const std::vector<int64_t>& values) {
  Type type = VectorType(DType::kInt64, values.size());
  Const c = MakeConst(type, values.data(), values.size() * sizeof(int64_t));
  ValueId v = AddConstValue(graph_, &fn(), std::move(c));
  hints_->resize(v + 1);
  (*hints_)[v] = {DType::kInt64, 1};
  return v;
}

ValueId NodeUpgrade::IntScalar(int64_t value) {
  Const c = MakeConst(TensorType(DType::kInt64, std::vector<int64_t>{}), &value, sizeof value);
  ValueId v = AddConstValue(graph_, &fn(), std::move(c));
  hints_->resize(v + 1);
  (*hints_)[v] = {DType::kInt64, 0};
  return v;
}

ValueId NodeUpgrade::FloatsConst(const std::vector<float>& values) {
  Type type = VectorType(DType::kFloat, values.size());
  Const c = MakeConst(type, values.data(), values.size() * sizeof(float));
  ValueId v = AddConstValue(graph_, &fn(), std::move(c));
  hints_->resize(v + 1);
  (*hints_)[v] = {DType::kFloat, 1};
  return v;
}

ValueId NodeUpgrade::FloatScalar(DType dtype, double value) {
  std::byte bytes[8];
  auto put = [&](auto v) { std::memcpy(bytes, &v, sizeof v); };
  if (dtype == DType::kDouble) {
    put(value);
  } else if (dtype == DType::kFloat16) {
    put(HalfBits(value));
  } else if (dtype == DType::kBfloat16) {
    put(Bfloat16Bits(value));
  } else {
    put(static_cast<float>(value));
  }
  Const c = MakeConst(TensorType(dtype, std::vector<int64_t>{}), bytes,
                      static_cast<uint64_t>(DTypeBits(dtype)) / 8);
  ValueId v = AddConstValue(graph_, &fn(), std::move(c));
  hints_->resize(v + 1);
  (*hints_)[v] = {dtype, 0};
  return v;
}

Node NodeUpgrade::MakeNode(std::string op, std::vector<ValueId> inputs, std::vector<Attr> attrs,
                           std::vector<ValueId> outputs) {
  Node n;
  n.id = fn().next_node_id++;
  n.op = std::move(op);
  n.inputs = std::move(inputs);
  n.outputs = std::move(outputs);
  n.attrs = std::move(attrs);
  n.loc = node.loc;
  n.origin.push_back({"", {NodeLabel(node)}});
  return n;
}

void NodeUpgrade::AddBefore(std::string op, std::vector<ValueId> inputs, std::vector<Attr> attrs,
                            std::vector<ValueId> outputs) {
  before.push_back(
      MakeNode(std::move(op), std::move(inputs), std::move(attrs), std::move(outputs)));
  HintOutputs(*graph_, before.back(), hints_);
}

void NodeUpgrade::AddAfter(std::string op, std::vector<ValueId> inputs, std::vector<Attr> attrs,
                           std::vector<ValueId> outputs) {
  after.push_back(MakeNode(std::move(op), std::move(inputs), std::move(attrs), std::move(outputs)));
}

ValueId NodeUpgrade::Before(std::string op, std::vector<ValueId> inputs, std::vector<Attr> attrs) {
  ValueId out = NewValue();
  AddBefore(std::move(op), std::move(inputs), std::move(attrs), {out});
  return out;
}

Status NodeUpgrade::WantInputs(size_t at_most) const {
  if (node.inputs.size() <= at_most) return {};
  return Invalid(fmt::format("it has {} inputs, wanted at most {} at that opset",
                             node.inputs.size(), at_most));
}

Status NodeUpgrade::Unsupported(const std::string& what) const {
  return Status(Code::kUnsupported, fmt::format("{} of opset {} in node '{}': {}", node.op, opset,
                                                NodeLabel(node), what));
}

Status NodeUpgrade::Invalid(const std::string& what) const {
  return Status(Code::kInvalidGraph, fmt::format("{} of opset {} in node '{}': {}", node.op, opset,
                                                 NodeLabel(node), what));
}

}  // namespace ge
