#include "tools/ge_test/random/microsoft.h"

namespace ge::test {
namespace {

void FusedGemmCase(CaseMaker& m) {
  const ProductSize large = m.large ? LargeProduct(m) : ProductSize{};
  const int64_t rows = m.large ? large.rows : m.r.Int(1, 5),
                inner = m.large ? large.depth : m.r.Int(1, 8),
                columns = m.large ? large.columns : m.r.Int(1, 5);
  const bool left = m.r.Chance(0.4), right = m.r.Chance(0.4);
  m.Add(Signal(m, left ? Dims{inner, rows} : Dims{rows, inner}));
  m.Add(Signal(m, right ? Dims{columns, inner} : Dims{inner, columns}));
  if (m.r.Chance(0.6)) m.Add(Signal(m, m.r.Chance(0.5) ? Dims{columns} : Dims{rows, 1}));
  if (left) m.Set("transA", int64_t{1});
  if (right) m.Set("transB", int64_t{1});
  if (m.r.Chance(0.5)) m.Set("alpha", m.r.Between(-2, 2));
  if (m.r.Chance(0.5)) m.Set("beta", m.r.Between(-2, 2));
  if (m.r.Chance(0.2)) return;
  const std::string activation = m.r.Pick(
      std::vector<std::string>{"Relu", "Tanh", "Softplus", "LeakyRelu", "HardSigmoid", "Softsign"});
  m.Set("activation", activation);
  const bool soft = activation == "HardSigmoid";
  if ((!soft && activation != "LeakyRelu") || m.r.Chance(0.4)) return;
  m.Set("activation_alpha", 0.375);
  if (soft && m.r.Chance(0.6)) m.Set("activation_beta", 0.25);
}

double FusedGemmActivated(const RandomCase& c, std::string_view name, double v) {
  const bool soft = name == "HardSigmoid";
  const double alpha = FloatOr(c, "activation_alpha", soft ? 0.2f : 0.01f),
               beta = FloatOr(c, "activation_beta", 0.5);
  if (name == "Relu") return std::max(v, 0.0);
  if (name == "Tanh") return std::tanh(v);
  if (name == "Softplus") return std::log1p(std::exp(v));
  if (name == "LeakyRelu") return v < 0 ? v * alpha : v;
  if (name == "HardSigmoid") return std::clamp(alpha * v + beta, 0.0, 1.0);
  if (name == "Softsign") return v / (1 + std::fabs(v));
  return v;
}

bool PlainFusedGemm(const RandomCase& c, HostTensor* out) {
  const HostTensor &a = *Maybe(c, 0), &b = *Maybe(c, 1);
  const bool left = IntOr(c, "transA", 0) != 0, right = IntOr(c, "transB", 0) != 0;
  const int64_t rows = a.dims[left ? 1 : 0], inner = a.dims[left ? 0 : 1],
                columns = b.dims[right ? 0 : 1];
  if (out->dims != Dims{rows, columns}) return false;
  const Attr* name = FindAttr(c, "activation");
  Index at(out->dims);
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    const int64_t row = at.at[0], col = at.at[1];
    double sum = 0;
    for (int64_t k = 0; k < inner; ++k) {
      sum += ElementAsDouble(a, left ? k * rows + row : row * inner + k) *
             ElementAsDouble(b, right ? col * inner + k : k * columns + col);
    }
    sum *= FloatOr(c, "alpha", 1);
    if (Maybe(c, 2) != nullptr) {
      sum += FloatOr(c, "beta", 1) * ElementAsDouble(*Maybe(c, 2), Broadcast(*Maybe(c, 2), at.at));
    }
    SetElement(out, i, FusedGemmActivated(c, name ? std::get<std::string>(name->value) : "", sum));
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(microsoft_fused_gemm) = {"com.microsoft.FusedGemm", FusedGemmCase, 8e-6,
                                      Error::kOfInputs, PlainFusedGemm};

}  // namespace ge::test
