// Parsing of what our loops do with floats, and of operators that move elements.
#include <algorithm>

#include "plugins/cpu/native/parse.h"

namespace ge_engines::cpu::native {
namespace {

bool Axes(const Parser& g, const ge_node& n, uint32_t input, Dims* out, Why* why) {
  const auto attr = gp::AttrInts(n, "axes");
  out->assign(attr.begin(), attr.end());
  if (input < n.n_in && n.in[input] != 0 && !g.Integers(n.in[input], out)) {
    return why->Say(GE_WHY_DYNAMIC, "axes are not constant");
  }
  const int64_t rank = g.value(n.in[0]).type.rank;
  for (int64_t& a : *out) {
    if (a < 0) a += rank;
    if (a < 0 || a >= rank) return why->Say(GE_WHY_ATTRIBUTE, "an axis is out of range");
  }
  std::sort(out->begin(), out->end());
  return true;
}

// The axes of a reduction, ascending: one at least.
bool ReducedAxes(const Parser& g, const ge_node& n, Dims* axes, Why* why) {
  if (!Axes(g, n, 1, axes, why)) return false;
  if (axes->empty()) {
    if (gp::AttrInt(n, "noop_with_empty_axes") != 0) {
      return why->Say(GE_WHY_ATTRIBUTE, "noop_with_empty_axes");
    }
    for (int64_t a = 0; a < g.value(n.in[0]).type.rank; ++a) axes->push_back(a);
  }
  return !axes->empty() || why->Say(GE_WHY_SHAPE, "a scalar");
}

}  // namespace

bool ParseReduce(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  const std::string_view op = gp::View(n.op);
  auto& r = u->spec.emplace<ReduceSpec>();
  r.reduce = op == "ReduceMean"  ? Reduce::kMean
             : op == "ReduceSum" ? Reduce::kSum
             : op == "ReduceMax" ? Reduce::kMax
                                 : Reduce::kMin;
  r.keep_dims = gp::AttrInt(n, "keepdims") != 0;
  return ReducedAxes(g, n, &r.axes, why);
}

bool ParseRowSquares(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  auto& s = u->spec.emplace<RowSquareSpec>();
  s.root = gp::View(n.op) == "ReduceL2";
  Dims axes;
  if (!ReducedAxes(g, n, &axes, why)) return false;
  const Dims x = g.dims(n.in[0]);
  s.n = 1;
  for (size_t k = 0, first = x.size() - axes.size(); k < axes.size(); ++k) {
    if (axes[k] != static_cast<int64_t>(first + k)) {
      return why->Say(GE_WHY_ATTRIBUTE, "other axes than the last ones");
    }
    s.n *= x[first + k];
  }
  s.rows = Product(u->dims);
  return true;
}

bool ParseGlobalPool(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  auto& r = u->spec.emplace<ReduceSpec>();
  r.reduce = gp::View(n.op) == "GlobalAveragePool" ? Reduce::kMean : Reduce::kMax;
  for (int64_t a = 2; a < g.value(n.in[0]).type.rank; ++a) r.axes.push_back(a);
  if (r.axes.empty()) return why->Say(GE_WHY_SHAPE, "no spatial axes");
  return true;
}

bool ParseSoftmax(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  const int rank = static_cast<int>(u->dims.size());
  auto& axis = u->spec.emplace<SoftmaxSpec>().axis;
  axis = static_cast<int>(gp::AttrInt(n, "axis"));
  if (axis < 0) axis += rank;
  if (rank == 0 || axis < 0 || axis >= rank) {
    return why->Say(GE_WHY_ATTRIBUTE, "axis is out of range");
  }
  return true;
}

bool ParseLayerNorm(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  const int64_t rank = static_cast<int64_t>(u->dims.size());
  const int64_t axis = gp::AttrInt(n, "axis");
  if (axis != -1 && axis != rank - 1) return why->Say(GE_WHY_ATTRIBUTE, "only the last axis");
  if (rank == 0) return why->Say(GE_WHY_SHAPE, "a scalar");
  if (n.n_out > 1 && (n.out[1] != 0 || (n.n_out > 2 && n.out[2] != 0))) {
    return why->Say(GE_WHY_ATTRIBUTE, "Mean and InvStdDev are not computed");
  }
  const bool centered = !gp::IsOp(n, "RMSNormalization");
  u->spec = LayerNormSpec{static_cast<float>(gp::AttrFloat(n, "epsilon")), centered};
  for (uint32_t k = 1; k < 3; ++k) {
    const uint32_t v = k < n.n_in ? n.in[k] : 0;
    if (v != 0 && g.dims(v) != Dims{u->dims.back()}) {
      return why->Say(GE_WHY_SHAPE, "scale or bias is not as long as the last axis");
    }
    u->in.push_back(v);
  }
  return true;
}

bool ParseConcat(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  auto& axis = u->spec.emplace<ConcatSpec>().axis;
  axis = static_cast<int>(gp::AttrInt(n, "axis"));
  if (axis < 0) axis += static_cast<int>(u->dims.size());
  if (axis < 0 || axis >= static_cast<int>(u->dims.size())) {
    return why->Say(GE_WHY_ATTRIBUTE, "axis is out of range");
  }
  u->in.clear();
  for (uint32_t k = 0; k < n.n_in; ++k) {
    const uint32_t v = n.in[k];
    if (v == 0) return why->Say(GE_WHY_SHAPE, "an input is missing");
    if (Product(g.dims(v)) == 0) continue;  // nothing to join
    u->in.push_back(v);
    if (g.dtype(v) != g.dtype(u->out[0])) return why->Say(GE_WHY_DTYPE, "inputs differ in dtype");
  }
  return true;
}

bool ParseResize(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  const std::string_view mode = gp::AttrString(n, "mode");
  const std::string_view where = gp::AttrString(n, "coordinate_transformation_mode");
  const std::string_view round = gp::AttrString(n, "nearest_mode");
  // With whole factors both of these read element floor(x / factor).
  const bool floor = where == "asymmetric" && round == "floor";
  const bool half =
      where == "half_pixel" && (round == "round_prefer_floor" || round == "round_prefer_ceil");
  bool whole = mode == "nearest" && (floor || half) && gp::AttrInts(n, "axes").size() == 0;
  const Dims x = g.dims(n.in[0]);
  Dims factors;
  for (size_t k = 0; k < x.size() && whole; ++k) {
    whole = u->dims[k] % x[k] == 0;
    factors.push_back(u->dims[k] / x[k]);
  }
  // A fractional scale can give the same dims as a whole one but other coordinates.
  if (whole && n.n_in > 2 && n.in[2] != 0 && Product(g.dims(n.in[2])) > 0) {
    if (!g.constant(n.in[2])) return why->Say(GE_WHY_DYNAMIC, "scales are not constant");
    const std::vector<float> s = g.Floats(n.in[2]);
    for (size_t k = 0; k < s.size() && k < x.size(); ++k) {
      whole = whole && s[k] == static_cast<float>(factors[k]);
    }
  }
  if (!whole) return ParseResample(g, i, u, why);
  u->spec = ResizeSpec{std::move(factors)};
  return true;
}

bool ParseView(const Parser& g, uint32_t, Unit* u, Why* why) {
  u->spec = ViewSpec();
  if (Product(g.dims(u->in[0])) != Product(u->dims)) {
    return why->Say(GE_WHY_SHAPE, "element counts");
  }
  if (g.dtype(u->in[0]) != g.dtype(u->out[0])) {
    return why->Say(GE_WHY_DTYPE, "input and output differ");
  }
  return true;
}

bool ParseTranspose(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  auto& axes = u->spec.emplace<TransposeSpec>().perm;
  const auto perm = gp::AttrInts(n, "perm");
  const size_t rank = u->dims.size();
  for (size_t k = 0; k < rank; ++k) {
    axes.push_back(perm.size() == rank ? perm[k] : static_cast<int64_t>(rank - 1 - k));
    if (axes[k] < 0 || axes[k] >= static_cast<int64_t>(rank)) {
      return why->Say(GE_WHY_ATTRIBUTE, "perm is out of range");
    }
  }
  return true;
}

bool ParseSlice(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  const Dims x = g.dims(n.in[0]);
  Dims start, axes, step;
  if (n.n_in < 3 || !g.Integers(n.in[1], &start)) {
    return why->Say(GE_WHY_DYNAMIC, "starts are not constant");
  }
  if (n.n_in > 3 && n.in[3] != 0) {
    if (!g.Integers(n.in[3], &axes)) return why->Say(GE_WHY_DYNAMIC, "axes are not constant");
  } else {
    for (size_t k = 0; k < start.size(); ++k) axes.push_back(static_cast<int64_t>(k));
  }
  step.assign(start.size(), 1);
  if (n.n_in > 4 && n.in[4] != 0 && !g.Integers(n.in[4], &step)) {
    return why->Say(GE_WHY_DYNAMIC, "steps are not constant");
  }
  if (axes.size() != start.size() || step.size() != start.size()) {
    return why->Say(GE_WHY_SHAPE, "starts, axes and steps differ in length");
  }
  Box box{Dims(x.size(), 0), Dims(x.size(), 1)};
  for (size_t k = 0; k < start.size(); ++k) {
    const int64_t a = axes[k] < 0 ? axes[k] + static_cast<int64_t>(x.size()) : axes[k];
    if (a < 0 || a >= static_cast<int64_t>(x.size())) return why->Say(GE_WHY_SHAPE, "bad axis");
    if (step[k] == 0) return why->Say(GE_WHY_ATTRIBUTE, "a step of 0");
    const size_t at = static_cast<size_t>(a);
    int64_t b = start[k] < 0 ? start[k] + x[at] : start[k];
    b = std::clamp<int64_t>(b, 0, step[k] > 0 ? x[at] : x[at] - 1);
    const int64_t last = u->dims[at] - 1;
    const bool inside = step[k] > 0 ? last == 0 || step[k] <= (x[at] - 1 - b) / last
                                    : last == 0 || step[k] >= -(b / last);
    if (b >= x[at] || !inside) return why->Say(GE_WHY_SHAPE, "out of range");
    box.start[at] = b;
    box.step[at] = step[k];
  }
  u->spec = SliceSpec{{box}};
  return true;
}

bool ParseSplit(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  auto& boxes = u->spec.emplace<SliceSpec>().boxes;
  const Dims x = g.dims(n.in[0]);
  const int64_t rank = static_cast<int64_t>(x.size());
  int64_t axis = gp::AttrInt(n, "axis");
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return why->Say(GE_WHY_ATTRIBUTE, "axis is out of range");
  int64_t at = 0;
  u->out.clear();
  for (uint32_t k = 0; k < n.n_out; ++k) {
    if (n.out[k] == 0) return why->Say(GE_WHY_SHAPE, "an omitted output");
    Box box{Dims(x.size(), 0), Dims(x.size(), 1)};
    box.start[static_cast<size_t>(axis)] = at;
    at += g.dims(n.out[k])[static_cast<size_t>(axis)];
    boxes.push_back(box);
    u->out.push_back(n.out[k]);
  }
  if (at != x[static_cast<size_t>(axis)]) return why->Say(GE_WHY_SHAPE, "outputs do not add up");
  return true;
}

}  // namespace ge_engines::cpu::native
