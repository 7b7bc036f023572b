// What KvCacheRewrite does with an operator that has an input which depends on the past.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "ge/ops/known_ints.h"
#include "passes/recognise/kv_cache_rewrite.h"

namespace ge {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// An end beyond it means "to the end": exporters write INT32_MAX or INT64_MAX.
constexpr int64_t kFar = std::numeric_limits<int32_t>::max();

size_t AxisOf(int64_t axis, size_t rank) {
  return static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis);
}

bool HasInfinity(DType t) { return (kFloats & Bit(t)) != 0; }

}  // namespace

// Of these each place of the result depends on the same places of the inputs, or on places before
// it (Trilu's do not depend on sizes).
const std::map<std::string_view, KvCacheRewrite::Rule>& KvCacheRewrite::Rules() {
  static const std::map<std::string_view, Rule>& rules = *[] {
    auto* made = new std::map<std::string_view, Rule>;
    for (const char* op :
         {"Abs",        "Add",   "And",       "Ceil",    "Clip",        "Cos",     "Div",
          "Equal",      "Erf",   "Exp",       "Floor",   "Gelu",        "Greater", "GreaterOrEqual",
          "IsInf",      "IsNaN", "LeakyRelu", "Less",    "LessOrEqual", "Log",     "Max",
          "Min",        "Mod",   "Mul",       "Neg",     "Not",         "Or",      "Pow",
          "Reciprocal", "Relu",  "Round",     "Sigmoid", "Sign",        "Sin",     "Sqrt",
          "Sub",        "Sum",   "Tanh",      "Trilu",   "Where",       "Xor"}) {
      (*made)[op] = &KvCacheRewrite::Keep;
    }
    for (const char* op : {"Cast", "Identity", "Squeeze", "Transpose", "Unsqueeze"}) {
      (*made)[op] = &KvCacheRewrite::Moved;
    }
    for (const char* op : {"ConstantOfShape", "Expand", "Reshape"}) {
      (*made)[op] = &KvCacheRewrite::WithShape;
    }
    for (const char* op : {"ReduceMax", "ReduceMin", "ReduceSum"}) {
      (*made)[op] = &KvCacheRewrite::Reduce;
    }
    (*made)["Concat"] = &KvCacheRewrite::Concat;
    (*made)["CumSum"] = &KvCacheRewrite::CumSum;
    (*made)["Gather"] = &KvCacheRewrite::Gather;
    (*made)["MatMul"] = &KvCacheRewrite::MatMul;
    (*made)["Range"] = &KvCacheRewrite::Range;
    (*made)["Slice"] = &KvCacheRewrite::Slice;
    (*made)["Softmax"] = &KvCacheRewrite::Softmax;
    return made;
  }();
  return rules;
}

Status KvCacheRewrite::KeepWith(const Node& node, std::vector<ValueId> inputs) {
  GE_RETURN_IF_ERROR(failure_);
  Node copy = node;
  copy.inputs = std::move(inputs);
  now().nodes.push_back(std::move(copy));
  return infer_(&g_, new_, now().nodes.size() - 1);
}

Status KvCacheRewrite::Keep(const Node& node) {
  std::vector<ValueId> inputs;
  for (const ValueId v : node.inputs) inputs.push_back(In(v));
  return KeepWith(node, std::move(inputs));
}

Status KvCacheRewrite::Moved(const Node& node) {
  const bool narrows = node.op == "Cast" && RestOf(node.inputs[0]) == Rest::kFinite &&
                       TypeOf(node.inputs[0]).dtype != DType::kBool;
  if (!narrows) rest_[node.outputs[0]] = RestOf(node.inputs[0]);
  return Keep(node);
}

Status KvCacheRewrite::WithShape(const Node& node) {
  if (node.op == "Reshape") GE_RETURN_IF_ERROR(CheckReshape(node));
  std::vector<Dim> dims = TypeOf(node.outputs[0]).dims;
  for (Dim& d : dims) d = Now(d);
  const bool made = node.op == "ConstantOfShape";
  rest_[node.outputs[0]] = made ? Rest::kFinite : RestOf(node.inputs[0]);
  if (made) return KeepWith(node, {Shape(dims)});
  return KeepWith(node, {In(node.inputs[0]), Shape(dims)});
}

