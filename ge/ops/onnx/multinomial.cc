#include "ge/ops/families/random_numbers.h"

namespace ge {
namespace {

Status InferMultinomial(InferContext& c) {
  GE_ASSIGN_OR_RETURN(const DType dtype, DTypeAttr(c.node(), "dtype", kIndex));
  const int64_t samples = AttrInt(c.node(), "sample_size");
  if (samples < 1) {
    return Bad(c.node(), fmt::format("attribute 'sample_size' is {}, wanted at least 1", samples));
  }
  const Type& x = c.input_type(0);
  if (x.ranked && x.rank() != 2) {
    return Bad(c.node(), fmt::format("input 'input' has shape {}, wanted rank 2: [batch, classes]",
                                     Show(c.dims(), x.dims)));
  }
  const Dim batch = x.ranked ? x.dims[0] : c.FreshDim("batch", false);
  return SetTensor(c, 0, dtype, {batch, KnownDim(samples)});
}

OpDef MultinomialRecord() {
  OpDef op{"", "Multinomial", 22, {{"input", kFloats, "T1"}}, {{"output", kIndex, "T2"}}, {}};
  op.attrs = {
      {"dtype", AttrKind::kInt, 6}, {"sample_size", AttrKind::kInt, 1}, {"seed", AttrKind::kFloat}};
  op.infer = InferMultinomial;
  op.work = PerOutput<40>;
  op.deterministic = false;
  return op;
}

}  // namespace

// Classes drawn by their log-probabilities, which need not sum to 1 as probabilities.
GE_OP(multinomial) = MultinomialRecord();

}  // namespace ge
