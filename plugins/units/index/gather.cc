#include "plugins/units/index/gather.h"

#include <algorithm>

#include "plugins/units/parser.h"

namespace ge_engines {

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
  spec.axis = static_cast<int>(x.size()) - 1;
  spec.backwards = false;
  Dims want = x;
  if (want.size() == 1) want.insert(want.begin(), 1);
  want.back() = Product(g.dims(n.in[1]));
  if (want != u->dims)
    return why->Say(GE_WHY_SHAPE, "the output has not the dims of what is picked");
  u->in.push_back(n.in[1]);
  return true;
}

constexpr Operator kGatherOperators[] = {
    {"Gather", ParseGather, Types::kAny, 0},
    {"ai.onnx.ml.ArrayFeatureExtractor", ParseFeatures, Types::kAny, 0},
};
}  // namespace

const UnitKind GatherSpec::kKind = {.name = "gather", .operators = kGatherOperators};

bool MayIndex(const Parser& parser, uint32_t indices, int64_t size, bool* backwards) {
  Dims known;
  *backwards = true;
  if (!parser.Integers(indices, &known)) return true;
  *backwards = std::any_of(known.begin(), known.end(), [](int64_t k) { return k < 0; });
  return std::all_of(known.begin(), known.end(),
                     [size](int64_t k) { return k >= -size && k < size; });
}

}  // namespace ge_engines
