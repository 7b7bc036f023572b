#include "plugins/units/quantized/inputs.h"

namespace ge_engines {

bool QuantInputs(const Parser& parser, const ge_node& n, Unit* unit, Why* why, bool* computed) {
  const bool scaled = gp::View(n.op).substr(0, 2) == "QL";
  // Positions in the node of what QuantIn lists; 99: none.
  static constexpr uint32_t kPlain[] = {0, 1, 2, 3, 99, 99, 99, 99, 99};
  static constexpr uint32_t kScaled[] = {0, 3, 2, 5, 1, 4, 6, 7, 8};
  unit->in.clear();
  for (size_t k = 0; k < QuantIn::kCount; ++k) {
    const uint32_t at = scaled ? kScaled[k] : kPlain[k];
    unit->in.push_back(at < n.n_in ? n.in[at] : 0);
  }
  const auto has = [&](size_t k) { return unit->in[k] != 0; };
  const auto one = [&](size_t k) { return !has(k) || Product(parser.dims(unit->in[k])) == 1; };
  const auto is = [&](size_t k, int32_t dtype) {
    return !has(k) || parser.dtype(unit->in[k]) == dtype;
  };
  for (size_t k = 0; scaled && k < QuantIn::kBias; ++k) {
    if (!has(k)) return why->Say(GE_WHY_SHAPE, "a scale or zero point is missing");
  }
  if (!has(QuantIn::kW)) return why->Say(GE_WHY_SHAPE, "no weights");
  const int32_t x = parser.dtype(unit->in[0]), w = parser.dtype(unit->in[1]),
                y = parser.dtype(n.out[0]);
  if (!IsInt8(x) || !IsInt8(w) || (scaled ? !IsInt8(y) : y != GE_I32) || !is(QuantIn::kXZero, x) ||
      !is(QuantIn::kWZero, w) || !is(QuantIn::kYZero, y) || !is(QuantIn::kXScale, GE_F32) ||
      !is(QuantIn::kWScale, GE_F32) || !is(QuantIn::kYScale, GE_F32) ||
      !is(QuantIn::kBias, GE_I32)) {
    return why->Say(GE_WHY_DTYPE, "only 8-bit integers with scales of float32");
  }
  const bool varies = !parser.constant(unit->in[1]) ||
                      (has(QuantIn::kWZero) && !parser.constant(unit->in[QuantIn::kWZero]));
  if (computed != nullptr) *computed = varies;
  if (computed == nullptr && varies) {
    return why->Say(GE_WHY_DYNAMIC, "weights or their zero point are not constant");
  }
  if (!one(QuantIn::kXZero) || !one(QuantIn::kXScale) || !one(QuantIn::kYScale) ||
      !one(QuantIn::kYZero)) {
    return why->Say(GE_WHY_SHAPE, "a scale or zero point of the input or output is not one");
  }
  return true;
}

}  // namespace ge_engines