// An axis of rows has to stay one, with as many elements before it.
Status KvCacheRewrite::CheckReshape(const Node& node) {
  const std::vector<Dim> from = TypeOf(node.inputs[0]).dims, to = TypeOf(node.outputs[0]).dims;
  auto places = [&](const std::vector<Dim>& dims) {
    std::vector<std::pair<Dim, Dim>> found;  // elements before the axis, its size
    Dim before = KnownDim(1);
    for (const Dim& d : dims) {
      if (RowsOf(d) != Rows::kFixed) found.emplace_back(before, d);
      before = g_.dims.Mul(before, d).value_or(KnownDim(-1));
    }
    return found;
  };
  if (places(from) == places(to)) return {};
  return Refuse(node, fmt::format("makes {} of {}, which moves rows of the past apart",
                                  TypeToString(TypeOf(node.outputs[0]), g_.dims),
                                  TypeToString(TypeOf(node.inputs[0]), g_.dims)));
}

// Where both add up over rows, one side has to be zero and the other a number beyond them.
Status KvCacheRewrite::MatMul(const Node& node) {
  const ValueId a = node.inputs[0], b = node.inputs[1];
  const size_t ra = TypeOf(a).rank(), rb = TypeOf(b).rank();
  if (ra == 0 || rb == 0) return Refuse(node, "has an input of unknown rank");
  const size_t ka = ra - 1, kb = rb == 1 ? 0 : rb - 2;
  const Dim depth = TypeOf(a).dims[ka];
  ValueId left = In(a), right = In(b);
  if (RowsOf(depth) != Rows::kFixed) {
    if (!(TypeOf(b).dims[kb] == depth)) return Refuse(node, "has sides of different sizes");
    const bool zero = RestOf(a) == Rest::kZero || RestOf(b) == Rest::kZero;
    if (RestOf(a) == Rest::kAnything || !zero) left = Masked(left, a, ka, 0);
    if (RestOf(b) == Rest::kAnything) right = Masked(right, b, kb, 0);
  }
  return KeepWith(node, {left, right});
}

Status KvCacheRewrite::Softmax(const Node& node) {
  const Type t = TypeOf(node.inputs[0]);
  const size_t axis = AxisOf(AttrInt(node, "axis"), t.rank());
  ValueId x = In(node.inputs[0]);
  if (axis < t.rank() && RowsOf(t.dims[axis]) != Rows::kFixed) {
    x = Masked(x, node.inputs[0], axis, -kInfinity);
    const auto rows = std::count_if(t.dims.begin(), t.dims.end(),
                                    [&](Dim d) { return RowsOf(d) != Rows::kFixed; });
    if (rows == 1) rest_[node.outputs[0]] = Rest::kZero;
  }
  return KeepWith(node, {x});
}

Status KvCacheRewrite::Reduce(const Node& node) {
  const ValueId x = node.inputs[0];
  const Type t = TypeOf(x);
  const bool given = node.inputs.size() > 1 && node.inputs[1] != 0;
  const auto axes = given ? IntsOf(node.inputs[1]) : std::vector<Dim>();
  if (!axes) return Refuse(node, "has axes that are not known");
  std::vector<bool> reduced(t.rank(), axes->empty() && AttrInt(node, "noop_with_empty_axes") == 0);
  for (const Dim& d : *axes) {
    const size_t axis = AxisOf(d.value, t.rank());
    if (d.known() && axis < t.rank()) reduced[axis] = true;
  }
  const double none = node.op == "ReduceSum" ? 0 : node.op == "ReduceMax" ? -kInfinity : kInfinity;
  ValueId value = In(x);
  for (size_t axis = 0; axis < t.rank(); ++axis) {
    if (!reduced[axis] || RowsOf(t.dims[axis]) == Rows::kFixed) continue;
    if (none != 0 && !HasInfinity(t.dtype)) return Refuse(node, "has no rule for integers");
    value = Masked(value, x, axis, none);
  }
  std::vector<ValueId> inputs = {value};
  if (given) inputs.push_back(In(node.inputs[1]));
  return KeepWith(node, std::move(inputs));
}

// Sums from the front do not meet what lies behind the rows.
Status KvCacheRewrite::CumSum(const Node& node) {
  const auto axis = IntsOf(node.inputs[1]);
  const Type& t = TypeOf(node.inputs[0]);
  if (!axis || axis->size() != 1 || !(*axis)[0].known()) return Refuse(node, "has an unknown axis");
  const size_t at = AxisOf((*axis)[0].value, t.rank());
  if (at < t.rank() && RowsOf(t.dims[at]) != Rows::kFixed && AttrInt(node, "reverse") != 0) {
    return Refuse(node, "adds up from the end of the past");
  }
  return Keep(node);
}

