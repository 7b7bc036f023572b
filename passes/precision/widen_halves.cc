#include "passes/precision/widen_halves.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <map>
#include <set>
#include <string_view>

#include "ge/base/aligned.h"
#include "ge/base/half.h"
#include "ge/base/interrupt.h"
#include "ge/ops/op.h"
#include "passes/precision/cheapest_cut.h"

namespace ge {
namespace {

// A model runs this often at least: what a conversion at load costs counts that much less. It keeps
// tables of which a run reads a few rows as they are.
constexpr double kRuns = 100;

bool IsHalf(DType t) { return t == DType::kFloat16 || t == DType::kBfloat16; }
bool IsHalf(const Function& f, ValueId v) {
  return v != 0 && f.value(v).type.is_tensor() && IsHalf(f.value(v).type.dtype);
}
Type AsFloat(Type type) {
  type.dtype = DType::kFloat;
  return type;
}

// `from` may be unaligned.
void WidenAll(DType dtype, const std::byte* from, int64_t count, float* to) {
  const auto all = [&](auto widen) {
    for (int64_t i = 0; i < count; ++i) {
      uint16_t code;
      std::memcpy(&code, from + 2 * i, sizeof code);
      to[i] = widen(code);
    }
  };
  if (dtype == DType::kBfloat16) return all([](uint16_t code) { return FloatOfBrain(code); });
  all([](uint16_t code) { return FloatOfHalf(code); });
}

// Whose rounding, range or bits are what the model asks for, or decide a size; generators draw
// other numbers.
bool KeepsItsType(const Node& n) {
  static constexpr std::string_view kKept[] = {"BitCast",
                                               "CastLike",
                                               "Constant",
                                               "ConstantOfShape",
                                               "DequantizeLinear",
                                               "EyeLike",
                                               "IsInf",
                                               "IsNaN",
                                               "NonZero",
                                               "Optional",
                                               "QuantizeLinear",
                                               "Range",
                                               "OptionalGetElement",
                                               "Unique"};
  return std::find(std::begin(kKept), std::end(kKept), n.op) != std::end(kKept) ||
         n.op.find("Random") != std::string::npos || n.op.find("Sequence") != std::string::npos;
}

bool TakesFloat(const std::vector<Port>& ports, size_t slot) {
  if (ports.empty()) return false;
  const Port& port = slot < ports.size() ? ports[slot] : ports.back();
  const bool there = slot < ports.size() || port.arity == Arity::kVariadic;
  return there && (port.dtypes & Bit(DType::kFloat)) != 0;
}

// Says in an attribute that something is of 16 bits.
bool NamesHalf(const Graph& g, const Node& n) {
  return std::any_of(n.attrs.begin(), n.attrs.end(), [&](const Attr& a) {
    const auto* c = std::get_if<ConstRef>(&a.value);
    const auto* type = std::get_if<Type>(&a.value);
    return (c && IsHalf(g.consts[c->id].type.dtype)) || (type && IsHalf(type->dtype));
  });
}

// Whether the node may read and give float32 in place of 16-bit floats.
bool MayWiden(const Graph& g, const Function& f, const Node& n) {
  const bool plain = n.id != 0 && n.callees.empty() && n.effects.empty() &&
                     (n.domain.empty() || n.domain == "com.microsoft");
  if (!plain || KeepsItsType(n)) return false;
  const OpDef* op = FindOp(g, n);
  if (!op || op->of_plugin || op->has_effects || !op->deterministic || op->states) return false;
  bool any = false;
  for (size_t i = 0; i < n.inputs.size(); ++i) {
    if (!IsHalf(f, n.inputs[i])) continue;
    if (!TakesFloat(op->inputs, i)) return false;
    any = true;
  }
  for (size_t i = 0; i < n.outputs.size(); ++i) {
    if (!IsHalf(f, n.outputs[i])) continue;
    if (!TakesFloat(op->outputs, i) || n.op == "Cast") return false;  // somebody wants it rounded
    any = true;
  }
  return any && !NamesHalf(g, n);
}

// One function. Positions are those of nodes when it starts; nothing is added while it chooses.
class Widener {
 public:
  Widener(Transaction& t, FunctionId fn, const PassContext& context)
      : t_(t), fn_(fn), context_(context) {}

  Status Run() {
    const auto of_halves = [this](const Value& v) {
      return v.type.is_tensor() && IsHalf(v.type.dtype);
    };
    if (std::none_of(F().values.begin(), F().values.end(), of_halves)) return {};
    const auto& nodes = F().nodes;
    for (size_t i = 0; i < nodes.size(); ++i) may_.push_back(MayWiden(t_.graph(), F(), nodes[i]));
    if (std::find(may_.begin(), may_.end(), true) == may_.end()) return {};
    GE_RETURN_IF_ERROR(Choose());
    for (const auto& n : nodes) ids_.push_back(n.id);
    for (size_t i = 0; i < ids_.size(); ++i) {
      if (!widens_[i]) continue;
      GE_RETURN_IF_ERROR(CheckInterrupt());
      GE_RETURN_IF_ERROR(Widen(i));
    }
    return {};
  }

