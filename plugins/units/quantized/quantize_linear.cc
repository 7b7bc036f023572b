#include "plugins/units/quantized/quantize_linear.h"

#include "plugins/units/parser.h"
#include "plugins/units/quantized/inputs.h"
#include "plugins/units/quantized/quantized_group.h"
#include "plugins/units/quantized/wide_quantize.h"

namespace ge_engines {

namespace {

bool IsInt16(int32_t dtype) { return dtype == GE_I16 || dtype == GE_U16; }

bool Grid(const Parser& g, const ge_node& n, Unit* u, QuantGrid* grid, Why* why) {
  if (n.n_in < 2 || n.in[1] == 0) return why->Say(GE_WHY_SHAPE, "no scale");
  const uint32_t zero = n.n_in > 2 ? n.in[2] : 0;
  const int64_t scales = Product(g.dims(n.in[1]));
  if (g.dtype(n.in[1]) != GE_F32 || (zero != 0 && Product(g.dims(zero)) != scales)) {
    return why->Say(GE_WHY_DTYPE,
                    "the scale is not float32, or has another count than zero points");
  }
  u->in = {n.in[0], n.in[1], zero};
  const Dims d = g.dims(n.in[0]);
  if (scales == 1) {
    grid->inner = Product(d);
    return true;
  }
  const int64_t rank = static_cast<int64_t>(d.size());
  int64_t axis = rank == 1 ? 0 : gp::AttrInt(n, "axis");
  if (axis < 0) axis += rank;
  if (gp::AttrInt(n, "block_size") != 0 || axis < 0 || axis >= rank ||
      g.dims(n.in[1]) != Dims{d[static_cast<size_t>(axis)]}) {
    return why->Say(GE_WHY_ATTRIBUTE, "only one scale, or one for each index of an axis");
  }
  grid->outer = Product(Dims(d.begin(), d.begin() + axis));
  grid->dim = scales;
  grid->inner = Product(Dims(d.begin() + axis + 1, d.end()));
  return true;
}

bool ParseQuantize(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  const bool wide = IsInt16(g.dtype(n.out[0]));
  auto& grid =
      wide ? u->spec.emplace<WideQuantizeSpec>().grid : u->spec.emplace<QuantizeSpec>().grid;
  if (g.dtype(n.in[0]) != GE_F32 || (!wide && !IsInt8(g.dtype(n.out[0]))) ||
      g.dims(n.in[0]) != u->dims) {
    return why->Say(GE_WHY_DTYPE, "only float32 to integers of 8 and 16 bits");
  }
  if (gp::View(n.op) == "DynamicQuantizeLinear") {
    grid.inner = Product(u->dims);
    for (uint32_t k : {1u, 2u}) u->out.push_back(k < n.n_out ? n.out[k] : 0);
    return true;
  }
  const int64_t precision = gp::AttrInt(n, "precision");
  if (precision != 0 && precision != GE_F32) {
    return why->Say(GE_WHY_ATTRIBUTE, "precision is not float32");
  }
  if (!Grid(g, n, u, &grid, why)) return false;
  const uint32_t zero = u->in[2];
  return zero == 0 || g.dtype(zero) == g.dtype(n.out[0]) ||
         why->Say(GE_WHY_DTYPE, "the zero point has another dtype than the output");
}

bool ParseDequantize(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  // A constant of int32 is the bias of a group.
  const int32_t t = g.dtype(n.in[0]);
  const bool wide = IsInt16(t) || (t == GE_I32 && !g.constant(n.in[0]));
  auto& grid =
      wide ? u->spec.emplace<WideDequantizeSpec>().grid : u->spec.emplace<DequantizeSpec>().grid;
  if ((!wide && !IsInt8(t) && t != GE_I32) || g.dtype(n.out[0]) != GE_F32 ||
      g.dims(n.in[0]) != u->dims) {
    return why->Say(GE_WHY_DTYPE, "only integers of 8, 16 and 32 bits to float32");
  }
  if (!Grid(g, n, u, &grid, why)) return false;
  return u->in[2] == 0 || g.dtype(u->in[2]) == g.dtype(n.in[0]) ||
         why->Say(GE_WHY_DTYPE, "the zero point has another dtype than the input");
}

constexpr Operator kQuantizeLinearOperators[] = {
    {"DynamicQuantizeLinear", ParseQuantize, Types::kQuantized, 0},
    {.op = "QuantizeLinear",
     .parse = ParseQuantize,
     .types = Types::kAny,
     .data = 0,
     .group = QuantizedGroup},
};
}  // namespace

const UnitKind QuantizeSpec::kKind = {.name = "quantize_linear",
                                      .operators = kQuantizeLinearOperators};

namespace {
constexpr Operator kDequantizeLinearOperators[] = {
    {"DequantizeLinear", ParseDequantize, Types::kAny, 0},
};
}  // namespace

const UnitKind DequantizeSpec::kKind = {.name = "dequantize_linear",
                                        .operators = kDequantizeLinearOperators};

}  // namespace ge_engines