Status KvCacheRewrite::Concat(const Node& node) {
  const size_t axis = AxisOf(AttrInt(node, "axis"), TypeOf(node.outputs[0]).rank());
  Rest rest = Rest::kZero;
  bool along = false;
  for (const ValueId v : node.inputs) {
    rest = std::min(rest, Ragged(v) ? RestOf(v) : rest);
    along |= RowsOf(TypeOf(v).dims[axis]) != Rows::kFixed;
  }
  if (along) return Append(node, axis);
  rest_[node.outputs[0]] = rest;
  return Keep(node);
}

// Past and new rows: the new ones go where the past ends.
Status KvCacheRewrite::Append(const Node& node, size_t axis) {
  const bool fits = node.inputs.size() == 2 && TypeOf(node.inputs[0]).dims[axis] == past_ &&
                    TypeOf(node.inputs[1]).dims[axis] == rows_;
  if (!fits) return Refuse(node, "joins other things along the past than the past and new rows");
  const Type& t = TypeOf(node.outputs[0]);
  const auto others =
      std::count_if(t.dims.begin(), t.dims.end(), [&](Dim d) { return RowsOf(d) != Rows::kFixed; });
  rest_[node.outputs[0]] = others > 1 ? Rest::kAnything : RestOf(node.inputs[0]);
  Make("KvAppend", {In(node.inputs[0]), length_, In(node.inputs[1])},
       {{"axis", static_cast<int64_t>(axis)}}, node.outputs[0], "ge");
  return failure_;
}

Status KvCacheRewrite::Range(const Node& node) {
  const Dim n = Now(TypeOf(node.outputs[0]).dims[0]);
  const DType dtype = TypeOf(node.outputs[0]).dtype;
  ValueId count = Count(n);
  if (dtype != DType::kInt64) count = Make("Cast", {count}, {{"to", static_cast<int64_t>(dtype)}});
  const auto is = [&](ValueId v, int64_t number) {
    return IntsOf(v) == std::vector<Dim>{KnownDim(number)};
  };
  if (!is(node.inputs[2], 1)) count = Make("Mul", {count, In(node.inputs[2])});
  if (is(node.inputs[0], 0)) {
    Make("Identity", {count}, {}, node.outputs[0]);
  } else {
    Make("Add", {count, In(node.inputs[0])}, {}, node.outputs[0]);
  }
  rest_[node.outputs[0]] = Rest::kFinite;
  return failure_;
}

// A place beyond the rows may hold an index beyond the data: it picks the first element instead.
// An index from the end has to count from that of the rows.
Status KvCacheRewrite::Gather(const Node& node) {
  const ValueId data = node.inputs[0], index = node.inputs[1];
  const Type t = TypeOf(index);
  const size_t axis = AxisOf(AttrInt(node, "axis"), TypeOf(data).rank());
  ValueId at = In(index);
  for (size_t k = 0; k < t.rank(); ++k) {
    if (changed_[index] && RowsOf(t.dims[k]) != Rows::kFixed) at = Masked(at, index, k, 0);
  }
  const Dim size = TypeOf(data).dims[axis];
  if (changed_[data] && RowsOf(size) != Rows::kFixed) {
    const auto known = IntsOf(index);
    const bool front = known && std::all_of(known->begin(), known->end(),
                                            [&](Dim d) { return g_.dims.RangeOf(d).lo >= 0; });
    if (!front) {
      ValueId end = Scalar(Size(size)), zero = Scalar(Ints({0}));
      if (t.dtype != DType::kInt64) {
        end = Make("Cast", {end}, {{"to", static_cast<int64_t>(t.dtype)}});
        zero = Make("Cast", {zero}, {{"to", static_cast<int64_t>(t.dtype)}});
      }
      at = Make("Where", {Make("Less", {at, zero}), Make("Add", {at, end}), at});
    }
  }
  if (RestOf(data) == Rest::kFinite) rest_[node.outputs[0]] = Rest::kFinite;
  return KeepWith(node, {In(data), at});
}

