#include "ge/ops/decompose.h"
#include "ge/ops/families/along_axis.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

// The place of the largest element, and a 1 there.
std::vector<ValueId> DecomposeHardmax(Transaction& t, FunctionId fn, const Node& node) {
  Parts p(&t, fn, node);
  const Type type = p.TypeOf(node.inputs[0]);
  if (!type.ranked || type.dims.empty()) return {};
  int64_t axis = AttrInt(node, "axis", -1);
  if (axis < 0) axis += static_cast<int64_t>(type.dims.size());
  const Dim dim = type.dims[static_cast<size_t>(axis)];
  if (!dim.known() || dim.value == 0) return {};
  Type place = type;
  place.dtype = DType::kInt64;
  place.dims.erase(place.dims.begin() + axis);
  const ValueId at =
      p.Add("ArgMax", {node.inputs[0]}, place, {{"axis", axis}, {"keepdims", int64_t{0}}});
  const ValueId values = p.Cast(p.Ints({0, 1}), type.dtype);
  return {p.Add("OneHot", {at, p.Ints({dim.value}), values}, type, {{"axis", axis}})};
}

OpDef HardmaxRecord() {
  OpDef op{"", "Hardmax", 13, {{"input", kFloats, "T"}}, {{"output", kFloats, "T"}}, {}};
  op.attrs = {{"axis", AttrKind::kInt, -1}};
  op.infer = InferAlongAxis;
  op.work = PerOutput<2>;
  op.decompose = DecomposeHardmax;
  return op;
}

}  // namespace

// 1 at the first of the largest elements along one axis, 0 elsewhere (the meaning since opset 13).
GE_OP(hardmax) = HardmaxRecord();

}  // namespace ge
