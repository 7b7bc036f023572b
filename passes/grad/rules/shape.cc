// Operators that only move elements, and those that read nothing but a shape.
#include "passes/grad/rule.h"

namespace ge::grad {
namespace {

void ReshapeBack(Back& b) { b.Give(0, ReshapeLike(b.ct(), b.x())); }

void TransposeBack(Back& b) {
  std::vector<int64_t> perm = b.Ints("perm"), inverse(perm.size());
  const int32_t rank = b.rank(b.x());
  if (rank < 0) return b.Fail("an input's rank is not known");
  for (int32_t i = 0; i < rank && perm.size() < static_cast<size_t>(rank); ++i) {
    perm.push_back(rank - 1 - i);
  }
  inverse.resize(perm.size());
  for (size_t i = 0; i < perm.size(); ++i)
    inverse[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
  b.Give(0, Transpose(b.ct(), inverse));
}

// Give sums over what was broadcast.
void ExpandBack(Back& b) { b.Give(0, b.ct()); }
void SumToShapeBack(Back& b) { b.Give(0, b.fn().ExpandTo(b.ct(), b.x())); }
void CastBack(Back& b) { b.Give(0, b.ct()); }

void WhereBack(Back& b) {
  const Val zero = b.fn().Scalar(b.type(b.ct()).dtype, 0);
  if (b.wants(1)) b.Give(1, Where(b.x(0), b.ct(), zero));
  if (b.wants(2)) b.Give(2, Where(b.x(0), zero, b.ct()));
}

}  // namespace

GE_GRAD(shape) {
  const std::vector<NoGradient> second = {{1, "sizes or axes"}};
  return {{"", "Reshape", ReshapeBack, second},
          {"", "Flatten", ReshapeBack},
          {"", "Squeeze", ReshapeBack, second},
          {"", "Unsqueeze", ReshapeBack, second},
          {"", "Transpose", TransposeBack},
          {"", "Expand", ExpandBack, second},
          {"ge", "SumToShape", SumToShapeBack, second},
          {"", "Cast", CastBack},
          {"", "Where", WhereBack, {{0, "a condition"}}},
          {"", "Shape", nullptr, {{kAllInputs, "a shape does not change with the values"}}},
          {"", "Size", nullptr, {{kAllInputs, "a size does not change with the values"}}}};
}

}  // namespace ge::grad
