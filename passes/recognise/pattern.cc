#include "passes/recognise/pattern.h"

#include <algorithm>
#include <cstring>

#include "ge/base/half.h"
#include "passes/purity.h"

namespace ge {
namespace {

template <typename T>
T ElementAt(const std::byte* data, size_t i) {
  T v;
  std::memcpy(&v, data + i * sizeof v, sizeof v);
  return v;
}

// The payload of a constant of `least` to `most` elements; null when it is anything else.
const std::byte* Payload(const Graph& g, const Value& v, int64_t least, int64_t most,
                         ConstScratch* scratch) {
  if (!v.constant) return nullptr;
  const auto count = ElementCount(g.consts[v.constant].type);
  if (!count || *count < least || *count > most) return nullptr;
  return ConstBytes(g.consts[v.constant], scratch);
}

}  // namespace

const Type& Pattern::TypeOf(ValueId value) const { return t_.graph().fn(fn_).value(value).type; }

std::optional<double> Pattern::Number(ValueId value) const {
  const Graph& g = t_.graph();
  ConstScratch scratch;
  const std::byte* data = value ? Payload(g, g.fn(fn_).value(value), 1, 1, &scratch) : nullptr;
  if (!data) return std::nullopt;
  const DType dtype = TypeOf(value).dtype;
  if (dtype == DType::kFloat) return ElementAt<float>(data, 0);
  if (dtype == DType::kDouble) return ElementAt<double>(data, 0);
  if (dtype == DType::kFloat16) return FloatOfHalf(ElementAt<uint16_t>(data, 0));
  if (dtype == DType::kBfloat16) return FloatOfBrain(ElementAt<uint16_t>(data, 0));
  return std::nullopt;
}

std::optional<std::vector<int64_t>> Pattern::Integers(ValueId value) const {
  constexpr int64_t kMost = 64;  // more than any tensor has axes
  const Graph& g = t_.graph();
  ConstScratch scratch;
  const std::byte* data = value ? Payload(g, g.fn(fn_).value(value), 1, kMost, &scratch) : nullptr;
  if (!data) return std::nullopt;
  const DType dtype = TypeOf(value).dtype;
  if (dtype != DType::kInt64 && dtype != DType::kInt32) return std::nullopt;
  std::vector<int64_t> out(static_cast<size_t>(*ElementCount(TypeOf(value))));
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = dtype == DType::kInt64 ? ElementAt<int64_t>(data, i) : ElementAt<int32_t>(data, i);
  }
  return out;
}

const Node* Pattern::Made(ValueId value) {
  const Node* n = value ? t_.Producer(fn_, value) : nullptr;
  if (!n || !n->domain.empty() || n->outputs.size() != 1 || !IsPure(t_.graph(), *n)) return nullptr;
  return n;
}

const Node* Pattern::Made(ValueId value, std::string_view op) {
  const Node* n = Made(value);
  return n && n->op == op ? n : nullptr;
}

ValueId Pattern::OnlyReader(ValueId value) {
  if (!value || t_.IsResult(fn_, value)) return 0;
  const std::vector<Use> readers = t_.Readers(fn_, value);
  if (readers.size() != 1) return 0;
  const Node& n = t_.graph().fn(fn_).nodes[readers[0].node_index];
  return n.outputs.size() == 1 && Made(n.outputs[0]) ? n.outputs[0] : 0;
}

ValueId Pattern::Other(const Node& n, ValueId value) {
  if (n.inputs.size() != 2) return 0;
  if (n.inputs[0] == value) return n.inputs[1];
  return n.inputs[1] == value ? n.inputs[0] : 0;
}

void Pattern::Take(ValueId value) {
  if (std::find(taken_.begin(), taken_.end(), value) == taken_.end()) taken_.push_back(value);
}

bool Pattern::Closed(ValueId out) {
  for (const ValueId v : taken_) {
    if (v == out) continue;
    if (t_.IsResult(fn_, v)) return false;
    for (const Use& u : t_.Readers(fn_, v)) {
      const Node& n = t_.graph().fn(fn_).nodes[u.node_index];
      if (n.outputs.size() != 1 ||
          std::find(taken_.begin(), taken_.end(), n.outputs[0]) == taken_.end()) {
        return false;
      }
    }
  }
  return true;
}

void Pattern::Replace(ValueId out, std::string op, std::vector<ValueId> inputs,
                      std::vector<Attr> attrs) {
  const Node* last = t_.Producer(fn_, out);
  std::vector<const Node*> replaces = {last};  // its place in the source is the new node's
  std::vector<NodeId> ids;
  for (const ValueId v : taken_) {
    const Node* n = t_.Producer(fn_, v);
    ids.push_back(n->id);
    if (n != last) replaces.push_back(n);
  }
  const Type type = TypeOf(out);
  const ValueId made = t_.AddNode(fn_, last->id, "", std::move(op), std::move(inputs),
                                  std::move(attrs), {type}, replaces)[0];
  t_.ReplaceUses(fn_, out, made);
  for (const NodeId id : ids) t_.Erase(fn_, id);
}

}  // namespace ge
