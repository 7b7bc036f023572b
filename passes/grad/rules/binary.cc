#include "passes/grad/rule.h"

namespace ge::grad {
namespace {

void Add(Back& b) {
  b.Give(0, b.ct());
  b.Give(1, b.ct());
}

void Sub(Back& b) {
  b.Give(0, b.ct());
  if (b.wants(1)) b.Give(1, -b.ct());
}

void Mul(Back& b) {
  if (b.wants(0)) b.Give(0, b.ct() * b.x(1));
  if (b.wants(1)) b.Give(1, b.ct() * b.x(0));
}

void Div(Back& b) {
  const Val scaled = b.ct() / b.x(1);
  b.Give(0, scaled);
  if (b.wants(1)) b.Give(1, -(scaled * b.y()));
}

void Sum(Back& b) {
  for (uint32_t i = 0; i < b.inputs(); ++i) b.Give(i, b.ct());
}

// d x^p = p x^(p-1); of the exponent y log x, 0 where x is 0 as PyTorch has it.
void Pow(Back& b) {
  Fn& fn = b.fn();
  const Val x = b.x(0), p = fn.Cast(b.x(1), b.type(x).dtype);
  if (b.wants(0)) {
    // x^(p-1) is infinite at 0 for p = 0, where the gradient is 0, and so is that of it.
    const int32_t dtype = b.type(x).dtype;
    const Val none = Compare("Equal", p, 0), base = Where(none, fn.Scalar(dtype, 1), x);
    const Val slope = p * fn.Op("Pow", {base, p - 1});
    b.Give(0, b.ct() * Where(none, fn.Scalar(dtype, 0), slope));
  }
  if (b.wants(1)) {
    const Val zero = Compare("Equal", x, 0);
    const Val log = Log(Where(zero, fn.Scalar(b.type(x).dtype, 1), x));
    b.Give(1, b.ct() * b.y() * log);
  }
}

}  // namespace

GE_GRAD(binary) {
  return {{"", "Add", Add}, {"", "Sub", Sub}, {"", "Mul", Mul},
          {"", "Div", Div}, {"", "Sum", Sum}, {"", "Pow", Pow}};
}

}  // namespace ge::grad
