// Operators of one input, element by element: dx = ct * slope(x, y). Each line says its kink.
#include <cmath>
#include <numbers>

#include "passes/grad/rule.h"

namespace ge::grad {
namespace {

#define GE_UNARY(Name, slope)                   \
  void Name##Back(Back& b) {                    \
    const Val x = b.x(), y = b.y();             \
    static_cast<void>(x), static_cast<void>(y); \
    b.Give(0, b.ct() * (slope));                \
  }
GE_UNARY(Exp, y)
GE_UNARY(Tanh, 1 - y * y)
GE_UNARY(Sigmoid, y*(1 - y))
GE_UNARY(Sin, Cos(x))
GE_UNARY(Cos, -Sin(x))
GE_UNARY(Tan, 1 + y * y)
GE_UNARY(Asin, 1 / Sqrt(1 - x * x))
GE_UNARY(Acos, -1 / Sqrt(1 - x * x))
GE_UNARY(Atan, 1 / (1 + x * x))
GE_UNARY(Sinh, Unary("Cosh", x))
GE_UNARY(Cosh, Unary("Sinh", x))
GE_UNARY(Asinh, 1 / Sqrt(x * x + 1))
GE_UNARY(Acosh, 1 / Sqrt(x * x - 1))
GE_UNARY(Atanh, 1 / (1 - x * x))
GE_UNARY(Erf, Exp(-(x* x)) * (2 / std::sqrt(std::numbers::pi)))
GE_UNARY(Reciprocal, -(y* y))
GE_UNARY(Abs, Sign(x))  // at 0: 0
GE_UNARY(Softplus, Sigmoid(x))
#undef GE_UNARY

// At 0: 0, in one node.
Val ReluGrad(Val ct, Val y) { return ct.fn->Node("ge", "ReluGrad", {ct, y}, {}, 1)[0]; }
void ReluBack(Back& b) { b.Give(0, ReluGrad(b.ct(), b.y())); }
void ReluGradBack(Back& b) { b.Give(0, ReluGrad(b.ct(), b.x(1))); }
void LogBack(Back& b) { b.Give(0, b.ct() / b.x()); }
void SqrtBack(Back& b) { b.Give(0, b.ct() * 0.5 / b.y()); }
void NegBack(Back& b) { b.Give(0, -b.ct()); }
void IdentityBack(Back& b) { b.Give(0, b.ct()); }

}  // namespace

GE_GRAD(unary) {
  return {
#define GE_UNARY(Name) {"", #Name, Name##Back},
      GE_UNARY(Exp) GE_UNARY(Tanh) GE_UNARY(Sigmoid) GE_UNARY(Sin) GE_UNARY(Cos) GE_UNARY(Tan)
          GE_UNARY(Asin) GE_UNARY(Acos) GE_UNARY(Atan) GE_UNARY(Sinh) GE_UNARY(Cosh) GE_UNARY(Asinh)
              GE_UNARY(Acosh) GE_UNARY(Atanh) GE_UNARY(Erf) GE_UNARY(Reciprocal) GE_UNARY(Abs)
                  GE_UNARY(Relu) GE_UNARY(Softplus) GE_UNARY(Log) GE_UNARY(Sqrt) GE_UNARY(Neg)
                      GE_UNARY(Identity)
#undef GE_UNARY
                          {"ge",
                           "ReluGrad",
                           ReluGradBack,
                           {{1, "it is constant around almost every point"}}},
  };
}

}  // namespace ge::grad
