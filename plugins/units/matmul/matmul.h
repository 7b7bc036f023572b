// MatMul and Gemm of float32. Pure; any thread.
#pragma once

#include <cstdint>

#include "plugins/units/parser.h"

namespace ge_engines {

// MatMul and Gemm; in: a, b.
struct ProductSpec {
  bool trans_a = false, trans_b = false;
  float alpha = 1;  // factor of the product
  static const UnitKind kKind;
};
bool ParseMatMul(const Parser& parser, uint32_t node, Unit* unit, Why* why);

}  // namespace ge_engines
