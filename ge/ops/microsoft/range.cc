#include "ge/ops/known_ints.h"
#include "ge/ops/microsoft/checks.h"
#include "ge/ops/microsoft/steps.h"

namespace ge {
namespace {

Status InferRangeMs(InferContext& c) {
  if (HasInput(c, 2)) return FindOp("", "Range")->infer(c);
  GE_RETURN_IF_ERROR(WantOne(c, 0, "start"));
  GE_RETURN_IF_ERROR(WantOne(c, 1, "limit"));
  const DType dtype = c.input_type(0).dtype;
  const auto first = Numbers(c, 0), limit = Numbers(c, 1);
  if (first && limit && first->size() == 1 && limit->size() == 1) {
    const auto span = c.dims().Sub(KnownDim((*limit)[0]), KnownDim((*first)[0]));
    GE_ASSIGN_OR_RETURN(const Dim count, Checked(c.node(), span, "the range"));
    return SetTensor(c, 0, dtype, {KnownDim(std::max<int64_t>(0, count.value))});
  }
  const auto a = ConstFloats(c, 0), b = ConstFloats(c, 1);
  if (a && b && a->size() == 1 && b->size() == 1) {
    // The difference is rounded as the dtype rounds it.
    double span = (*b)[0] - (*a)[0];
    if (dtype == DType::kFloat) span = static_cast<float>(span);
    if (!(span < 9e18)) {
      return Bad(c.node(), fmt::format("'start' and 'limit' are {} and {}, wanted finite numbers",
                                       (*a)[0], (*b)[0]));
    }
    const double count = std::ceil(std::max(span, 0.0));
    return SetTensor(c, 0, dtype, {KnownDim(static_cast<int64_t>(count))});
  }
  return SetTensor(c, 0, dtype, {c.FreshDim("range", true)});
}

std::vector<ValueId> DecomposeRangeMs(Transaction& t, FunctionId fn, const Node& node) {
  if (!Steps::Ready(t, fn, node)) return {};
  Steps s(t, fn, node);
  const DType dtype = s.OutDType(0);
  const ValueId delta = s.Has(2) ? s.In(2) : s.Cast(s.Scalar(DType::kFloat, 1), dtype);
  return {s.Node1("Range", {s.In(0), s.In(1), delta}, dtype, s.OutShape(0))};
}

OpDef RangeMsRecord() {
  OpDef op = MicrosoftRecord("Range", InferRangeMs, DecomposeRangeMs);
  constexpr DTypeSet kTypes =
      Bit(DType::kFloat) | Bit(DType::kDouble) | kIndex | Bit(DType::kInt16);
  op.inputs = {
      {"start", kTypes, "T"}, {"limit", kTypes, "T"}, {"delta", kTypes, "T", Arity::kOptional}};
  op.outputs = {{"Y", kTypes, "T"}};
  return op;
}

}  // namespace

// start, start + delta, ... up to limit, exclusive; delta is 1 when it is absent.
GE_OP(microsoft_range) = RangeMsRecord();

}  // namespace ge