// A position in an axis: one beyond an axis of a fixed size is an error of the run then, where
// Slice would take less, which no model with a past can mean.
Status KvCacheRewrite::Bound(const Node& node, Dim at, Dim size, Dim* out) {
  DimTable& d = g_.dims;
  const auto range = d.RangeOf(at);
  if (at.known() && at.value >= kFar) return *out = size, Status();
  if (at.known() && size.known()) {
    *out = KnownDim(
        std::clamp(at.value < 0 ? at.value + size.value : at.value, int64_t{0}, size.value));
    return {};
  }
  if (at.known() && at.value == 0) return *out = at, Status();
  const auto from = range.lo >= 0  ? std::optional(at)
                    : range.hi < 0 ? d.Add(size, at)
                                   : std::nullopt;
  const auto left = from ? d.Sub(size, *from) : std::nullopt;
  if (from && d.RangeOf(*from).lo >= 0 && (size.known() || (left && d.RangeOf(*left).lo >= 0))) {
    return *out = *from, Status();
  }
  return Refuse(node, fmt::format("cuts at {} of {}, which may lie outside of it", d.ToString(at),
                                  d.ToString(size)));
}

Result<std::vector<KvCacheRewrite::Cut>> KvCacheRewrite::CutsOf(const Node& node) {
  const Type t = TypeOf(node.inputs[0]);
  const auto starts = IntsOf(node.inputs[1]), ends = IntsOf(node.inputs[2]);
  std::optional<std::vector<Dim>> axes(std::in_place), steps(std::in_place);
  if (!starts || !ends || starts->size() != ends->size())
    return Refuse(node, "cuts at places that are not known");
  for (size_t i = 0; i < starts->size(); ++i) {
    axes->push_back(KnownDim(static_cast<int64_t>(i)));
    steps->push_back(KnownDim(1));
  }
  if (node.inputs.size() > 3 && node.inputs[3] != 0) axes = IntsOf(node.inputs[3]);
  if (node.inputs.size() > 4 && node.inputs[4] != 0) steps = IntsOf(node.inputs[4]);
  if (!axes || !steps || axes->size() != starts->size() || steps->size() != starts->size()) {
    return Refuse(node, "has axes or steps that are not known");
  }
  std::vector<Cut> cuts;
  for (size_t i = 0; i < starts->size(); ++i) {
    Cut c;
    c.axis = static_cast<int64_t>(AxisOf((*axes)[i].value, t.rank()));
    c.step = (*steps)[i].value;
    if (static_cast<size_t>(c.axis) >= t.rank()) return Refuse(node, "has an axis out of range");
    const Dim size = t.dims[static_cast<size_t>(c.axis)];
    c.moves = CountsPast((*starts)[i]) || CountsPast((*ends)[i]) || CountsPast(size);
    cuts.push_back(c);
    if (!c.moves) continue;
    if (c.step != 1) return Refuse(node, "takes steps through the past");
    GE_RETURN_IF_ERROR(Bound(node, (*starts)[i], size, &cuts.back().start));
    GE_RETURN_IF_ERROR(Bound(node, (*ends)[i], size, &cuts.back().end));
    const auto length = g_.dims.Sub(cuts.back().end, cuts.back().start);
    if (!length || g_.dims.RangeOf(*length).lo < 0)
      return Refuse(node, "may cut out less than nothing");
    cuts.back().length = *length;
  }
  return cuts;
}

ValueId KvCacheRewrite::Picked(ValueId x, const Cut& cut) {
  const Rows rows = *RowsOf(cut.length);
  ValueId at = Count(Now(cut.length));
  if (!(cut.start == KnownDim(0))) at = Make("Add", {at, Size(cut.start)});
  if (rows != Rows::kFixed) at = Make("Where", {Valid(rows, 0), at, Scalar(Ints({0}))});
  return Make("Gather", {x, at}, {{"axis", cut.axis}});
}

Status KvCacheRewrite::Slice(const Node& node) {
  GE_ASSIGN_OR_RETURN(const std::vector<Cut> cuts, CutsOf(node));
  const bool moves = std::any_of(cuts.begin(), cuts.end(), [](const Cut& c) { return c.moves; });
  if (RestOf(node.inputs[0]) == Rest::kFinite) rest_[node.outputs[0]] = Rest::kFinite;
  if (!moves) return Keep(node);
  ValueId x = In(node.inputs[0]);
  for (const Cut& c : cuts) {
    const Dim size = TypeOf(node.inputs[0]).dims[static_cast<size_t>(c.axis)];
    if (!c.moves) return Refuse(node, "cuts along the past and along another axis at once");
    const bool whole = c.start == KnownDim(0) && c.length == size;
    if (!whole) x = Picked(x, c);
  }
  Make("Identity", {x}, {}, node.outputs[0]);
  return failure_;
}

}  // namespace ge
