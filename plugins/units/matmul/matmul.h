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
bool ParseMatMul(const Parser& g, uint32_t node, Unit* u, Why* why);

}  // namespace ge_engines
