// Rules and records of the operators that draw random numbers. The numbers are the engine's: ONNX
// leaves the generator open. Any thread may call.
#pragma once

#include "ge/ops/scalar_inputs.h"
#include "ge/ops/work.h"

namespace ge {

// Output 0 has the shape of attribute `shape`.
inline Status InferRandom(InferContext& context) {
  GE_ASSIGN_OR_RETURN(const DType dtype, DTypeAttr(context.node(), "dtype", kFloats));
  std::vector<Dim> dims;
  for (const int64_t size : AttrInts(context.node(), "shape")) dims.push_back(KnownDim(size));
  return SetTensor(context, 0, dtype, std::move(dims));
}

// Output 0 has the shape of input 0, and its dtype unless attribute `dtype` gives another.
inline Status InferRandomLike(InferContext& context, DTypeSet legal) {
  Type t = context.input_type(0);
  GE_ASSIGN_OR_RETURN(t.dtype, DTypeAttr(context.node(), "dtype", legal, t.dtype));
  context.SetOutput(0, std::move(t));
  return {};
}
inline Status InferRandomFloats(InferContext& context) { return InferRandomLike(context, kFloats); }

// RandomNormal, RandomUniform and their Like forms; `first` and `second`: the attributes of the
// distribution.
inline OpDef RandomRecord(const char* name, bool like, const AttrDef& first,
                          const AttrDef& second) {
  OpDef op{"", name, 22, {}, {{"output", kFloats, "T2"}}, {}};
  // Without `dtype` the Like forms answer the dtype of their input.
  const AttrDef dtype =
      like ? AttrDef("dtype", AttrKind::kInt) : AttrDef("dtype", AttrKind::kInt, 1);
  op.attrs = {first, dtype, second, {"seed", AttrKind::kFloat}};
  if (like) {
    op.inputs = {{"input", kClassic, "T1"}};
  } else {
    op.attrs.push_back({"shape", AttrKind::kInts, true});
  }
  op.infer = like ? InferRandomFloats : InferRandom;
  op.work = PerOutput<40>;
  op.deterministic = false;
  return op;
}

}  // namespace ge
