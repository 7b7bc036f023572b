#include "plugins/units/quantized/integer_matmul.h"

#include "plugins/units/parser.h"

namespace ge_engines {

namespace {

// Products of two computed operands, [..., m, k] by [..., k, n] or [k, n].
bool IsComputedProduct(const Parser& g, Unit* u, Why* why) {
  const Dims a = g.dims(u->in[0]), b = g.dims(u->in[1]);
  const bool rows = a.size() >= 2 && b.size() >= 2 && a.back() == b[b.size() - 2];
  const Dims batch_a(a.begin(), a.end() - (rows ? 2 : 0)),
      batch_b(b.begin(), b.end() - (rows ? 2 : 0));
  if (!rows || (!batch_b.empty() && batch_a != batch_b)) {
    return why->Say(GE_WHY_SHAPE, "only products of matrices, of batches that agree");
  }
  for (size_t k : {QuantIn::kWZero, QuantIn::kWScale}) {
    if (u->in[k] == 0 || Product(g.dims(u->in[k])) == 1) continue;
    return why->Say(GE_WHY_DYNAMIC,
                    "weights are not constant and have a scale or zero point a column");
  }
  if (a.back() > kMaxInt8Depth) return why->Say(GE_WHY_SHAPE, "sums may overflow");
  return true;
}

bool ParseMatMulInteger(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  IntegerProductSpec spec;
  if (!QuantInputs(g, n, u, why, &spec.computed)) return false;
  u->spec = spec;
  if (spec.computed) return IsComputedProduct(g, u, why);
  const Dims a = g.dims(u->in[0]), b = g.dims(u->in[1]);
  if (a.size() < 2 || b.size() != 2 || a.back() != b[0]) {
    return why->Say(GE_WHY_SHAPE, "only products of rows with one matrix");
  }
  for (size_t k : {QuantIn::kWZero, QuantIn::kWScale}) {
    if (u->in[k] == 0) continue;
    const Dims d = g.dims(u->in[k]);
    if (Product(d) != 1 && (d.size() != 1 || d[0] != b[1])) {
      return why->Say(GE_WHY_SHAPE, "a scale or zero point is not one a column");
    }
  }
  if (a.back() > kMaxInt8Depth) return why->Say(GE_WHY_SHAPE, "sums may overflow");
  return true;
}

constexpr Operator kIntegerMatmulOperators[] = {
    {"MatMulInteger", ParseMatMulInteger, Types::kQuantized, 0},
    {"QLinearMatMul", ParseMatMulInteger, Types::kQuantized, 0},
};
}  // namespace

const UnitKind IntegerProductSpec::kKind = {.name = "integer_matmul",
                                            .operators = kIntegerMatmulOperators};

}  // namespace ge_engines
