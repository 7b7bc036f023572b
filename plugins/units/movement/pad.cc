#include "plugins/units/movement/pad.h"

#include <algorithm>

#include "plugins/units/parser.h"
#include "plugins/units/resample/resize.h"

namespace ge_engines {

namespace {

// Where element i of a padded axis comes from, counted from the first of n kept elements.
int64_t MirroredAt(std::string_view mode, int64_t i, int64_t n) {
  if (i >= 0 && i < n) return i;
  if (mode == "edge") return i < 0 ? 0 : n - 1;
  const int64_t period = mode == "wrap" ? n : std::max<int64_t>(2 * (n - 1), 1);
  const int64_t m = (i % period + period) % period;
  return m < n ? m : period - m;
}

bool PadsOf(const Parser& g, const ge_node& n, Dims* pads, Dims* axes, Why* why) {
  if (n.n_in < 2 || !g.Integers(n.in[1], pads)) {
    return why->Say(GE_WHY_DYNAMIC, "pads are not constant");
  }
  if (n.n_in > 3 && n.in[3] != 0) {
    if (!g.Integers(n.in[3], axes)) return why->Say(GE_WHY_DYNAMIC, "axes are not constant");
  } else {
    for (int64_t a = 0; a < g.value(n.in[0]).type.rank; ++a) axes->push_back(a);
  }
  return pads->size() == 2 * axes->size() || why->Say(GE_WHY_SHAPE, "not two pads for each axis");
}

// Rows as long as they come: what is copied at once. Longer ones than so many elements are left to
// several threads.
void JoinUnpadded(FillPadSpec* s) {
  constexpr int64_t kEnough = 4096;
  for (size_t a = s->x.size(); --a > 0;) {
    const int64_t size = s->x[a];
    const bool whole = s->before[a] == 0 && size == s->y[a];
    const bool near = s->before[a - 1] <= INT32_MAX && s->before[a - 1] >= -INT32_MAX;
    if (!whole || size >= kEnough || !near) continue;
    s->x[a - 1] *= size;
    s->y[a - 1] *= size;
    s->before[a - 1] *= size;
    for (Dims* d : {&s->x, &s->y, &s->before}) d->erase(d->begin() + static_cast<int64_t>(a));
  }
}

bool ConstantPad(const Parser& g, const ge_node& n, Unit* u, Why* why) {
  const Dims x = g.dims(n.in[0]);
  const auto rank = static_cast<int64_t>(x.size());
  auto& spec = u->spec.emplace<FillPadSpec>();
  auto& before = spec.before;
  before.assign(x.size(), 0);
  Dims pads, axes, want = x;
  if (rank == 0) return why->Say(GE_WHY_SHAPE, "a scalar");
  if (!PadsOf(g, n, &pads, &axes, why)) return false;
  for (size_t k = 0; k < axes.size(); ++k) {
    const int64_t a = axes[k] < 0 ? axes[k] + rank : axes[k];
    if (a < 0 || a >= rank) return why->Say(GE_WHY_ATTRIBUTE, "an axis is out of range");
    before[static_cast<size_t>(a)] += pads[k];
    want[static_cast<size_t>(a)] += pads[k] + pads[k + axes.size()];
  }
  if (want != u->dims) return why->Say(GE_WHY_SHAPE, "pads do not fit an axis");
  spec.x = x;
  spec.y = want;
  JoinUnpadded(&spec);
  if (n.n_in > 2 && n.in[2] != 0) {
    if (g.dtype(n.in[2]) != g.dtype(n.in[0]) || Product(g.dims(n.in[2])) != 1) {
      return why->Say(GE_WHY_DTYPE, "the filling is not one element of x's dtype");
    }
    u->in.push_back(n.in[2]);
  }
  const int bytes = g.size(n.in[0]);
  return (g.dtype(n.in[0]) == g.dtype(n.out[0]) && bytes <= 8 && (bytes & (bytes - 1)) == 0) ||
         why->Say(GE_WHY_DTYPE, "input and output differ, or are wider than 8 bytes");
}

// A pad that repeats elements is a look-up along each axis, as a nearest resize is.
bool ParsePad(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  auto& taps = u->spec.emplace<ResampleSpec>().taps;
  const std::string_view mode = gp::AttrString(n, "mode");
  if (mode == "constant") return ConstantPad(g, n, u, why);
  if (mode != "reflect" && mode != "edge" && mode != "wrap") {
    return why->Say(GE_WHY_ATTRIBUTE, "mode '" + std::string(mode) + "' is not known");
  }
  if (!g.IsReal(g.dtype(n.in[0]))) return why->Say(GE_WHY_DTYPE, "repeats only float32");
  const Dims x = g.dims(n.in[0]);
  const auto rank = static_cast<int64_t>(x.size());
  if (u->dims.size() != x.size()) return why->Say(GE_WHY_SHAPE, "another rank");
  Dims pads, axes;
  if (!PadsOf(g, n, &pads, &axes, why)) return false;
  taps.resize(x.size());
  for (size_t k = 0; k < axes.size(); ++k) {
    const int64_t a = axes[k] < 0 ? axes[k] + rank : axes[k];
    if (a < 0 || a >= rank) return why->Say(GE_WHY_ATTRIBUTE, "an axis is out of range");
    const int64_t begin = pads[k], end = pads[k + axes.size()], size = x[static_cast<size_t>(a)];
    const int64_t cut = std::max<int64_t>(0, -begin);
    const int64_t kept = size - cut - std::max<int64_t>(0, -end);
    auto& at = taps[static_cast<size_t>(a)].at;
    if (kept < 1 || !at.empty() || u->dims[static_cast<size_t>(a)] != begin + size + end) {
      return why->Say(GE_WHY_SHAPE, "pads do not fit an axis");
    }
    if (begin == 0 && end == 0) continue;
    for (int64_t to = 0; to < begin + size + end; ++to) {
      at.push_back(
          static_cast<int32_t>(cut + MirroredAt(mode, to - std::max<int64_t>(begin, 0), kept)));
    }
  }
  return true;
}

constexpr Operator kPadOperators[] = {
    {"Pad", ParsePad, Types::kAny, 0},
};
}  // namespace

const UnitKind FillPadSpec::kKind = {.name = "pad", .operators = kPadOperators};

}  // namespace ge_engines
