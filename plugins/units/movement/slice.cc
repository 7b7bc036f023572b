#include "plugins/units/movement/slice.h"

#include <algorithm>

#include "plugins/units/parser.h"

namespace ge_engines {

namespace {

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

constexpr Operator kSliceOperators[] = {
    {"Slice", ParseSlice, Types::kWord},
    {"Split", ParseSplit, Types::kWord},
};
}  // namespace

const UnitKind SliceSpec::kKind = {.name = "slice", .operators = kSliceOperators, .follows = true};

int64_t BeginOf(const Box& box, Dims* strides) {
  int64_t begin = 0;
  for (size_t k = 0; k < strides->size(); ++k) {
    begin += box.start[k] * (*strides)[k];
    (*strides)[k] *= box.step[k];
  }
  return begin;
}

bool GoesBack(const Box& box) {
  return std::any_of(box.step.begin(), box.step.end(), [](int64_t step) { return step < 0; });
}

}  // namespace ge_engines
