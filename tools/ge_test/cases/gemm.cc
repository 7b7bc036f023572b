#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/layers.h"

namespace ge::test {
namespace {

void GemmCase(CaseMaker& m) {
  const ProductSize large = m.large ? LargeProduct(m) : ProductSize{};
  const int64_t rows = m.large            ? large.rows
                       : m.r.Chance(0.05) ? 0
                                          : m.r.Int(1, 7),
                k = m.large ? large.depth : m.r.Int(1, 12),
                cols = m.large ? large.columns : m.r.Int(1, 7);
  const bool ta = m.r.Chance(0.4), tb = m.r.Chance(0.4);
  m.Add(Signal(m, ta ? Dims{k, rows} : Dims{rows, k}));
  m.AddWeight(Signal(m, tb ? Dims{cols, k} : Dims{k, cols}));
  if (m.r.Chance(0.7)) m.Add(Signal(m, m.Narrowed({rows, cols})));
  if (ta) m.Set("transA", int64_t{1});
  if (tb) m.Set("transB", int64_t{1});
  const bool real = IsFloat(m.dtype());
  if (m.r.Chance(0.4)) m.Set("alpha", real ? 0.5 : 2.0);
  if (m.r.Chance(0.4)) m.Set("beta", real ? 1.5 : 3.0);
}

bool PlainGemm(const RandomCase& c, HostTensor* out) {
  const HostTensor &a = *c.inputs[0].tensor, &b = *c.inputs[1].tensor;
  const bool ta = IntOr(c, "transA", 0) != 0, tb = IntOr(c, "transB", 0) != 0;
  const int64_t rows = a.dims[ta ? 1 : 0], k = a.dims[ta ? 0 : 1], cols = b.dims[tb ? 0 : 1];
  if (out->dims != Dims{rows, cols}) return false;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < cols; ++j) {
      double sum = 0;
      for (int64_t l = 0; l < k; ++l) {
        sum += ElementAsDouble(a, ta ? l * rows + i : i * k + l) *
               ElementAsDouble(b, tb ? j * k + l : l * cols + j);
      }
      sum *= FloatOr(c, "alpha", 1);
      const HostTensor* bias = Maybe(c, 2);
      if (bias) sum += FloatOr(c, "beta", 1) * ElementAsDouble(*bias, Broadcast(*bias, {i, j}));
      SetElement(out, i * cols + j, sum);
    }
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(gemm) = {"Gemm", GemmCase, 4e-6, Error::kOfSums, PlainGemm};

}  // namespace ge::test
