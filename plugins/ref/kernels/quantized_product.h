// Product of quantized matrices less their zero points, in double: exact for 8-bit integers as long
// as a sum stays below 2^53. Shared by MatMulInteger and QLinearMatMul. Pure.
#pragma once

#include "plugins/ref/kernels/mat_mul.h"
#include "plugins/ref/kernels/quantize.h"

namespace ref {

// A scale or zero point of one side: one element (steps 0), or one a row or column.
struct LineParam {
  CastCodec codec;
  int64_t matrix_step = 0, line_step = 0;
  double At(const Tensor& tensor, int64_t matrix, int64_t line) const {
    return RealAt(codec, tensor.data, matrix * matrix_step + line * line_step);
  }
};

// Input i is a parameter of the rows (else columns) of `side`: one element, a vector, or of the
// side's rank with 1 where the products are added.
inline bool PlanLineParam(const NodeView& n, uint32_t i, const TensorType& side, bool rows,
                          LineParam* param, Why* why) {
  const TensorType t = n.in(i);
  param->codec = FindCastCodec(t.dtype);
  if (param->codec.decode == nullptr) return NoDType(t, why);
  if (t.count == 1) return true;
  const int inner = side.rank - (rows ? 1 : 2);
  const int64_t lines = side.rank < 2 ? 1 : side.dims[side.rank - (rows ? 2 : 1)];
  param->line_step = 1;
  if (side.rank >= 2 && t.rank == 1 && t.count == lines) return true;
  param->matrix_step = lines;
  bool same = side.rank >= 2 && t.rank == side.rank;
  for (int d = 0; same && d < t.rank; ++d) same = t.dims[d] == (d == inner ? 1 : side.dims[d]);
  return same || why->Say(GE_WHY_SHAPE, "input %u is not one element or one a %s", i,
                          rows ? "row" : "column");
}

struct QuantizedProduct {
  MatMulPlan plan;
  uint32_t ib = 1;  // the right side's input
  CastCodec a, b;
  LineParam a_zero, b_zero;
  uint32_t ia_zero = 0, ib_zero = 0;  // inputs; 0 = none

  // Doubles: the right matrix, a row of the left one, and a row of sums. 0 for an empty result: its
  // operands' dims may have no product.
  uint64_t workspace = 0;
};

// Plan, sides and zero points; the inputs of the zero points are stated already.
inline bool PlanQuantizedProduct(const NodeView& n, QuantizedProduct* product, Why* why) {
  if (!PlanMatMul(n, product->ib, &product->plan, why)) return false;
  const MatMulPlan& m = product->plan;
  if (n.out(0).count != 0) {
    product->workspace =
        static_cast<uint64_t>(m.depth * m.cols + m.depth + m.cols) * sizeof(double);
  }
  const TensorType a = n.in(0), b = n.in(product->ib);
  product->a = FindCastCodec(a.dtype);
  product->b = FindCastCodec(b.dtype);
  if (product->a.decode == nullptr) return NoDType(a, why);
  if (product->b.decode == nullptr) return NoDType(b, why);
  if (product->ia_zero != 0 &&
      (!NeedSameDType(n.in(product->ia_zero), a, why) ||
       !PlanLineParam(n, product->ia_zero, a, true, &product->a_zero, why))) {
    return false;
  }
  return product->ib_zero == 0 ||
         (NeedSameDType(n.in(product->ib_zero), b, why) &&
          PlanLineParam(n, product->ib_zero, b, false, &product->b_zero, why));
}

inline void DecodeReals(const CastCodec& codec, const void* from, int64_t first, int64_t n,
                        double* out) {
  CastBlock block;
  for (int64_t at = 0; at < n; at += kCastBlock) {
    const int64_t m = std::min(n - at, kCastBlock);
    codec.decode(from, first + at, m, &block);
    for (int64_t i = 0; i < m; ++i) out[at + i] = MidReal(block, codec.mid, i);
  }
}

// sink(first element of the output, matrix of a, row, matrix of b, sums of the row).
template <class Sink>
void RunQuantizedProduct(const QuantizedProduct& product, const Call& call, Sink&& sink) {
  if (call.out(0).count == 0) return;
  const int64_t rows = product.plan.rows, depth = product.plan.depth, cols = product.plan.cols;
  const Tensor ta = call.in(0), tb = call.in(product.ib);
  double* b = static_cast<double*>(call.workspace());
  double *a = b + depth * cols, *sums = a + depth;
  const auto one = [&](int64_t iy, int64_t ia, int64_t ib) {
    DecodeReals(product.b, tb.data, ib * depth * cols, depth * cols, b);
    for (int64_t j = 0; product.ib_zero != 0 && j < cols; ++j) {
      const double zero = product.b_zero.At(call.in(product.ib_zero), ib, j);
      for (int64_t k = 0; k < depth; ++k) b[k * cols + j] -= zero;
    }
    for (int64_t r = 0; r < rows; ++r) {
      DecodeReals(product.a, ta.data, (ia * rows + r) * depth, depth, a);
      const double zero =
          product.ia_zero != 0 ? product.a_zero.At(call.in(product.ia_zero), ia, r) : 0;
      for (int64_t j = 0; j < cols; ++j) sums[j] = 0;
      for (int64_t k = 0; k < depth; ++k) {
        const double v = a[k] - zero;
        for (int64_t j = 0; j < cols; ++j) sums[j] += v * b[k * cols + j];
        Spend(cols);
      }
      sink((iy * rows + r) * cols, ia, r, ib, static_cast<const double*>(sums));
    }
  };
  product.plan.batch.Run([&](const int64_t* o, int64_t n, const int64_t* s) {
    for (int64_t i = 0; i < n; ++i) one(o[0] + i * s[0], o[1] + i * s[1], o[2] + i * s[2]);
    return true;
  });
}

}  // namespace ref
