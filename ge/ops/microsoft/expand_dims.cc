#include "ge/ops/known_ints.h"
#include "ge/ops/microsoft/checks.h"
#include "ge/ops/microsoft/steps.h"

namespace ge {
namespace {

Status InferExpandDims(InferContext& c) {
  const Type& x = c.input_type(0);
  GE_RETURN_IF_ERROR(WantOne(c, 1, "axis"));
  if (!x.ranked) {
    c.SetOutput(0, UnrankedTensor(x.dtype));
    return {};
  }
  const auto axis = Numbers(c, 1);
  std::vector<Dim> dims = x.dims;
  if (!axis || axis->size() != 1) {
    // Only the data say where the new axis stands.
    dims.push_back(KnownDim(1));
    for (Dim& d : dims) d = c.FreshDim("expand_dims", true);
    return SetTensor(c, 0, x.dtype, std::move(dims));
  }
  const auto rank = static_cast<int64_t>(dims.size());
  const int64_t given = (*axis)[0], at = given < 0 ? given + rank + 1 : given;
  if (at < 0 || at > rank) {
    return Bad(c.node(),
               fmt::format("input 'axis' is {}, wanted {} to {}", given, -rank - 1, rank));
  }
  dims.insert(dims.begin() + static_cast<ptrdiff_t>(at), KnownDim(1));
  return SetTensor(c, 0, x.dtype, std::move(dims));
}

std::vector<ValueId> DecomposeExpandDims(Transaction& t, FunctionId fn, const Node& node) {
  if (!Steps::Ready(t, fn, node)) return {};
  Steps s(t, fn, node);
  const ValueId shape = s.Ints(s.OutShape(0));
  return {s.Node1("Reshape", {s.In(0), shape}, s.OutDType(0), s.OutShape(0),
                  {{"allowzero", int64_t{1}}})};
}

OpDef ExpandDimsRecord() {
  OpDef op = MicrosoftRecord("ExpandDims", InferExpandDims, DecomposeExpandDims);
  constexpr DTypeSet kTypes = kNumeric | Bit(DType::kBool);
  op.inputs = {{"X", kTypes, "T"}, {"axis", Bit(DType::kInt32)}};
  op.outputs = {{"Y", kTypes, "T"}};
  return op;
}

}  // namespace

// One axis of size 1 more.
GE_OP(microsoft_expand_dims) = ExpandDimsRecord();

}  // namespace ge
