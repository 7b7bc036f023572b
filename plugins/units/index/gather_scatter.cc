#include "plugins/units/index/gather_scatter.h"

#include <algorithm>
#include <iterator>

#include "plugins/units/movement/reshape.h"
#include "plugins/units/parser.h"

namespace ge_engines {

namespace {

// The attribute 'reduction', for numbers that it is computed of.
bool HowUpdated(const Parser& g, std::string_view reduction, int32_t dtype, Update* out) {
  static constexpr std::string_view kReductions[] = {"none", "add", "mul", "max", "min"};
  static constexpr int32_t kReduced[] = {GE_F32, GE_F64, GE_I32, GE_I64, GE_I8, GE_U8};
  return Named(reduction, kReductions, out) &&
         (*out == Update::kReplace || g.IsReal(dtype) ||
          std::find(std::begin(kReduced), std::end(kReduced), dtype) != std::end(kReduced));
}

// Data, indices and maybe updates; what is made has the dtype of the data.
bool Indexed(const Parser& g, const ge_node& n, Unit* u, Why* why) {
  auto& s = u->spec.get<IndexSpec>();
  const uint32_t wanted = s.scatter ? 3 : 2;
  for (uint32_t k = 1; k < wanted; ++k) {
    if (n.n_in != wanted || n.in[k] == 0) return why->Say(GE_WHY_SHAPE, "an input is missing");
    u->in.push_back(n.in[k]);
  }
  if (g.dtype(n.in[1]) != GE_I64 && g.dtype(n.in[1]) != GE_I32) {
    return why->Say(GE_WHY_DTYPE, "indices are neither int64 nor int32");
  }
  const int bytes = g.size(n.in[0]);
  if (g.dtype(n.in[0]) != g.dtype(n.out[0]) ||
      (s.scatter && g.dtype(n.in[2]) != g.dtype(n.in[0])) ||
      (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8)) {
    return why->Say(GE_WHY_DTYPE, "data, updates and output differ in dtype");
  }
  if (s.scatter && !HowUpdated(g, gp::AttrString(n, "reduction"), g.dtype(n.in[0]), &s.update)) {
    return why->Say(GE_WHY_ATTRIBUTE, "updates of such numbers are not reduced here");
  }
  if (g.dims(n.in[0]).empty() || g.dims(n.in[1]).empty()) return why->Say(GE_WHY_SHAPE, "a scalar");
  return !s.scatter || g.dims(n.in[0]) == u->dims ||
         why->Say(GE_WHY_SHAPE, "the output has not the data's dims");
}

// No updates at all: the data as they are. (Look-ups without indices give nothing, and nobody is
// asked for that.)
bool Untouched(const Parser& g, Unit* u) {
  if (Product(g.dims(u->in[1])) != 0 || !u->spec.get<IndexSpec>().scatter) return false;
  u->spec = ViewSpec();
  u->in.resize(1);
  return true;
}

bool ParseElements(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  auto& s = u->spec.emplace<IndexSpec>();
  s.scatter = gp::View(n.op) == "ScatterElements";
  if (!Indexed(g, n, u, why)) return false;
  if (Untouched(g, u)) return true;
  const Dims x = g.dims(n.in[0]), index = g.dims(n.in[1]);
  if (!AxisOf(n, x.size(), gp::AttrInt(n, "axis"), &s.axis, why)) return false;
  bool fits = index.size() == x.size() && (s.scatter ? g.dims(n.in[2]) : u->dims) == index;
  for (size_t k = 0; fits && k < x.size(); ++k) {
    fits = static_cast<int>(k) == s.axis || index[k] <= x[k];
  }
  return fits || why->Say(GE_WHY_SHAPE, "indices do not fit the data");
}

bool ParseTuples(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  auto& s = u->spec.emplace<IndexSpec>();
  s.tuples = true;
  s.scatter = gp::View(n.op) == "ScatterND";
  if (!Indexed(g, n, u, why)) return false;
  if (Untouched(g, u)) return true;
  const Dims x = g.dims(n.in[0]), index = g.dims(n.in[1]);
  const int64_t batches = s.scatter ? 0 : gp::AttrInt(n, "batch_dims");
  const auto rank = static_cast<int64_t>(x.size());
  const int64_t used = batches + index.back();
  if (batches < 0 || batches >= static_cast<int64_t>(index.size()) || used > rank) {
    return why->Say(GE_WHY_SHAPE, "tuples are longer than the data's rank");
  }
  s.axis = static_cast<int>(batches);
  bool fits = true;
  for (int64_t k = 0; k < batches; ++k) {
    fits &= x[static_cast<size_t>(k)] == index[static_cast<size_t>(k)];
  }
  Dims slices(index.begin(), index.end() - 1);
  slices.insert(slices.end(), x.begin() + used, x.end());
  fits = fits && (s.scatter ? g.dims(n.in[2]) : u->dims) == slices;
  return fits || why->Say(GE_WHY_SHAPE, "tuples do not fit the data");
}

constexpr Operator kGatherScatterOperators[] = {
    {"GatherElements", ParseElements, Types::kAny, 0},
    {.op = "ScatterElements",
     .parse = ParseElements,
     .types = Types::kAny,
     .data = 0,
     .empty_inputs = true},
    {"GatherND", ParseTuples, Types::kAny, 0},
    {.op = "ScatterND",
     .parse = ParseTuples,
     .types = Types::kAny,
     .data = 0,
     .empty_inputs = true},
};
}  // namespace

const UnitKind IndexSpec::kKind = {.name = "gather_scatter", .operators = kGatherScatterOperators};

}  // namespace ge_engines
