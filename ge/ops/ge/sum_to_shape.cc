#include <fmt/format.h>

#include "ge/ops/decompose.h"
#include "ge/ops/infer_shapes.h"
#include "ge/ops/known_ints.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status InferSumToShape(InferContext& c) {
  const Type& x = c.input_type(0);
  const std::optional<std::vector<Dim>> dims = Content(c, 1);
  if (!dims) {
    c.SetOutput(0, UnrankedTensor(x.dtype));
    return {};
  }
  if (x.ranked && dims->size() > x.rank()) {
    return Bad(c.node(), fmt::format("the shape has {} sizes, wanted at most the {} of {}",
                                     dims->size(), x.rank(), TypeToString(x, c.dims())));
  }
  const size_t extra = x.ranked ? x.rank() - dims->size() : 0;
  for (size_t i = 0; x.ranked && i < dims->size(); ++i) {
    const Dim to = (*dims)[i], from = x.dims[extra + i];
    if (!to.known() || !from.known() || to == from || to == KnownDim(1)) continue;
    return Bad(c.node(),
               fmt::format("size {} of the shape is {}, wanted 1 or the {} of {}", i,
                           Show(c.dims(), std::span(&to, 1)), Show(c.dims(), std::span(&from, 1)),
                           TypeToString(x, c.dims())));
  }
  return SetTensor(c, 0, x.dtype, *dims);
}

// A sum over the axes that were broadcast, then over those that were not there.
std::vector<ValueId> DecomposeSumToShape(Transaction& t, FunctionId fn, const Node& node) {
  Parts p(&t, fn, node);
  const Type from = p.TypeOf(node.inputs[0]), to = p.TypeOf(node.outputs[0]);
  if (!from.ranked || !to.ranked || from.rank() < to.rank()) return {};
  const size_t extra = from.rank() - to.rank();
  std::vector<int64_t> axes, front;
  Type kept = from;
  for (size_t i = 0; i < from.rank(); ++i) {
    const bool known = from.dims[i].known() && (i < extra || to.dims[i - extra].known());
    if (!known) return {};
    if (i >= extra && from.dims[i] == to.dims[i - extra]) continue;
    axes.push_back(static_cast<int64_t>(i));
    kept.dims[i] = KnownDim(1);
    if (i < extra) front.push_back(static_cast<int64_t>(i));
  }
  const ValueId sum = axes.empty() ? node.inputs[0]
                                   : p.Add("ReduceSum", {node.inputs[0], p.Ints(axes)}, kept,
                                           {{"keepdims", int64_t{1}}});
  return {p.Add(
      front.empty() ? "Identity" : "Squeeze",
      front.empty() ? std::vector<ValueId>{sum} : std::vector<ValueId>{sum, p.Ints(front)}, to)};
}

OpDef SumToShapeRecord() {
  OpDef op{"ge", "SumToShape",   1, {{"X", kFloats, "T"}, {"shape", Bit(DType::kInt64)}}, {},
           {},   InferSumToShape};
  op.outputs = {{"Y", kFloats, "T"}};
  op.work = PerInput<1>;
  op.decompose = DecomposeSumToShape;
  return op;
}

}  // namespace

// What was broadcast from `shape`, summed back to it.
GE_OP(sum_to_shape) = SumToShapeRecord();

}  // namespace ge
