#include "plugins/units/reduce/reduce.h"

#include <algorithm>

namespace ge_engines {

bool Axes(const Parser& parser, const ge_node& n, uint32_t input, Dims* out, Why* why) {
  const auto attr = gp::AttrInts(n, "axes");
  out->assign(attr.begin(), attr.end());
  if (input < n.n_in && n.in[input] != 0 && !parser.Integers(n.in[input], out)) {
    return why->Say(GE_WHY_DYNAMIC, "axes are not constant");
  }
  const int64_t rank = parser.value(n.in[0]).type.rank;
  for (int64_t& a : *out) {
    if (a < 0) a += rank;
    if (a < 0 || a >= rank) return why->Say(GE_WHY_ATTRIBUTE, "an axis is out of range");
  }
  std::sort(out->begin(), out->end());
  return true;
}

Dims KeptDims(Dims dims, const Dims& axes) {
  for (const int64_t axis : axes) dims[static_cast<size_t>(axis)] = 1;
  return dims;
}

bool ReducedAxes(const Parser& parser, const ge_node& n, Dims* axes, Why* why) {
  if (!Axes(parser, n, 1, axes, why)) return false;
  if (axes->empty()) {
    if (gp::AttrInt(n, "noop_with_empty_axes") != 0) {
      return why->Say(GE_WHY_ATTRIBUTE, "noop_with_empty_axes");
    }
    for (int64_t a = 0; a < parser.value(n.in[0]).type.rank; ++a) axes->push_back(a);
  }
  return !axes->empty() || why->Say(GE_WHY_SHAPE, "a scalar");
}

bool ParseReduce(const Parser& parser, uint32_t i, Unit* unit, Why* why) {
  const ge_node& n = parser.node(i);
  const std::string_view op = gp::View(n.op);
  auto& r = unit->spec.emplace<ReduceSpec>();
  r.reduce = op == "ReduceMean"  ? Reduce::kMean
             : op == "ReduceSum" ? Reduce::kSum
             : op == "ReduceMax" ? Reduce::kMax
                                 : Reduce::kMin;
  r.keep_dims = gp::AttrInt(n, "keepdims") != 0;
  return ReducedAxes(parser, n, &r.axes, why);
}

namespace {

bool ParseGlobalPool(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  auto& r = u->spec.emplace<ReduceSpec>();
  r.reduce = gp::View(n.op) == "GlobalAveragePool" ? Reduce::kMean : Reduce::kMax;
  for (int64_t a = 2; a < g.value(n.in[0]).type.rank; ++a) r.axes.push_back(a);
  if (r.axes.empty()) return why->Say(GE_WHY_SHAPE, "no spatial axes");
  return true;
}

constexpr Operator kReduceOperators[] = {
    {"GlobalAveragePool", ParseGlobalPool},
    {"GlobalMaxPool", ParseGlobalPool},
    {"ReduceMean", ParseReduce},
    {"ReduceSum", ParseReduce},
    {"ReduceMax", ParseReduce},
    {"ReduceMin", ParseReduce},
};
}  // namespace

const UnitKind ReduceSpec::kKind = {
    .name = "reduce", .operators = kReduceOperators, .follows = true};

}  // namespace ge_engines
