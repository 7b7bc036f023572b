#include "ge/ops/families/along_axis.h"
#include "ge/ops/work.h"

namespace ge {

// x - m - log(sum e^(x - m)) along one axis, m its largest element (the meaning since opset 13).
GE_OP(log_softmax) = {"",
                      "LogSoftmax",
                      13,
                      {{"input", kFloats, "T"}},
                      {{"output", kFloats, "T"}},
                      {{"axis", AttrKind::kInt, -1}},
                      InferAlongAxis,
                      PerOutput<14>};

}  // namespace ge