 private:
  struct Crossing {  // what it costs a value to leave 16 bits and to come back, ns
    double wider = 0, narrower = 0;
  };

  const Function& F() const { return t_.graph().fn(fn_); }

  // Sets widens_.
  Status Choose() {
    GE_RETURN_IF_ERROR(FindValues());
    std::map<ValueId, Type> as;
    for (const ValueId v : values_) as.emplace(v, AsFloat(F().value(v).type));
    GE_ASSIGN_OR_RETURN(const auto kept, context_.price_each(t_.graph(), fn_, {}));
    GE_ASSIGN_OR_RETURN(const auto wide, context_.price_each(t_.graph(), fn_, as));
    GE_ASSIGN_OR_RETURN(const auto crossings, PriceCasts());
    CheapestCut cut;
    const auto never = HUGE_VAL;
    const auto fixed = cut.Add(0, never);
    std::vector<CheapestCut::Item> item(may_.size(), fixed);
    for (size_t i = 0; i < may_.size(); ++i) {
      // What nobody takes in float32 stays, whoever takes it as it is.
      if (may_[i] && std::isfinite(wide[i])) item[i] = cut.Add(kept[i], wide[i]);
    }
    for (size_t k = 0; k < values_.size(); ++k) {
      AddValue(values_[k], crossings[k], item, fixed, &cut);
    }
    const std::vector<bool> changed = cut.Solve();
    for (size_t i = 0; i < may_.size(); ++i)
      widens_.push_back(item[i] != fixed && changed[item[i]]);
    return {};
  }

  // 16-bit values that a node which may widen reads or gives, their makers and readers.
  Status FindValues() {
    std::set<ValueId> seen;
    for (size_t i = 0; i < F().nodes.size(); ++i) {
      const Node& n = F().nodes[i];
      for (const ValueId v : n.outputs) {
        if (v) maker_[v] = i;
      }
      for (const ValueId v : n.inputs) {
        if (v) readers_[v].push_back(i);
      }
      if (!may_[i]) continue;
      for (const auto* list : {&n.inputs, &n.outputs}) {
        for (const ValueId v : *list) {
          if (IsHalf(F(), v) && seen.insert(v).second) values_.push_back(v);
        }
      }
    }
    return CheckInterrupt();
  }

  // By values_: those of a function that casts each of them.
  Result<std::vector<Crossing>> PriceCasts() const {
    Graph g;
    g.opsets.emplace("", kCanonicalOpset);
    g.dims = t_.graph().dims;
    g.AddFunction("casts");
    Function& f = g.fn(1);
    const auto cast = [&](const Type& from, const Type& to) {
      Node n;
      n.id = f.next_node_id++;
      n.op = "Cast";
      n.inputs = {ge::AddValue(&f, from)};
      n.outputs = {ge::AddValue(&f, to)};
      n.attrs = {{"to", static_cast<int64_t>(to.dtype)},
                 {"saturate", int64_t{1}},
                 {"round_mode", std::string("up")}};
      f.nodes.push_back(std::move(n));
    };
    for (const ValueId v : values_) {
      const Type &type = F().value(v).type, wide = AsFloat(type);
      cast(type, wide);
      cast(wide, type);
    }
    GE_ASSIGN_OR_RETURN(const auto prices, context_.price_each(g, 1, {}));
    std::vector<Crossing> out;
    for (size_t k = 0; k < values_.size(); ++k) out.push_back({prices[2 * k], prices[2 * k + 1]});
    return out;
  }

  // Both kinds of cast are paid once, whoever reads what they give.
  void AddValue(ValueId v, const Crossing& price, const std::vector<CheapestCut::Item>& item,
                CheapestCut::Item fixed, CheapestCut* cut) const {
    const auto made = maker_.find(v);
    const CheapestCut::Item maker = made == maker_.end() ? fixed : item[made->second];
    const double once = F().value(v).constant ? price.wider / kRuns : price.wider;
    const CheapestCut::Item wide = cut->Add(0, 0), narrow = cut->Add(0, 0);
    cut->PayIfApart(maker, wide, once);
    cut->PayIfApart(narrow, maker, price.narrower);
    const auto read = [&](CheapestCut::Item reader) {
      cut->PayIfApart(wide, reader, HUGE_VAL);    // who widens reads it wide
      cut->PayIfApart(reader, narrow, HUGE_VAL);  // who stays reads it narrow
    };
    const auto found = readers_.find(v);
    if (found != readers_.end()) {
      for (const size_t i : found->second) read(item[i]);
    }
    if (IsResult(v)) read(fixed);
  }

  bool IsResult(ValueId v) const {
    return std::find(F().results.begin(), F().results.end(), v) != F().results.end();
  }

  NodeId NextId(size_t position) const {
    for (size_t i = position + 1; i < ids_.size(); ++i) {
      if (ids_[i]) return ids_[i];
    }
    return 0;
  }

