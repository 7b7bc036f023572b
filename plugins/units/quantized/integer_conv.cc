#include "plugins/units/quantized/integer_conv.h"

#include "plugins/units/parser.h"

namespace ge_engines {

namespace {

bool ParseConvInteger(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  auto& c = u->spec.emplace<IntegerConvSpec>().conv;
  if (!QuantInputs(g, n, u, why)) return false;
  if (!ParseConvShape(g, i, 0, gp::View(n.op) == "QLinearConv" ? 3 : 1, &c, why)) return false;
  if (c.src.size() > 4) return why->Say(GE_WHY_SHAPE, "rank 5, only 3 and 4");
  const int64_t out = c.dst[1];
  for (size_t k : {QuantIn::kWZero, QuantIn::kWScale, QuantIn::kBias}) {
    const int64_t count = u->in[k] == 0 ? 1 : Product(g.dims(u->in[k]));
    if (count != out && (count != 1 || k == QuantIn::kBias) && u->in[k] != 0) {
      return why->Say(GE_WHY_SHAPE, "a scale, zero point or bias is not one a filter");
    }
  }
  if (Product(c.weights) / out > kMaxInt8Depth) return why->Say(GE_WHY_SHAPE, "sums may overflow");
  return true;
}

constexpr Operator kIntegerConvOperators[] = {
    {"ConvInteger", ParseConvInteger, Types::kQuantized, 0},
    {"QLinearConv", ParseConvInteger, Types::kQuantized, 0},
};
}  // namespace

const UnitKind IntegerConvSpec::kKind = {.name = "integer_conv",
                                         .operators = kIntegerConvOperators};

}  // namespace ge_engines
