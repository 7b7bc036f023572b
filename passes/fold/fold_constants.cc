#include "passes/fold/fold_constants.h"

#include <fmt/format.h>

#include <cstring>

#include "ge/base/checked.h"
#include "ge/base/interrupt.h"
#include "ge/ops/op.h"
#include "passes/fold/payload_part.h"
#include "passes/purity.h"
#include "passes/quant/quantized_groups.h"

namespace ge {
namespace {

// A node whose output size only its data decide is run when its inputs are small.
constexpr int64_t kSmallInputs = 64 << 10;  // bytes

template <typename T>
Const ListConst(DType dtype, const std::vector<T>& list, bool scalar) {
  std::vector<int64_t> dims;
  if (!scalar) dims.push_back(static_cast<int64_t>(list.size()));
  return MakeConst(TensorType(dtype, dims), list.data(), list.size() * sizeof(T));
}

Const StringConst(const std::vector<std::string>& list, bool scalar) {
  std::vector<int64_t> dims;
  if (!scalar) dims.push_back(static_cast<int64_t>(list.size()));
  Const c;
  c.type = TensorType(DType::kString, dims);
  c.strings = list;
  return c;
}

// What a Constant node holds; nullopt when it is written in a way that we do not read.
std::optional<Const> Literal(const Graph& g, const Node& n) {
  if (n.attrs.size() != 1) return std::nullopt;
  const Attr& a = n.attrs[0];
  if (auto* ref = std::get_if<ConstRef>(&a.value)) return g.consts[ref->id];
  if (a.name == "value_int" && std::holds_alternative<int64_t>(a.value)) {
    return ListConst(DType::kInt64, std::vector<int64_t>{std::get<int64_t>(a.value)}, true);
  }
  if (a.name == "value_ints") {
    auto* v = std::get_if<std::vector<int64_t>>(&a.value);
    if (v) return ListConst(DType::kInt64, *v, false);
  }
  if (a.name == "value_float" && std::holds_alternative<double>(a.value)) {
    const auto f = static_cast<float>(std::get<double>(a.value));
    return ListConst(DType::kFloat, std::vector<float>{f}, true);
  }
  if (a.name == "value_floats") {
    if (auto* v = std::get_if<std::vector<double>>(&a.value)) {
      return ListConst(DType::kFloat, std::vector<float>(v->begin(), v->end()), false);
    }
  }
  if (a.name == "value_string" && std::holds_alternative<std::string>(a.value)) {
    return StringConst({std::get<std::string>(a.value)}, true);
  }
  if (a.name == "value_strings") {
    if (auto* v = std::get_if<std::vector<std::string>>(&a.value)) return StringConst(*v, false);
  }
  return std::nullopt;
}

// What a ConstantOfShape of few bytes gives, without anybody who runs it: pieces of control flow
// hold many.
std::optional<Const> Filled(const Graph& g, const Function& f, const Node& n) {
  if (!n.domain.empty() || n.op != "ConstantOfShape" || n.outputs.size() != 1) return std::nullopt;
  const Type& type = f.value(n.outputs[0]).type;
  const auto bytes = ByteCount(type);
  if (!bytes || *bytes > kSmallInputs || DTypeBits(type.dtype) < 8) return std::nullopt;
  const auto element = static_cast<size_t>(DTypeBits(type.dtype)) / 8;
  std::vector<std::byte> all(static_cast<size_t>(*bytes));
  if (const Attr* value = n.attr("value")) {
    const auto* ref = std::get_if<ConstRef>(&value->value);
    if (ref == nullptr) return std::nullopt;
    ConstScratch scratch;
    const std::byte* one = ConstBytes(g.consts[ref->id], &scratch);
    if (one == nullptr || g.consts[ref->id].type.dtype != type.dtype) return std::nullopt;
    for (size_t at = 0; at < all.size(); at += element) std::memcpy(all.data() + at, one, element);
  }
  return MakeConst(type, all.data(), all.size());
}

bool IsFill(const Function& f, const Node& n) {
  if (!n.domain.empty() || (n.op != "ConstantOfShape" && n.op != "Expand")) return false;
  return n.outputs.size() == 1 && n.outputs[0] && f.value(n.outputs[0]).type.dims.size() >= 2;
}

// Bytes that the outputs take together; nullopt when unknown.
std::optional<int64_t> OutputBytes(const Function& f, const Node& n) {
  int64_t total = 0;
  for (ValueId v : n.outputs) {
    if (!v) continue;
    const auto bytes = ByteCount(f.value(v).type);
    const auto sum = bytes ? CheckedAdd(total, *bytes) : std::nullopt;
    if (!sum) return std::nullopt;
    total = *sum;
  }
  return total;
}

// What running the node once costs: its operator's flops, and bytes read and written.
double EffortOf(const Graph& g, const Function& f, const Node& n) {
  std::vector<Type> in, out;
  for (ValueId v : n.inputs) in.push_back(v ? f.value(v).type : Type());
  for (ValueId v : n.outputs) out.push_back(v ? f.value(v).type : Type());
  const OpDef* op = FindOp(g, n);
  if (!op) return FoldBudget::kWorkOfOne;  // a user's function: its parts are nodes of their own
  const Work work = WorkOf(*op, n, in, out);
  return FoldBudget::kWorkOfOne + work.flops + work.bytes;
}

struct Inputs {
  std::vector<const Const*> consts;  // by slot, null = absent
  int64_t bytes = 0;
};

// nullopt when an input is not a constant of numbers whose payload is here.
std::optional<Inputs> ConstantInputs(const Graph& g, const Function& f, const Node& n) {
  Inputs in;
  for (ValueId v : n.inputs) {
    if (!v) {
      in.consts.push_back(nullptr);
      continue;
    }
    if (!f.value(v).constant) return std::nullopt;
    const Const& c = g.consts[f.value(v).constant];
    const auto bytes = ByteCount(c.type);
    if (!bytes || (*bytes && !c.data && c.splat.empty())) return std::nullopt;
    // What a splat takes in full is no reason to compute with it before anybody asks.
    if (!c.data && !c.expanded && static_cast<uint64_t>(*bytes) > kMaxSplatRead)
      return std::nullopt;
    in.bytes += std::min<int64_t>(*bytes, kSmallInputs + 1);
    in.consts.push_back(&c);
  }
  return in;
}

class Folder {
 public:
  Folder(Transaction& t, FunctionId fn, const PassContext& context)
      : t_(t), fn_(fn), context_(context) {}

