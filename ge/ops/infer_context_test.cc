#include <cstdlib>

#include "ge/ops/defaults.h"
#include "ge/ops/infer_context_testing.h"

namespace ge {
namespace {

std::vector<std::string> SplitList(const std::string& text) {
  std::vector<std::string> parts;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

}  // namespace

Attr A(std::string name, Attr::Payload value) { return {std::move(name), std::move(value)}; }

TestContext::TestContext(std::string_view op, const std::vector<std::string>& inputs,
                         std::vector<Attr> attrs, size_t outputs) {
  const size_t dot = op.find('.');
  node_.domain = dot == op.npos ? "" : op.substr(0, dot);
  node_.op = dot == op.npos ? op : op.substr(dot + 1);
  node_.name = "n";
  node_.attrs = std::move(attrs);
  for (const std::string& text : inputs) {
    inputs_.push_back(Parse(text));
    node_.inputs.push_back(text.empty() ? 0 : static_cast<ValueId>(node_.inputs.size() + 1));
  }
  for (size_t i = 0; i < outputs; ++i) node_.outputs.push_back(static_cast<ValueId>(100 + i));
  outputs_.resize(outputs);
}

Dim TestContext::ParseDim(const std::string& text) {
  if (text[0] == '-' || (text[0] >= '0' && text[0] <= '9')) {
    return KnownDim(std::strtoll(text.c_str(), nullptr, 10));
  }
  Symbol s;
  s.name = text;
  return graph.dims.OfSymbol(graph.dims.AddSymbol(s));
}

TestContext::Slot TestContext::Parse(const std::string& text) {
  Slot slot;
  if (text.empty()) return slot;
  const size_t open = text.find('['), close = text.find(']');
  const DType dtype = DTypeFromName(text.substr(0, open)).value_or(DType::kUndefined);
  const std::string dims = text.substr(open + 1, close - open - 1);
  slot.type = UnrankedTensor(dtype);
  if (dims != "?") {
    slot.type.ranked = true;
    for (const std::string& d : SplitList(dims)) slot.type.dims.push_back(ParseDim(d));
  }
  if (close + 1 >= text.size()) return slot;
  const std::vector<std::string> values =
      SplitList(text.substr(close + 3, text.size() - close - 4));
  if (text[close + 2] == '{') {
    slot.ints.emplace();
    for (const std::string& v : values) slot.ints->push_back(ParseDim(v));
    return slot;
  }
  if (DTypeBits(dtype) == 16) {
    std::vector<uint16_t> bits;
    for (const std::string& v : values) {
      bits.push_back(static_cast<uint16_t>(std::strtoul(v.c_str(), nullptr, 16)));
    }
    slot.constant = MakeConst(slot.type, bits.data(), bits.size() * sizeof(uint16_t));
    return slot;
  }
  std::vector<float> floats;
  for (const std::string& v : values) floats.push_back(std::strtof(v.c_str(), nullptr));
  slot.constant = MakeConst(slot.type, floats.data(), floats.size() * sizeof(float));
  return slot;
}

const std::vector<Dim>* TestContext::input_ints(size_t i) const {
  return inputs_[i].ints ? &*inputs_[i].ints : nullptr;
}

const Const* TestContext::input_const(size_t i) const {
  return inputs_[i].constant ? &*inputs_[i].constant : nullptr;
}

// "data0" when the data decide, "open0" when nothing does.
Dim TestContext::FreshDim(const std::string&, bool data_dependent) {
  Symbol s;
  s.name = (data_dependent ? "data" : "open") + std::to_string(fresh_++);
  s.data_dependent = data_dependent;
  return graph.dims.OfSymbol(graph.dims.AddSymbol(s));
}

const Function* TestContext::callee(std::string_view role) const {
  for (const Callee& callee : node_.callees) {
    if (callee.role == role) return &graph.fn(callee.fn);
  }
  return nullptr;
}

const State* TestContext::state(StateId id) const {
  return id != 0 && id < graph.states.size() ? &graph.states[id] : nullptr;
}

std::string TestContext::Run() {
  const OpDef* op = FindOp(node_.domain, node_.op);
  if (op == nullptr) return "! no such operator";
  FillDefaults(&node_);
  Status s = CheckNodeAgainstOp(node_, *op);
  if (s.ok()) s = CheckInputTypes(*this, *op);
  if (s.ok()) s = op->infer(*this);
  if (!s.ok()) return "! " + s.message();
  std::string text;
  for (const Slot& slot : outputs_) {
    text += (text.empty() ? "" : "; ") + TypeToString(slot.type, graph.dims);
    if (!slot.ints) continue;
    std::string list;
    for (const Dim& d : *slot.ints) list += (list.empty() ? "" : ",") + graph.dims.ToString(d);
    text += "={" + list + "}";
  }
  return text;
}

}  // namespace ge
