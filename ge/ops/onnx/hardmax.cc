#include "ge/ops/families/along_axis.h"
#include "ge/ops/work.h"

namespace ge {

// 1 at the first of the largest elements along one axis, 0 elsewhere (the meaning since opset 13).
GE_OP(hardmax) = {"",
                  "Hardmax",
                  13,
                  {{"input", kFloats, "T"}},
                  {{"output", kFloats, "T"}},
                  {{"axis", AttrKind::kInt, -1}},
                  InferAlongAxis,
                  PerOutput<2>};

}  // namespace ge
