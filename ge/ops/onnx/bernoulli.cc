#include "ge/ops/families/random_numbers.h"

namespace ge {
namespace {

constexpr DTypeSet kDrawn = kNumeric | Bit(DType::kBool);

Status InferBernoulli(InferContext& c) { return InferRandomLike(c, kDrawn); }

OpDef BernoulliRecord() {
  OpDef op{"", "Bernoulli", 22, {{"input", kFloats, "T1"}}, {{"output", kDrawn, "T2"}}, {}};
  op.attrs = {{"dtype", AttrKind::kInt}, {"seed", AttrKind::kFloat}};
  op.infer = InferBernoulli;
  op.work = PerOutput<20>;
  op.deterministic = false;
  return op;
}

}  // namespace

// 1 with the probability that the input's element holds, else 0.
GE_OP(bernoulli) = BernoulliRecord();

}  // namespace ge
