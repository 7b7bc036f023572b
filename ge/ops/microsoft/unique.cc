#include "ge/ops/microsoft/checks.h"

namespace ge {
namespace {

Status InferUniqueMs(InferContext& c) {
  const Type x = c.input_type(0);
  GE_RETURN_IF_ERROR(WantRankOf(c, 0, "x", 1, 1));
  const Dim count = c.FreshDim("unique", true);
  const Dim length = x.ranked ? x.dims[0] : c.FreshDim("length", false);
  GE_RETURN_IF_ERROR(SetTensor(c, 0, x.dtype, {count}));
  if (c.has_output(1)) GE_RETURN_IF_ERROR(SetTensor(c, 1, DType::kInt64, {length}));
  return c.has_output(2) ? SetTensor(c, 2, DType::kInt64, {count}) : Status();
}

OpDef UniqueMsRecord() {
  OpDef op = MicrosoftRecord("Unique", InferUniqueMs, nullptr);
  constexpr DTypeSet kTypes = kNumeric | Bit(DType::kBool);
  op.inputs = {{"x", kTypes, "T"}};
  op.outputs = {{"y", kTypes, "T"}, {"idx", Bit(DType::kInt64)}, {"counts", Bit(DType::kInt64)}};
  return op;
}

}  // namespace

// Distinct elements in the order in which they occur, which of them each element is, and how often
// each occurs.
GE_OP(microsoft_unique) = UniqueMsRecord();

}  // namespace ge
