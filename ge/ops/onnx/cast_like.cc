#include "ge/ops/decompose.h"
#include "ge/ops/onnx/cast.h"

namespace ge {
namespace {

Status InferCastLike(InferContext& c) { return InferCastTo(c, c.input_type(1).dtype); }

// A Cast to the second input's dtype, which nothing reads any more.
std::vector<ValueId> DecomposeCastLike(Transaction& t, FunctionId fn, const Node& node) {
  Parts p(&t, fn, node);
  const DType to = p.TypeOf(node.inputs[1]).dtype;
  Type type = p.TypeOf(node.inputs[0]);
  type.dtype = to;
  std::vector<Attr> attrs = node.attrs;
  attrs.push_back({"to", static_cast<int64_t>(to)});
  return {p.Add("Cast", {node.inputs[0]}, std::move(type), std::move(attrs))};
}

OpDef CastLikeRecord() {
  OpDef op{"", "CastLike", 25, {}, {{"output", kCastTypes, "T2"}}, {}, InferCastLike};
  op.inputs = {{"input", kCastTypes, "T1"}, {"target_type", kCastTypes, "T2"}};
  op.attrs = {{"saturate", AttrKind::kInt, 1}, {"round_mode", AttrKind::kString, "up"}};
  op.decompose = DecomposeCastLike;
  return op;
}

}  // namespace

// Cast to the dtype of the second input.
GE_OP(cast_like) = CastLikeRecord();

}  // namespace ge
