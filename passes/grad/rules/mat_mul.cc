#include "passes/grad/rule.h"

namespace ge::grad {
namespace {

// Y = A B over leading axes that broadcast; a vector has its axis put in and taken away again.
void MatMulBack(Back& b) {
  Val x = b.x(0), w = b.x(1), ct = b.ct();
  const int32_t rx = b.rank(x), rw = b.rank(w);
  if (rx < 1 || rw < 1) return b.Fail("an input's rank is not known");
  if (rx == 1) {
    x = Unsqueeze(x, {0});
    ct = Unsqueeze(ct, {rw == 1 ? 0 : rw - 2});
  }
  if (rw == 1) {
    w = Unsqueeze(w, {1});
    ct = Unsqueeze(ct, {-1});
  }
  if (b.wants(0)) {
    const Val back = MatMul(ct, rw == 1 ? SwapLast(w) : b.Turned(1));
    b.Give(0, rx == 1 ? ReshapeLike(b.fn().SumTo(back, x), b.x(0)) : back);
  }
  if (!b.wants(1)) return;
  // Of a matrix that all leading axes share, the sum over them is part of one product.
  if (rw <= 2 && rx > 2) {
    const Type tx = b.type(x), tc = b.type(ct);
    const ge_dim &k = tx.dims.back(), &n = tc.dims.back();
    if (k.value > 0 && n.value > 0) {
      const Val rows = Reshape(x, {-1, k.value}), cts = Reshape(ct, {-1, n.value});
      return b.Give(1, ReshapeLike(MatMul(SwapLast(rows), cts), b.x(1)));
    }
  }
  const Val back = MatMul(rx == 1 ? SwapLast(x) : b.Turned(0), ct);
  b.Give(1, rw == 1 ? ReshapeLike(b.fn().SumTo(back, w), b.x(1)) : back);
}

// Y = alpha op(A) op(B) + beta C
void GemmBack(Back& b) {
  const bool ta = b.Int("transA") != 0, tb = b.Int("transB") != 0;
  const double alpha = b.Float("alpha", 1), beta = b.Float("beta", 1);
  const auto product = [&](Val p, Val q, bool tp, bool tq) {
    return b.fn().Op("Gemm", {p, q},
                     Attrs().Float("alpha", alpha).Int("transA", tp).Int("transB", tq));
  };
  const Val ct = b.ct();
  if (b.wants(0)) b.Give(0, ta ? product(b.x(1), ct, tb, true) : product(ct, b.x(1), false, !tb));
  if (b.wants(1)) b.Give(1, tb ? product(ct, b.x(0), true, ta) : product(b.x(0), ct, !ta, false));
  if (b.wants(2)) b.Give(2, beta == 1 ? ct : ct * beta);
}

}  // namespace

GE_GRAD(mat_mul) { return {{"", "MatMul", MatMulBack}, {"", "Gemm", GemmBack}}; }

}  // namespace ge::grad
