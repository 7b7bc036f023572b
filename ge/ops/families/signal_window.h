// Record and rule of the window functions of signal processing: Hann and the like. Any thread may
// call.
#pragma once

#include "ge/ops/scalar_inputs.h"
#include "ge/ops/work.h"

namespace ge {

inline Status InferSignalWindow(InferContext& context) {
  GE_ASSIGN_OR_RETURN(const DType dtype, DTypeAttr(context.node(), "output_datatype", kNumeric));
  GE_ASSIGN_OR_RETURN(const Dim size, ScalarSize(context, 0, "size", 0));
  return SetTensor(context, 0, dtype, {size});
}

// A cosine or two an element.
inline OpDef SignalWindow(const char* name) {
  OpDef op{"", name, 17, {{"size", kIndex, "T1"}}, {{"output", kNumeric, "T2"}}, {}};
  op.attrs = {{"output_datatype", AttrKind::kInt, 1}, {"periodic", AttrKind::kInt, 1}};
  op.infer = InferSignalWindow;
  op.work = PerOutput<20>;
  return op;
}

}  // namespace ge
