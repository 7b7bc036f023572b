// Rows of recurrent cells: their gates in one pass.
#include "plugins/cpu/kit/simd/vector.h"

HWY_BEFORE_NAMESPACE();
namespace ge_engines::cpu {
namespace GE_SIMD_ISA {
namespace {

// Element i of a gate of both rows, added up.
template <class D>
GE_INLINE hn::Vec<D> Sum(D d, const float* x, const float* z, int64_t i) {
  return hn::Add(hn::LoadU(d, x + i), hn::LoadU(d, z + i));
}

}  // namespace

void LstmCell(const float* x, const float* z, float* c, float* h, int64_t n) {
  ForEach(n, [&](auto d, int64_t i) GE_LAMBDA {
    const auto in = Sigmoid(d, Sum(d, x, z, i)), out = Sigmoid(d, Sum(d, x + n, z + n, i));
    const auto keep = Sigmoid(d, Sum(d, x + 2 * n, z + 2 * n, i));
    const auto fresh = Tanh(d, Sum(d, x + 3 * n, z + 3 * n, i));
    const auto cell = hn::MulAdd(keep, hn::LoadU(d, c + i), hn::Mul(in, fresh));
    hn::StoreU(cell, d, c + i);
    hn::StoreU(hn::Mul(out, Tanh(d, cell)), d, h + i);
  });
}

void GruCell(const float* x, const float* z, float* h, int64_t n) {
  ForEach(n, [&](auto d, int64_t i) GE_LAMBDA {
    const auto keep = Sigmoid(d, Sum(d, x, z, i)), reset = Sigmoid(d, Sum(d, x + n, z + n, i));
    const auto fresh =
        Tanh(d, hn::MulAdd(reset, hn::LoadU(d, z + 2 * n + i), hn::LoadU(d, x + 2 * n + i)));
    const auto old = hn::LoadU(d, h + i);
    hn::StoreU(hn::MulAdd(keep, hn::Sub(old, fresh), fresh), d, h + i);
  });
}

}  // namespace GE_SIMD_ISA
}  // namespace ge_engines::cpu
HWY_AFTER_NAMESPACE();
