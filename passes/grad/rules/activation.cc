// Activations, element by element: dx = ct * slope. At a kink each line says what it takes.
#include <cmath>
#include <numbers>

#include "passes/grad/shape_values.h"

namespace ge::grad {
namespace {

Val Above(Val x, double bound) { return Compare("Greater", x, bound); }
Val One(Val like) { return like.fn->Scalar(like.fn->TypeOf(like).dtype, 1); }

// x > 0 ? x : alpha (e^x - 1), which is y. At 0: alpha.
void EluBack(Back& b) {
  b.Give(0, b.ct() * Where(Above(b.x(), 0), One(b.x()), b.y() + b.Float("alpha", 1)));
}

void SeluBack(Back& b) {
  const double gamma = b.Float("gamma", 1.05070102214813232421875);
  const double alpha = b.Float("alpha", 1.67326319217681884765625);
  const Val above = b.fn().Scalar(b.type(b.x()).dtype, gamma);
  b.Give(0, b.ct() * Where(Above(b.x(), 0), above, b.y() + gamma * alpha));
}

// alpha (e^(x/alpha) - 1) below 0.
void CeluBack(Back& b) {
  b.Give(0, b.ct() * Where(Above(b.x(), 0), One(b.x()), b.y() / b.Float("alpha", 1) + 1));
}

// At 0 as below it.
void LeakyReluBack(Back& b) {
  b.Give(0, Where(Above(b.x(), 0), b.ct(), b.ct() * b.Float("alpha", 0.01)));
}

void PReluBack(Back& b) {
  const Val up = Above(b.x(0), 0), ct = b.ct();
  if (b.wants(0)) b.Give(0, Where(up, ct, ct * b.x(1)));
  if (b.wants(1)) b.Give(1, ct * Where(up, b.fn().Scalar(b.type(b.x()).dtype, 0), b.x(0)));
}

// At alpha: 0.
void ThresholdedReluBack(Back& b) {
  b.Give(0, Where(Above(b.x(), b.Float("alpha", 1)), b.ct(), 0.0));
}

// At both ends: 0.
Val Inside(Val x, double low, double high) {
  return x.fn->Op("And", {Above(x, low), Compare("Less", x, high)});
}

void HardSigmoidBack(Back& b) {
  const double alpha = b.Float("alpha", 0.2);
  const Val u = b.x() * alpha + b.Float("beta", 0.5);
  b.Give(0, Where(Inside(u, 0, 1), b.ct() * alpha, 0.0));
}

// x times a line from 0 at -3 to 1 at 3.
void HardSwishBack(Back& b) {
  const Val x = b.x(), bent = b.ct() * (x / 3 + 0.5);
  b.Give(0, Where(Inside(x, -3, 3), bent, Where(Above(x, 0), b.ct(), 0.0)));
}

void SoftsignBack(Back& b) {
  const Val d = Unary("Abs", b.x()) + 1;
  b.Give(0, b.ct() / (d * d));
}

void ShrinkBack(Back& b) {
  b.Give(0, Where(Above(Unary("Abs", b.x()), b.Float("lambd", 0.5)), b.ct(), 0.0));
}

// x times the normal distribution's share below x: that share, and x times its density.
Val NormalSlope(Val x) {
  const double root = std::sqrt(0.5), density = 0.5 * std::numbers::inv_sqrtpi * std::sqrt(2.0);
  return (Unary("Erf", x * root) + 1) * 0.5 + x * Exp(x * x * -0.5) * density;
}

Val TanhSlope(Val x) {
  const double c = std::sqrt(2 * std::numbers::inv_pi);
  const Val t = Tanh((x + x * x * x * 0.044715) * c);
  return (t + 1) * 0.5 + x * (1 - t * t) * (x * x * (3 * 0.044715) + 1) * (0.5 * c);
}

void GeluBack(Back& b) {
  const bool bent = b.Text("approximate", "none") == "tanh";
  b.Give(0, b.ct() * (bent ? TanhSlope(b.x()) : NormalSlope(b.x())));
}

// x s(alpha x), s the sigmoid: s + alpha x s (1 - s).
void SwishBack(Back& b) {
  const double alpha = b.Float("alpha", 1);
  const Val s = Sigmoid(b.x() * alpha);
  b.Give(0, b.ct() * (s + b.x() * s * (1 - s) * alpha));
}

// s(alpha a) a b.
void SwiGluBack(Back& b) {
  const double alpha = b.Float("alpha", 1);
  const Val a = b.x(0), s = Sigmoid(a * alpha);
  if (b.wants(0)) b.Give(0, b.ct() * b.x(1) * (s + a * s * (1 - s) * alpha));
  if (b.wants(1)) b.Give(1, b.ct() * (a * s));
}

void MishBack(Back& b) {
  const Val x = b.x(), t = Tanh(Unary("Softplus", x));
  b.Give(0, b.ct() * (t + x * (1 - t * t) * Sigmoid(x)));
}

}  // namespace

GE_GRAD(activation) {
  return {{"", "Elu", EluBack},
          {"", "Selu", SeluBack},
          {"", "Celu", CeluBack},
          {"", "LeakyRelu", LeakyReluBack},
          {"", "PRelu", PReluBack},
          {"", "ThresholdedRelu", ThresholdedReluBack},
          {"", "HardSigmoid", HardSigmoidBack},
          {"", "HardSwish", HardSwishBack},
          {"", "Softsign", SoftsignBack},
          {"", "Shrink", ShrinkBack},
          {"", "Gelu", GeluBack},
          {"com.microsoft", "Gelu", GeluBack},
          {"", "Swish", SwishBack},
          {"", "SwiGLU", SwiGluBack},
          {"", "Mish", MishBack}};
}

}  // namespace ge::grad