  Status Run() {
    const size_t count = F().nodes.size();
    for (size_t i = 0; i < count; ++i) {
      const Node& n = F().nodes[i];
      // Hardly a node begins with a constant; what follows asks more.
      const bool computed = !n.inputs.empty() && n.inputs[0] && !F().value(n.inputs[0]).constant;
      if (!n.id || computed || !IsPure(t_.graph(), n)) continue;
      GE_RETURN_IF_ERROR(CheckInterrupt());
      if (Status status = Fold(n); !status.ok()) return std::move(status).AtNode(NodeLabel(n));
    }
    return {};
  }

 private:
  const Function& F() const { return t_.graph().fn(fn_); }

  Status Fold(const Node& n) {
    if (n.domain.empty() && n.op == "Constant" && n.outputs.size() == 1 && n.outputs[0]) {
      std::optional<Const> c = Literal(t_.graph(), n);
      if (!c) return {};
      std::vector<Const> made;
      made.push_back(std::move(*c));
      return Replace(n, std::move(made));
    }
    if (std::optional<Const> part = PayloadPart(t_.graph(), F(), n)) {
      std::vector<Const> all;
      all.push_back(std::move(*part));
      return Replace(n, std::move(all));
    }
    if (!context_.evaluator || (!context_.fold.fills && IsFill(F(), n))) return {};
    const auto inputs = ConstantInputs(t_.graph(), F(), n);
    if (!inputs || IsQuantizedWeight(t_, fn_, n)) return {};
    const auto bytes = OutputBytes(F(), n);
    if (bytes ? *bytes > context_.fold.bytes : inputs->bytes > kSmallInputs) return {};
    if (!Affords(n, bytes.value_or(0))) return {};
    if (std::optional<Const> filled = Filled(t_.graph(), F(), n)) {
      std::vector<Const> all;
      all.push_back(std::move(*filled));
      return Replace(n, std::move(all));
    }
    auto made = context_.evaluator->Evaluate(t_.graph(), F(), n, inputs->consts);
    if (!made.ok()) {
      // Nobody can run it on the host, or not in so much memory: it stays, and PLACE decides.
      const Code code = made.status().code();
      return code == Code::kUnsupported || code == Code::kLimitExceeded ? Status() : made.status();
    }
    return Replace(n, *std::move(made));
  }

