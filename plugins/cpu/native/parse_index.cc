// Parsing of look-ups and updates by index, and of what depends on the order of elements.
#include "plugins/cpu/native/parse.h"

namespace ge_engines::cpu::native {
namespace {

// The attribute `axis`, counted from the front.
bool AxisOf(const ge_node& n, size_t rank, int64_t named, int* axis, Why* why) {
  if (named < 0) named += static_cast<int64_t>(rank);
  if (named < 0 || named >= static_cast<int64_t>(rank)) {
    return why->Say(GE_WHY_ATTRIBUTE, std::string(gp::View(n.op)) + "'s axis is out of range");
  }
  *axis = static_cast<int>(named);
  return true;
}

bool IsNumber(int32_t dtype) { return dtype == GE_F32 || dtype == GE_I32 || dtype == GE_I64; }

// Data, indices and maybe updates; what is made has the dtype of the data.
bool Indexed(const Parser& g, const ge_node& n, Unit* u, Why* why) {
  auto& s = std::get<IndexSpec>(u->spec);
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
  if (s.scatter && gp::AttrString(n, "reduction") != "none") {
    s.add = gp::AttrString(n, "reduction") == "add" && g.dtype(n.in[0]) == GE_F32;
    if (!s.add) {
      return why->Say(GE_WHY_ATTRIBUTE, "updates are reduced other than by float32's add");
    }
  }
  if (g.dims(n.in[0]).empty() || g.dims(n.in[1]).empty()) return why->Say(GE_WHY_SHAPE, "a scalar");
  return !s.scatter || g.dims(n.in[0]) == u->dims ||
         why->Say(GE_WHY_SHAPE, "the output has not the data's dims");
}

// No updates at all: the data as they are. (Look-ups without indices give nothing, and nobody is
// asked for that.)
bool Untouched(const Parser& g, Unit* u) {
  if (Product(g.dims(u->in[1])) != 0 || !std::get<IndexSpec>(u->spec).scatter) return false;
  u->spec = ViewSpec();
  u->in.resize(1);
  return true;
}

}  // namespace

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

bool ParseCumSum(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  auto& s = u->spec.emplace<CumSumSpec>();
  Dims axis;
  if (n.n_in != 2 || n.in[1] == 0 || !g.Integers(n.in[1], &axis) || axis.size() != 1) {
    return why->Say(GE_WHY_DYNAMIC, "the axis is not constant");
  }
  if (!IsNumber(g.dtype(n.in[0])) || g.dtype(n.out[0]) != g.dtype(n.in[0])) {
    return why->Say(GE_WHY_DTYPE, "only float32, int32 and int64");
  }
  s.exclusive = gp::AttrInt(n, "exclusive") != 0;
  s.reverse = gp::AttrInt(n, "reverse") != 0;
  return AxisOf(n, u->dims.size(), axis[0], &s.axis, why);
}

bool ParseArg(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  auto& s = u->spec.emplace<ArgSpec>();
  if (!IsNumber(g.dtype(n.in[0])) || g.dtype(n.out[0]) != GE_I64) {
    return why->Say(GE_WHY_DTYPE, "only float32, int32 and int64");
  }
  s.least = gp::View(n.op) == "ArgMin";
  s.last = gp::AttrInt(n, "select_last_index") != 0;
  const Dims x = g.dims(n.in[0]);
  if (!AxisOf(n, x.size(), gp::AttrInt(n, "axis"), &s.axis, why)) return false;
  return Product(u->dims) * x[static_cast<size_t>(s.axis)] == Product(x) ||
         why->Say(GE_WHY_SHAPE, "the output has not the dims of the input less its axis");
}

bool ParseTopK(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  auto& s = u->spec.emplace<TopKSpec>();
  if (n.n_in != 2 || n.in[1] == 0 || g.dtype(n.in[1]) != GE_I64 || Product(g.dims(n.in[1])) != 1) {
    return why->Say(GE_WHY_SHAPE, "K is not one int64");
  }
  const uint32_t places = n.n_out > 1 ? n.out[1] : 0;
  if (!IsNumber(g.dtype(n.in[0])) || g.dtype(n.out[0]) != g.dtype(n.in[0]) ||
      (places != 0 && g.dtype(places) != GE_I64)) {
    return why->Say(GE_WHY_DTYPE, "only float32, int32 and int64");
  }
  Dims want = g.dims(n.in[0]);
  if (!AxisOf(n, want.size(), gp::AttrInt(n, "axis"), &s.axis, why)) return false;
  auto& dim = want[static_cast<size_t>(s.axis)];
  const bool fits = u->dims.size() == want.size() && u->dims[static_cast<size_t>(s.axis)] <= dim;
  if (fits) dim = u->dims[static_cast<size_t>(s.axis)];
  if (!fits || want != u->dims || (places != 0 && g.dims(places) != want)) {
    return why->Say(GE_WHY_SHAPE, "the outputs do not fit the input");
  }
  s.largest = gp::AttrInt(n, "largest") != 0;
  u->in.push_back(n.in[1]);
  u->out.push_back(places);
  return true;
}

bool ParseTile(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  u->spec = TileSpec();
  const Dims x = g.dims(n.in[0]);
  bool fits = x.size() == u->dims.size() && !x.empty();
  for (size_t k = 0; fits && k < x.size(); ++k) fits = u->dims[k] % x[k] == 0;
  if (!fits) return why->Say(GE_WHY_SHAPE, "the output is no repeated input");
  if (x == u->dims) u->spec = ViewSpec();
  return g.dtype(n.in[0]) == g.dtype(n.out[0]) || why->Say(GE_WHY_DTYPE, "input and output differ");
}

}  // namespace ge_engines::cpu::native
