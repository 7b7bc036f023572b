#include "passes/grad/rule.h"

namespace ge::grad {
namespace {

Val SumOver(Back& b, Val v) { return ReduceSum(v, {b.Int("axis", -1)}, true); }

void SoftmaxBack(Back& b) {
  const Val scaled = b.ct() * b.y();
  b.Give(0, scaled - b.y() * SumOver(b, scaled));
}

void LogSoftmaxBack(Back& b) { b.Give(0, b.ct() - Exp(b.y()) * SumOver(b, b.ct())); }

}  // namespace

GE_GRAD(soft_max) { return {{"", "Softmax", SoftmaxBack}, {"", "LogSoftmax", LogSoftmaxBack}}; }

}  // namespace ge::grad
