// MatMul and Gemm of float64. Pure; any thread.
#pragma once

#include "plugins/units/unit.h"

namespace ge_engines {

// in: a, b and maybe c; alpha a b + beta c. Of MatMul a or b may be a vector, and batches
// broadcast.
struct DoubleProductSpec {
  bool trans_a = false, trans_b = false;
  double alpha = 1, beta = 1;
  static const UnitKind kKind;
};

// A product's matrices: of m x k and k x n, with what lies before them.
struct ProductShape {
  int64_t m = 1, n = 1, k = 1;
  Dims batch;       // of the result
  Dims of_a, of_b;  // of the operands, 1s in front: as long as `batch`
};
ProductShape ShapeOfProduct(Dims a, Dims b, const DoubleProductSpec& spec);

}  // namespace ge_engines
