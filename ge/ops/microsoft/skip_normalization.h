// Rules shared by SkipLayerNormalization and SkipSimplifiedLayerNormalization: a sum of two tensors
// and a bias, normalised over its last axis. Not an operator. Any thread may call.
#pragma once

#include "ge/ops/microsoft/checks.h"
#include "ge/ops/microsoft/steps.h"

namespace ge {

// Skip has the input's shape, or broadcasts to it at its first axis: [1,S,H] or [S,H].
inline Status WantSkip(InferContext& context) {
  const Type &x = context.input_type(0), &skip = context.input_type(1);
  if (!x.ranked || !skip.ranked) return {};
  bool fits = skip.rank() == x.rank() || skip.rank() + 1 == x.rank();
  for (size_t i = 1; fits && i <= skip.rank(); ++i) {
    const Dim have = skip.dims[skip.rank() - i], want = x.dims[x.rank() - i];
    const bool batch = i == x.rank() && x.rank() == 3;
    fits = !have.known() || !want.known() || have == want || (batch && have.value == 1);
  }
  if (fits) return {};
  return Bad(context.node(),
             fmt::format("input 'skip' has shape {}, wanted the input's {}, without its "
                         "first axis or with 1 there",
                         Show(context.dims(), skip.dims), Show(context.dims(), x.dims)));
}

// Inputs from 2 on are vectors over the last axis; outputs 1 and 2 hold a number a row.
inline Status InferSkipNormalization(InferContext& context,
                                     std::initializer_list<const char*> vectors) {
  const Type x = context.input_type(0);
  GE_RETURN_IF_ERROR(WantNotNegative(context.node(), "epsilon"));
  GE_RETURN_IF_ERROR(WantRankOf(context, 0, "input", 2, 3));
  GE_RETURN_IF_ERROR(WantSkip(context));
  size_t i = 2;
  for (const char* name : vectors) {
    if (x.ranked) GE_RETURN_IF_ERROR(WantVector(context, i, name, x.dims.back()));
    ++i;
  }
  for (size_t o = 0; o < context.output_count(); ++o) {
    if (!context.has_output(o)) continue;
    const bool row = o == 1 || o == 2;
    if (!x.ranked) {
      context.SetOutput(o, UnrankedTensor(row ? DType::kFloat : x.dtype));
      continue;
    }
    std::vector<Dim> dims = x.dims;
    if (row) dims.back() = KnownDim(1);
    GE_RETURN_IF_ERROR(SetTensor(context, o, row ? DType::kFloat : x.dtype, std::move(dims)));
  }
  return {};
}

// The record of either: the vectors are its inputs from 2 on, all but the first may be left out.
inline OpDef SkipNormalizationRecord(const char* name, std::initializer_list<const char*> vectors,
                                     Status (*infer)(InferContext&),
                                     std::vector<ValueId> (*decompose)(Transaction&, FunctionId,
                                                                       const Node&)) {
  OpDef op = MicrosoftRecord(name, infer, decompose);
  const Arity opt = Arity::kOptional;
  op.inputs = {{"input", kFloats, "T"}, {"skip", kFloats, "T"}};
  for (const char* vector : vectors) {
    op.inputs.push_back({vector, kFloats, "T", op.inputs.size() == 2 ? Arity::kOne : opt});
  }
  op.outputs = {{"output", kFloats, "T"},
                {"mean", Bit(DType::kFloat), "U", opt},
                {"inv_std_var", Bit(DType::kFloat), "U", opt},
                {"input_skip_bias_sum", kFloats, "T", opt}};
  op.attrs = {{"epsilon", AttrKind::kFloat, 1e-12f}};
  return op;
}

// input + skip + bias in the dtype of the steps.
inline ValueId AddSkipSum(Steps* steps, size_t bias) {
  const DType step = StepDType(steps->DTypeOf(steps->In(0)));
  const ValueId sum =
      steps->Pair("Add", steps->Cast(steps->In(0), step), steps->Cast(steps->In(1), step));
  return steps->PairIf("Add", sum, steps->In(bias));
}

// The divisor of each row: the root of its mean square and epsilon.
inline ValueId AddRootMeanSquare(Steps* steps, ValueId x, double epsilon) {
  const ValueId mean = steps->Reduce("ReduceMean", steps->Pair("Mul", x, x), {steps->Rank(x) - 1});
  return steps->Map("Sqrt", {steps->Pair("Add", mean, steps->Scalar(steps->DTypeOf(x), epsilon))});
}

}  // namespace ge
