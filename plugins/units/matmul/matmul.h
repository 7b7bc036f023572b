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
// What one call of alpha * a * b + beta * c does of a product of two matrices.
struct GemmTerms {
  float alpha = 1, beta = 1;
  uint32_t c = 0;                   // 0: none, and then the rest is not of the call either
  size_t biases = 0, post_ops = 0;  // of the unit's, from the front, that are in it
};
GemmTerms TermsOf(const Unit& unit, const Parser& parser);
bool ParseMatMul(const Parser& parser, uint32_t node, Unit* unit, Why* why);

}  // namespace ge_engines
