#include <fmt/format.h>

#include <cmath>

#include "ge/ops/infer_shapes.h"
#include "ge/ops/known_ints.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

// The size of the new axis: the content of input 'depth', of any numeric type.
Result<Dim> OneHotDepth(InferContext& c) {
  Dim depth;
  const auto content = Content(c, 1);
  const auto floats = ConstFloats(c, 1);
  if (content && content->size() == 1) {
    depth = content->front();
  } else if (floats && floats->size() == 1 && std::fabs(floats->front()) < 0x1p62) {
    depth = KnownDim(static_cast<int64_t>(floats->front()));
  } else {
    return c.FreshDim("depth", true);
  }
  if (depth.known() && depth.value < 0) {
    return Bad(c.node(), fmt::format("input 'depth' is {}, wanted 0 or more", depth.value));
  }
  return depth;
}

Status InferOneHot(InferContext& c) {
  const Type &indices = c.input_type(0), &depth = c.input_type(1), &values = c.input_type(2);
  const auto count = ElementCount(depth);
  if (depth.ranked && (depth.rank() > 1 || (count && *count != 1))) {
    return Bad(c.node(),
               "input 'depth' has shape " + Show(c.dims(), depth.dims) + ", wanted a scalar");
  }
  const Dim two = KnownDim(2);
  GE_RETURN_IF_ERROR(WantShape(c, 2, "values", std::span(&two, 1)));
  if (!indices.ranked) {
    c.SetOutput(0, UnrankedTensor(values.dtype));
    return {};
  }
  const auto axis = NormalizeAxis(AttrInt(c.node(), "axis"),
                                  static_cast<int64_t>(indices.rank()) + 1, "attribute 'axis'");
  if (!axis.ok()) return Bad(c.node(), axis.status().message());
  GE_ASSIGN_OR_RETURN(const Dim size, OneHotDepth(c));
  std::vector<Dim> dims = indices.dims;
  dims.insert(dims.begin() + *axis, size);
  return SetTensor(c, 0, values.dtype, std::move(dims));
}

OpDef OneHotRecord() {
  const DTypeSet numbers = kNumeric & ~Bit(DType::kBfloat16);
  OpDef op{"", "OneHot", 28, {}, {{"output", kClassic, "T3"}}, {}};
  op.inputs = {{"indices", numbers, "T1"}, {"depth", numbers, "T2"}, {"values", kClassic, "T3"}};
  op.attrs = {{"axis", AttrKind::kInt, -1}};
  op.infer = InferOneHot;
  op.work = PerOutput<0>;
  return op;
}

}  // namespace

// values[1] where a new axis stands at the index, values[0] elsewhere.
GE_OP(one_hot) = OneHotRecord();

}  // namespace ge