  // Takes what folding the node costs out of the budget, or says that it stays.
  bool Affords(const Node& n, int64_t bytes) const {
    FoldBudget* budget = context_.budget;
    const double work = EffortOf(t_.graph(), F(), n);
    if (budget == nullptr || budget->Take(bytes, work)) return true;
    if (context_.note && budget->IsNews(fn_, n.id)) {
      context_.note(fmt::format(
          "'{}' has constant inputs and is not folded, each run computes it: {} bytes and an "
          "effort of {:.2g} are wanted, {:.0f} and {:.2g} are left of {:.0f} and {:.2g}",
          NodeLabel(n), bytes, work, budget->bytes() - budget->spent_bytes(),
          budget->work() - budget->spent_work(), budget->bytes(), budget->work()));
    }
    return false;
  }

  // What came back is checked: it is another's code that made it.
  Status Check(const Node& n, size_t slot, const Const& c) const {
    const Type& want = F().value(n.outputs[slot]).type;
    bool fits = c.type.is_static() && c.type.dtype == want.dtype;
    fits &= !want.ranked || want.dims.size() == c.type.dims.size();
    for (size_t i = 0; fits && want.ranked && i < want.dims.size(); ++i) {
      fits = !want.dims[i].known() || want.dims[i] == c.type.dims[i];
    }
    if (fits) return {};
    return Status(Code::kInternal, "folding gave output " + std::to_string(slot) + " the type " +
                                       TypeToString(c.type, t_.graph().dims) + ", inferred is " +
                                       TypeToString(want, t_.graph().dims));
  }

  Status Replace(const Node& n, std::vector<Const> made) {
    if (made.size() != n.outputs.size()) {
      return Status(Code::kInternal, "folding gave " + std::to_string(made.size()) +
                                         " outputs, the node has " +
                                         std::to_string(n.outputs.size()));
    }
    for (size_t s = 0; s < made.size(); ++s) {
      if (!n.outputs[s]) continue;
      GE_RETURN_IF_ERROR(Check(n, s, made[s]));
      const auto bytes = ByteCount(made[s].type);
      if (bytes && *bytes > context_.fold.bytes && n.op != "Constant") return {};
    }
    const std::vector<ValueId> outputs = n.outputs;
    const NodeId id = n.id;
    for (size_t s = 0; s < made.size(); ++s) {
      if (!outputs[s]) continue;
      made[s].name = F().value(outputs[s]).name;
      t_.ReplaceUses(fn_, outputs[s], t_.AddConst(fn_, std::move(made[s])));
    }
    t_.Erase(fn_, id);
    return {};
  }

  Transaction& t_;
  const FunctionId fn_;
  const PassContext& context_;
};

}  // namespace

Status FoldConstants::Run(Transaction& transaction, const PassContext& context) {
  for (FunctionId fn = 1; fn < transaction.graph().functions.size(); ++fn) {
    GE_RETURN_IF_ERROR(Folder(transaction, fn, context).Run());
  }
  return {};
}

}  // namespace ge
