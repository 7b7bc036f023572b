// New nodes and constants of KvCacheRewrite.
#include <fmt/format.h>

#include <cmath>

#include "ge/ops/defaults.h"
#include "passes/recognise/kv_cache_rewrite.h"

namespace ge {

ValueId KvCacheRewrite::Make(std::string op, std::vector<ValueId> inputs, std::vector<Attr> attrs,
                             ValueId into, std::string domain) {
  if (!failure_.ok()) return 0;
  Node n;
  n.id = now().next_node_id++;
  n.domain = std::move(domain);
  n.op = std::move(op);
  n.inputs = std::move(inputs);
  n.attrs = std::move(attrs);
  if (into == 0) into = AddValue(&now(), Type{});
  n.outputs = {into};
  n.origin = {{"recognise-kv-cache", {}}};
  if (!origin_.empty()) n.origin[0].from_nodes = {origin_};
  FillDefaults(&n);
  now().nodes.push_back(std::move(n));
  failure_ = infer_(&g_, new_, now().nodes.size() - 1);
  return failure_.ok() ? into : 0;
}

ValueId KvCacheRewrite::Ints(const std::vector<int64_t>& values) {
  const Type type =
      TensorType(DType::kInt64, std::vector<int64_t>{static_cast<int64_t>(values.size())});
  return AddConstValue(&g_, &now(), MakeConst(type, values.data(), values.size() * 8));
}

ValueId KvCacheRewrite::Number(DType dtype, double value) {
  const auto x = static_cast<float>(value);
  const ValueId v = AddConstValue(
      &g_, &now(), MakeConst(TensorType(DType::kFloat, std::vector<Dim>{}), &x, sizeof x));
  if (dtype == DType::kFloat) return v;
  return Make("Cast", {v}, {{"to", static_cast<int64_t>(dtype)}});
}

ValueId KvCacheRewrite::Size(Dim dim) {
  if (dim.known()) return Ints({dim.value});
  const auto key = std::pair(dim.value, dim.expr);
  if (const auto it = sizes_.find(key); it != sizes_.end()) return it->second;
  const DimTable::Expr e = g_.dims.expr(dim.expr);  // a copy: new expressions move them
  return sizes_[key] = e.op == DimOp::kSymbol ? SizeOfSymbol(e.symbol) : SizeOf(e);
}

ValueId KvCacheRewrite::SizeOf(const DimTable::Expr& expr) {
  if (expr.op == DimOp::kSum) {
    ValueId sum = 0;
    auto add = [&](ValueId v) { sum = sum == 0 ? v : Make("Add", {sum, v}); };
    for (const DimTable::Term& t : expr.terms) {
      const ValueId v = Size(Dim{0, t.atom});
      add(t.coefficient == 1 ? v : Make("Mul", {v, Ints({t.coefficient})}));
    }
    if (expr.constant != 0) add(Ints({expr.constant}));
    return sum;
  }
  const char* op = expr.op == DimOp::kMul        ? "Mul"
                   : expr.op == DimOp::kMin      ? "Min"
                   : expr.op == DimOp::kMax      ? "Max"
                   : expr.op == DimOp::kFloorDiv ? "Div"
                                                 : nullptr;
  const bool positive = g_.dims.RangeOf(expr.a).lo >= 0 && g_.dims.RangeOf(expr.b).lo > 0;
  if (op == nullptr || (expr.op == DimOp::kFloorDiv && !positive)) {
    failure_ =
        Status(Code::kUnsupported, "a size is computed in a way that has no rule").AtNode(origin_);
    return 0;
  }
  return Make(op, {Size(expr.a), Size(expr.b)});
}

// Where the run can see it: the length, the caches, an input's axis.
ValueId KvCacheRewrite::SizeOfSymbol(SymbolId symbol) {
  const Dim d = g_.dims.OfSymbol(symbol);
  auto axis_of = [&](ValueId v, size_t axis) {
    const auto at = static_cast<int64_t>(axis);
    return Make("Shape", {v}, {{"start", at}, {"end", at + 1}});
  };
  if (d == past_) return Make("Unsqueeze", {length_, Ints({0})});
  if (d == room_) return axis_of(pairs_[0].before, pairs_[0].axis);
  const std::vector<ValueId> params = now().params;
  for (const ValueId v : params) {
    const std::vector<Dim> dims = now().value(v).type.dims;
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      const bool past =
          std::any_of(pairs_.begin(), pairs_.end(), [&](const KvPair& p) { return p.past == v; });
      if (!past && dims[axis] == d) return axis_of(v, axis);
    }
  }
  failure_ = Status(Code::kUnsupported, fmt::format("no input but the past has the size '{}'",
                                                    g_.dims.symbol(symbol).name))
                 .AtNode(origin_);
  return 0;
}

ValueId KvCacheRewrite::Shape(const std::vector<Dim>& dims) {
  std::vector<ValueId> parts;
  for (const Dim& d : dims) parts.push_back(Size(d));
  if (parts.empty()) return Ints({});
  return parts.size() == 1 ? parts[0] : Make("Concat", parts, {{"axis", int64_t{0}}});
}

ValueId KvCacheRewrite::Count(Dim n) {
  return Make("Range", {Scalar(Ints({0})), Scalar(Size(n)), Scalar(Ints({1}))});
}

ValueId KvCacheRewrite::Valid(Rows rows, size_t behind) {
  ValueId& made = valid_[{static_cast<int>(rows), behind}];
  if (made != 0) return made;
  if (behind == 0) {
    return made = Make("Less", {Count(room_), rows == Rows::kPast ? length_ : total_});
  }
  std::vector<int64_t> axes;
  for (size_t k = 1; k <= behind; ++k) axes.push_back(static_cast<int64_t>(k));
  const ValueId plain = Valid(rows, 0);
  return made = Make("Unsqueeze", {plain, Ints(axes)});
}

ValueId KvCacheRewrite::Masked(ValueId given, ValueId typed_as, size_t axis, double value) {
  const Type& t = TypeOf(typed_as);
  const ValueId valid = Valid(*RowsOf(t.dims[axis]), t.rank() - 1 - axis);
  return Make("Where", {valid, given, Number(t.dtype, value)});
}

ValueId KvCacheRewrite::In(ValueId value) {
  if (value == 0 || known_.count(value) == 0) return value;
  ValueId& made = made_[value];
  if (made == 0) made = Known(value, *IntsOf(value));
  return made;
}

ValueId KvCacheRewrite::Known(ValueId value, const std::vector<Dim>& ints) {
  const Type t = TypeOf(value);
  ValueId out = Shape(ints);
  if (t.rank() == 0) {
    out = Scalar(out);
  } else if (t.rank() > 1) {
    out = Make("Reshape", {out, Shape(t.dims)});
  }
  if (t.dtype == DType::kInt64) return out;
  return Make("Cast", {out}, {{"to", static_cast<int64_t>(t.dtype)}});
}

}  // namespace ge
