#include "tools/ge_test/random/optimizers.h"

namespace ge::test {
namespace {

void MomentumCase(CaseMaker& m) {
  OptimizerCase(m, 1);
  std::erase_if(m.c.attrs, [](const Attr& a) { return a.name == "norm_coefficient"; });
  m.Set("norm_coefficient", m.r.Int(0, 4) / 8.0);
  m.Set("alpha", m.r.Int(0, 8) / 8.0);
  m.Set("beta", m.r.Int(0, 8) / 8.0);
  m.Set("mode", std::string(m.r.Chance(0.5) ? "nesterov" : "standard"));
}

bool PlainMomentum(const RandomCase& c, HostTensor* out) {
  const double alpha = FloatOr(c, "alpha", 0), beta = StepsOf(c) > 0 ? FloatOr(c, "beta", 0) : 1;
  const bool nesterov = std::get<std::string>(FindAttr(c, "mode")->value) == "nesterov";
  return StepOfFirst(c, 1, out, [&](double x, double g, double v, double) {
    const double next = alpha * v + beta * g;
    return x - RateOf(c) * (nesterov ? g + alpha * next : next);
  });
}

}  // namespace

GE_RANDOM_OP(onnx_training_momentum) = {"ai.onnx.preview.training.Momentum", MomentumCase, 4e-6,
                                        Error::kOfInputs, PlainMomentum};

}  // namespace ge::test
