#include "tools/ge_test/random/microsoft.h"

namespace ge::test {
namespace {

void GatedRmsCase(CaseMaker& m) {
  Dims dims = m.Shape(0, 2);
  const int64_t group = m.r.Int(1, 6);
  dims.push_back(m.r.Int(1, 3) * group);
  m.Add(Signal(m, dims));
  m.AddWeight(Signal(m, {group}));
  m.Add(m.Numbers(m.dtype(), dims, -4, 4));
  if (m.r.Chance(0.6)) {
    m.Set("activation", m.r.Pick(std::vector<std::string>{"silu", "swish", "sigmoid"}));
  }
  if (m.r.Chance(0.5)) m.Set("epsilon", 0.25);
}

bool PlainGatedRms(const RandomCase& c, HostTensor* out) {
  const HostTensor &x = *c.inputs[0].tensor, &scale = *c.inputs[1].tensor,
                   &gate = *c.inputs[2].tensor;
  if (x.dims != out->dims) return false;
  const int64_t group = scale.count();
  const Attr* activation = FindAttr(c, "activation");
  const bool plain = activation != nullptr && std::get<std::string>(activation->value) == "sigmoid";
  for (int64_t i = 0, n = out->count(); i < n; ++i) {
    double squares = 0;
    for (int64_t k = 0; k < group; ++k) {
      const double v = ElementAsDouble(x, i / group * group + k);
      squares += v * v;
    }
    const double z = ElementAsDouble(gate, i), share = 1 / (1 + std::exp(-z));
    const double root =
        std::sqrt(squares / static_cast<double>(group) + FloatOr(c, "epsilon", 1e-5F));
    SetElement(
        out, i,
        ElementAsDouble(x, i) / root * ElementAsDouble(scale, i % group) * share * (plain ? 1 : z));
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(microsoft_gated_rms_norm) = {"com.microsoft.GatedRMSNorm", GatedRmsCase, 4e-6,
                                          Error::kOfInputs, PlainGatedRms};

}  // namespace ge::test