  Status Widen(size_t position) {
    const NodeId id = ids_[position];
    const Node before = *t_.NodeOf(fn_, id);
    for (size_t s = 0; s < before.inputs.size(); ++s) {
      if (!IsHalf(F(), before.inputs[s]) && !wide_.count(before.inputs[s])) continue;
      GE_ASSIGN_OR_RETURN(const ValueId wide, Wide(before.inputs[s], before));
      if (wide != before.inputs[s]) t_.SetInput(fn_, id, static_cast<uint32_t>(s), wide);
    }
    t_.AddOrigin(fn_, id, before);
    if (before.op == "Cast" && DropCast(id)) return {};
    for (const ValueId v : before.outputs) {
      if (IsHalf(F(), v)) MakeWide(v, position);
    }
    return {};
  }

  // A cast to float32 of what has become float32.
  bool DropCast(NodeId id) {
    const Node n = *t_.NodeOf(fn_, id);
    const bool same = F().value(n.inputs[0]).type.dtype == F().value(n.outputs[0]).type.dtype;
    if (!same || !t_.CanReplace(fn_, n.outputs[0], n.inputs[0])) return false;
    t_.ReplaceUses(fn_, n.outputs[0], n.inputs[0]);
    t_.Erase(fn_, id);
    return true;
  }

  // What a widened node gives: float32, and in 16 bits again for those who stay.
  void MakeWide(ValueId v, size_t position) {
    const Type half = F().value(v).type;
    t_.SetType(fn_, v, AsFloat(half));
    wide_[v] = v;
    const auto found = readers_.find(v);
    const bool stays = IsResult(v) || (found != readers_.end() &&
                                       std::any_of(found->second.begin(), found->second.end(),
                                                   [&](size_t i) { return !widens_[i]; }));
    if (!stays) return;
    const Node maker = *t_.NodeOf(fn_, ids_[position]);
    const ValueId narrow = AddCast(v, half, NextId(position), maker);
    // The cast itself reads what it is made of; widened readers find it by the narrow value.
    const NodeId cast = t_.Producer(fn_, narrow)->id;
    t_.ReplaceUses(fn_, v, narrow);
    t_.SetInput(fn_, cast, 0, v);
    wide_[narrow] = v;
  }

  ValueId AddCast(ValueId v, const Type& to, NodeId before, const Node& for_whom) {
    return t_.AddNode(fn_, before, "", "Cast", {v}, {{"to", static_cast<int64_t>(to.dtype)}}, {to},
                      {&for_whom})[0];
  }

  // The value in float32, made before the node that wants it first.
  Result<ValueId> Wide(ValueId v, const Node& reader) {
    if (const auto known = wide_.find(v); known != wide_.end()) return known->second;
    const Type type = AsFloat(F().value(v).type);
    ValueId made = 0;
    if (const ConstId c = F().value(v).constant) {
      GE_ASSIGN_OR_RETURN(made, WideConst(c, type));
    }
    if (!made) made = AddCast(v, type, reader.id, reader);
    return wide_[v] = made;
  }

  // 0 where the budget does not allow it: each run casts it.
  Result<ValueId> WideConst(ConstId id, const Type& type) {
    const Const from = t_.graph().consts[id];
    const auto bytes = ByteCount(type), count = ElementCount(type);
    if (!bytes || !count || (!from.data && from.splat.empty())) return ValueId{0};
    Const c;
    c.name = from.name;
    c.type = type;
    if (from.data == nullptr) {
      float one = 0;
      WidenAll(from.type.dtype, from.splat.data(), 1, &one);
      c.splat.resize(sizeof one);
      std::memcpy(c.splat.data(), &one, sizeof one);
      return t_.AddConst(fn_, std::move(c));
    }
    const double effort = FoldBudget::kWorkOfOne + 1.5 * static_cast<double>(*bytes);
    if (context_.budget && !context_.budget->Take(*bytes, effort)) return ValueId{0};
    AlignedBytes block = AllocateAligned(static_cast<uint64_t>(*bytes), 64);
    if (!block) return ValueId{0};
    WidenAll(from.type.dtype, from.data, *count, reinterpret_cast<float*>(block.get()));
    if (context_.done_reading && from.mapped) context_.done_reading(from.data, from.bytes);
    c.bytes = static_cast<uint64_t>(*bytes);
    c.data = block.get();
    c.owner = std::shared_ptr<std::byte>(std::move(block));
    if (context_.put_away) context_.put_away(&c);
    return t_.AddConst(fn_, std::move(c));
  }

  Transaction& t_;
  const FunctionId fn_;
  const PassContext& context_;
  std::vector<bool> may_, widens_;  // by position
  std::vector<NodeId> ids_;
  std::vector<ValueId> values_;
  std::map<ValueId, size_t> maker_;
  std::map<ValueId, std::vector<size_t>> readers_;
  std::map<ValueId, ValueId> wide_;  // what stands for it in float32
};

}  // namespace

Status WidenHalves::Run(Transaction& transaction, const PassContext& context) {
  if (!context.price_each) return {};
  for (FunctionId fn = 1; fn < transaction.graph().functions.size(); ++fn) {
    GE_RETURN_IF_ERROR(Widener(transaction, fn, context).Run());
  }
  return {};
}

}  // namespace ge
