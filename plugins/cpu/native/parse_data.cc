// Parsing of look-ups, casts, comparisons, integer arithmetic and padding.
#include <algorithm>
#include <cstring>
#include <iterator>

#include "plugins/cpu/kit/parse.h"
#include "plugins/cpu/native/parse.h"
#include "plugins/cpu/native/roi_align.h"

namespace ge_engines::cpu::native {
namespace {

// x's dims, 1s in front, repeated along axes of one element.
bool Broadcasts(const Dims& x, const Dims& y) {
  if (x.size() > y.size()) return false;
  for (size_t k = 0; k < x.size(); ++k) {
    if (x[k] != 1 && x[k] != y[k + y.size() - x.size()]) return false;
  }
  return true;
}

}  // namespace

bool ParseExpand(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  if (g.dtype(n.in[0]) != g.dtype(n.out[0])) {
    return why->Say(GE_WHY_DTYPE, "input and output differ");
  }
  if (!Broadcasts(g.dims(n.in[0]), u->dims)) return why->Say(GE_WHY_SHAPE, "dims do not broadcast");
  u->spec = ExpandSpec();
  if (g.dims(n.in[0]) == u->dims) u->spec = ViewSpec();
  return true;
}

namespace {

// Two inputs, the second indices.
bool LooksUp(const Parser& g, const ge_node& n, Why* why) {
  if (n.n_in != 2 || n.in[1] == 0) return why->Say(GE_WHY_SHAPE, "needs two inputs");
  if (g.dtype(n.in[1]) != GE_I64 && g.dtype(n.in[1]) != GE_I32) {
    return why->Say(GE_WHY_DTYPE, "indices are neither int64 nor int32");
  }
  if (g.dtype(n.in[0]) != g.dtype(n.out[0])) {
    return why->Say(GE_WHY_DTYPE, "input and output differ");
  }
  return true;
}

}  // namespace

bool ParseGather(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  auto& axis = u->spec.emplace<GatherSpec>().axis;
  if (!LooksUp(g, n, why)) return false;
  const Dims x = g.dims(n.in[0]), index = g.dims(n.in[1]);
  const int rank = static_cast<int>(x.size());
  axis = static_cast<int>(gp::AttrInt(n, "axis"));
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return why->Say(GE_WHY_ATTRIBUTE, "axis is out of range");
  Dims want(x.begin(), x.begin() + axis);
  want.insert(want.end(), index.begin(), index.end());
  want.insert(want.end(), x.begin() + axis + 1, x.end());
  if (want != u->dims) return why->Say(GE_WHY_SHAPE, "the output has not the dims of a look-up");
  u->in.push_back(n.in[1]);
  return true;
}

bool ParseFeatures(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  auto& spec = u->spec.emplace<GatherSpec>();
  if (!LooksUp(g, n, why)) return false;
  const Dims x = g.dims(n.in[0]);
  if (x.empty()) return why->Say(GE_WHY_SHAPE, "X has no axis");
  spec.axis = static_cast<int>(x.size()) - 1, spec.backwards = false;
  Dims want = x;
  if (want.size() == 1) want.insert(want.begin(), 1);
  want.back() = Product(g.dims(n.in[1]));
  if (want != u->dims)
    return why->Say(GE_WHY_SHAPE, "the output has not the dims of what is picked");
  u->in.push_back(n.in[1]);
  return true;
}

bool ParseAppend(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  auto& axis = u->spec.emplace<AppendSpec>().axis;
  const Dims cache = g.dims(n.in[0]);
  const int rank = static_cast<int>(cache.size());
  axis = static_cast<int>(gp::AttrInt(n, "axis"));
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return why->Say(GE_WHY_ATTRIBUTE, "axis is out of range");
  if (n.n_in != 3 || n.in[1] == 0 || n.in[2] == 0) {
    return why->Say(GE_WHY_SHAPE, "needs three inputs");
  }
  Dims want = cache;
  const Dims rows = g.dims(n.in[2]);
  if (rows.size() == cache.size()) {
    want[static_cast<size_t>(axis)] = rows[static_cast<size_t>(axis)];
  }
  if (rows != want || u->dims != cache || Product(g.dims(n.in[1])) != 1) {
    return why->Say(GE_WHY_SHAPE, "the new rows do not fit the cache");
  }
  if (g.dtype(n.in[1]) != GE_I64 || g.dtype(n.in[2]) != g.dtype(n.in[0]) ||
      g.dtype(n.out[0]) != g.dtype(n.in[0])) {
    return why->Say(GE_WHY_DTYPE, "cache and rows differ, or the length is not int64");
  }
  for (const uint32_t v : {n.in[1], n.in[2]}) u->in.push_back(v);
  return true;
}

bool ParseCast(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  u->spec = CastSpec();
  const int32_t from = g.dtype(n.in[0]), to = g.dtype(n.out[0]);
  const auto half = [](int32_t t) { return t == GE_F16 || t == GE_BF16; };
  if (from == to) {
    u->spec = ViewSpec();
  } else if ((half(from) && to != GE_F32) || (half(to) && from != GE_F32)) {
    return why->Say(GE_WHY_DTYPE, std::string("a cast of ") + gp::DTypeName(from) + " to " +
                                      gp::DTypeName(to) +
                                      ", of 16-bit floats only from or to "
                                      "float32");
  }
  if (n.n_in != 1 || g.dims(n.in[0]) != u->dims) return why->Say(GE_WHY_SHAPE, "dims differ");
  return true;
}

bool ParseRoiAlign(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  if (n.n_in != 3 || n.in[1] == 0 || n.in[2] == 0) {
    return why->Say(GE_WHY_SHAPE, "needs three inputs");
  }
  if (g.dtype(n.in[0]) != GE_F32 || g.dtype(n.in[1]) != GE_F32 || g.dtype(n.in[2]) != GE_I64) {
    return why->Say(GE_WHY_DTYPE, "only float32, with int64 indices");
  }
  if (gp::AttrString(n, "mode") != "avg") return why->Say(GE_WHY_ATTRIBUTE, "only means");
  const Dims x = g.dims(n.in[0]), rois = g.dims(n.in[1]);
  const bool fits = x.size() == 4 && rois.size() == 2 && rois[1] == 4 && u->dims.size() == 4 &&
                    u->dims[0] == rois[0] && u->dims[1] == x[1] && g.dims(n.in[2]) == Dims{rois[0]};
  if (!fits) return why->Say(GE_WHY_SHAPE, "wants X [N, C, H, W], rois [R, 4], indices [R]");
  if (x[1] % kRoiChannels != 0) {
    return why->Say(GE_WHY_SHAPE, "channels are no multiple of " + std::to_string(kRoiChannels));
  }
  RoiAlignSpec s;
  s.rois = rois[0], s.batch = x[0], s.channels = x[1], s.height = x[2], s.width = x[3];
  s.out_height = u->dims[2], s.out_width = u->dims[3];
  s.ratio = gp::AttrInt(n, "sampling_ratio");
  s.scale = gp::AttrFloat(n, "spatial_scale");
  const std::string_view where = gp::AttrString(n, "coordinate_transformation_mode");
  s.half_pixel = where == "half_pixel";
  if (s.ratio < 0 || (!s.half_pixel && where != "output_half_pixel")) {
    return why->Say(GE_WHY_ATTRIBUTE, "a mode that is not known");
  }
  u->spec = s;
  u->in = {n.in[0], n.in[1], n.in[2]};
  return true;
}

bool ParseWhere(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  u->spec = WhereSpec();
  if (n.n_in != 3 || n.in[1] == 0 || n.in[2] == 0) {
    return why->Say(GE_WHY_SHAPE, "needs three inputs");
  }
  const int32_t t = g.dtype(n.out[0]);
  if (g.dtype(n.in[0]) != GE_BOOL || (t != GE_F32 && t != GE_I32)) {
    return why->Say(GE_WHY_DTYPE,
                    std::string("chooses among ") + gp::DTypeName(t) + ", only float32 and int32");
  }
  for (uint32_t k = 0; k < 3; ++k) {
    if (k > 0 && g.dtype(n.in[k]) != t) {
      return why->Say(GE_WHY_DTYPE, "the operands differ in dtype");
    }
    if (!Broadcasts(g.dims(n.in[k]), u->dims)) {
      return why->Say(GE_WHY_SHAPE, "dims do not broadcast");
    }
  }
  u->in = {n.in[0], n.in[1], n.in[2]};
  return true;
}

bool ParseRelation(const Parser& g, uint32_t i, Unit* u, Why* why) {
  static constexpr std::string_view kOps[] = {
      "Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual", "And", "Or", "Xor", "Not"};
  const ge_node& n = g.node(i);
  auto& op = u->spec.emplace<RelationSpec>().op;
  op = static_cast<Relation>(std::find(std::begin(kOps), std::end(kOps), gp::View(n.op)) - kOps);
  const uint32_t wanted = op == Relation::kNot ? 1 : 2;
  if (n.n_in != wanted || n.in[wanted - 1] == 0) {
    return why->Say(GE_WHY_SHAPE, "an operand is missing");
  }
  if (wanted == 2) u->in.push_back(n.in[1]);
  const bool logic = op >= Relation::kAnd;
  for (uint32_t v : u->in) {
    const int32_t t = g.dtype(v);
    if (t != g.dtype(n.in[0]) || g.dtype(n.out[0]) != GE_BOOL || (logic && t != GE_BOOL)) {
      return why->Say(GE_WHY_DTYPE, "inputs differ in dtype, or a logical one is not bool");
    }
    if (t == GE_BOOL && !logic && op != Relation::kEqual) {
      return why->Say(GE_WHY_DTYPE, "bools have no order");
    }
    if (!Broadcasts(g.dims(v), u->dims)) return why->Say(GE_WHY_SHAPE, "dims do not broadcast");
  }
  return true;
}

namespace {

// The binary operators on int32 and int64.
bool IntegerMath(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  const std::string_view op = gp::View(n.op);
  const int32_t t = g.dtype(n.in[0]);
  if ((t != GE_I32 && t != GE_I64) || g.dtype(n.in[1]) != t || g.dtype(n.out[0]) != t) {
    return why->Say(GE_WHY_DTYPE, std::string("operands of ") + gp::DTypeName(t) + " and " +
                                      gp::DTypeName(g.dtype(n.in[1])) +
                                      ", only two of float32, int32 or int64");
  }
  if (!Broadcasts(g.dims(n.in[0]), u->dims) || !Broadcasts(g.dims(n.in[1]), u->dims)) {
    return why->Say(GE_WHY_SHAPE, "dims do not broadcast");
  }
  u->spec = IntegerSpec{op == "Add"   ? Fn::kAdd
                        : op == "Sub" ? Fn::kSub
                        : op == "Mul" ? Fn::kMul
                        : op == "Div" ? Fn::kDiv
                        : op == "Max" ? Fn::kMax
                                      : Fn::kMin};
  u->in.push_back(n.in[1]);
  return true;
}

}  // namespace

bool ParseArithmetic(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  const bool two = n.n_in == 2 && n.in[1] != 0;
  return two && g.dtype(n.in[0]) != GE_F32 ? IntegerMath(g, i, u, why) : ParseBinary(g, i, u, why);
}

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
    s->x[a - 1] *= size, s->y[a - 1] *= size, s->before[a - 1] *= size;
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
  spec.x = x, spec.y = want;
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

}  // namespace

// A pad that repeats elements is a look-up along each axis, as a nearest resize is.
bool ParsePad(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  auto& taps = u->spec.emplace<ResampleSpec>().taps;
  const std::string_view mode = gp::AttrString(n, "mode");
  if (mode == "constant") return ConstantPad(g, n, u, why);
  if (mode != "reflect" && mode != "edge" && mode != "wrap") {
    return why->Say(GE_WHY_ATTRIBUTE, "mode '" + std::string(mode) + "' is not known");
  }
  if (g.dtype(n.in[0]) != GE_F32) return why->Say(GE_WHY_DTYPE, "repeats only float32");
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

}  // namespace ge_engines::cpu::native
