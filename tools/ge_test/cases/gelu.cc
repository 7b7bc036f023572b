#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/elementwise.h"

namespace ge::test {
namespace {

void GeluCase(CaseMaker& m) {
  UnaryCase(m);
  if (m.r.Chance(0.6)) m.Set("approximate", std::string(m.r.Chance(0.7) ? "tanh" : "none"));
}

bool PlainGelu(const RandomCase& c, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  if (x.dims != out->dims) return false;
  const Attr* how = FindAttr(c, "approximate");
  const bool tanh = how != nullptr && std::get<std::string>(how->value) == "tanh";
  for (int64_t i = 0, n = out->count(); i < n; ++i) {
    const double v = ElementAsDouble(x, i);
    const double share = tanh ? 1 - 1 / (std::exp(2 * std::sqrt(2 / std::acos(-1.0)) *
                                                  (v + 0.044715 * std::pow(v, 3))) +
                                         1)
                              : std::erfc(-v / std::sqrt(2.0)) / 2;
    SetElement(out, i, v * share);
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(gelu) = {"Gelu", GeluCase, 2e-6, Error::kOfTerms, PlainGelu};

}  // namespace ge::test
