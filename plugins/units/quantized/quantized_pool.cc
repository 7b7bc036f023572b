#include "plugins/units/quantized/quantized_pool.h"

#include "plugins/units/parser.h"

namespace ge_engines {

namespace {

bool ParseMaxPool(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  const int32_t t = g.dtype(n.in[0]);
  if (!ParsePool(g, i, u, why)) return false;
  if (t == GE_F32) return true;
  if ((t != GE_I8 && t != GE_U8) || g.dtype(n.out[0]) != t) {
    return why->Say(GE_WHY_DTYPE,
                    std::string("pools ") + gp::DTypeName(t) + ", only float32, int8 and uint8");
  }
  constexpr int64_t kWidest = 1024;
  PoolSpec pool = u->spec.get<PoolSpec>();
  if (pool.kernel.size() > 2 || pool.kernel.back() > kWidest || pool.stride.back() > kWidest) {
    return why->Say(GE_WHY_SHAPE, "8-bit integers in 3-D, or a window wider than 1024");
  }
  u->spec = QuantizedPoolSpec{std::move(pool)};
  return true;
}

constexpr Operator kQuantizedPoolOperators[] = {
    {.op = "MaxPool", .parse = ParseMaxPool, .types = Types::kAny, .first = true},
};
}  // namespace

const UnitKind QuantizedPoolSpec::kKind = {.name = "quantized_pool",
                                           .operators = kQuantizedPoolOperators};

}  // namespace ge_engines
