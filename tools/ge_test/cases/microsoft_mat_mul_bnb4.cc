#include "tools/ge_test/random/microsoft.h"

namespace ge::test {
namespace {

void Bnb4Case(CaseMaker& m) {
  const int64_t block = int64_t{16} << m.r.Int(0, m.large ? 4 : 1);
  const int64_t k = m.Size(30, 500), n = m.Size(6, 200), blocks = (n * k + block - 1) / block;
  const bool transposed = m.r.Chance(0.7), constant = m.r.Chance(0.7);
  const auto add = [&](std::shared_ptr<const HostTensor> t) {
    constant ? m.AddConstant(t) : m.Add(t);
  };
  const Dims rows = m.large ? Dims{m.r.Int(1, 40)} : m.Shape(0, 2, false);
  m.Add(Signal(m, Cat(rows, {transposed ? k : n})));
  add(Codes(m, DType::kUint8, {(n * k + 1) / 2}));
  add(m.Numbers(m.dtype(), {blocks}, 0.1, 2));
  m.Set("K", k);
  m.Set("N", n);
  m.Set("block_size", block);
  m.Set("quant_type", m.r.Int(0, 1));
  if (!transposed) {
    m.Set("transB", int64_t{0});
  } else if (m.r.Chance(0.5)) {
    m.Set("transB", int64_t{1});
  }
  if (m.r.Chance(0.2)) m.Set("training_mode", m.r.Int(0, 1));
  m.c.terms = transposed ? k : n;
}

// FP4: sign, exponent and mantissa; of exponent 0 the mantissa stands for a sixteenth. NF4: a code
// book whose lower half has one step more than its upper.
double Bnb4Value(bool normal, int64_t code) {
  static constexpr double kBook[] = {
      -1.0,
      -0.6961928009986877,
      -0.5250730514526367,
      -0.39491748809814453,
      -0.28444138169288635,
      -0.18477343022823334,
      -0.09105003625154495,
      0.0,
      0.07958029955625534,
      0.16093020141124725,
      0.24611230194568634,
      0.33791524171829224,
      0.44070982933044434,
      0.5626170039176941,
      0.7229568362236023,
      1.0,
  };
  if (normal) return kBook[code];
  const int64_t exponent = code >> 1 & 3;  // 0, 1, 2, 3: 0.0625, 8, 4 and 2 of 12
  const double half = code & 1 ? 1.5 : 1;
  const double value =
      exponent == 0 ? (code & 1 ? 0.0625 : 0) : half * std::ldexp(16, -static_cast<int>(exponent));
  return (code & 8 ? -value : value) / 12;
}

bool PlainBnb4(const RandomCase& c, HostTensor* out) {
  const HostTensor &a = *c.inputs[0].tensor, &b = *c.inputs[1].tensor, &most = *c.inputs[2].tensor;
  const int64_t k = IntOr(c, "K", 0), n = IntOr(c, "N", 0), block = IntOr(c, "block_size", 0);
  const bool transposed = IntOr(c, "transB", 1) != 0, normal = IntOr(c, "quant_type", 0) == 1;
  Dims wanted = a.dims;
  wanted.back() = transposed ? n : k;
  if (out->dims != wanted) return false;
  const int64_t inner = transposed ? k : n, columns = wanted.back();
  for (int64_t i = 0, all = out->count(); i < all; ++i) {
    double sum = 0;
    for (int64_t j = 0; j < inner; ++j) {
      const int64_t column = i % columns, at = transposed ? column * k + j : j * k + column;
      const int64_t byte = ElementAsInt(b, at / 2), code = at % 2 == 0 ? byte >> 4 : byte & 15;
      sum += ElementAsDouble(a, i / columns * inner + j) * Bnb4Value(normal, code) *
             ElementAsDouble(most, at / block);
    }
    SetElement(out, i, sum);
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(microsoft_mat_mul_bnb4) = {"com.microsoft.MatMulBnb4", Bnb4Case, 4e-6, Error::kOfTerms,
                                        PlainBnb4};

}  // namespace ge::test
