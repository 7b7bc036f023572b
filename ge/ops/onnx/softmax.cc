#include "ge/ops/elementwise.h"

namespace ge {
namespace {

Status InferSoftmax(InferContext& c) {
  const Type& x = c.input_type(0);
  if (x.ranked) {
    const auto rank = static_cast<int64_t>(x.rank());
    // A scalar is its own row, as in ONNX Runtime: axis -1 (and 0) is meant for it.
    const auto axis =
        NormalizeAxis(AttrInt(c.node(), "axis"), std::max<int64_t>(rank, 1), "attribute 'axis'");
    if (!axis.ok()) return Bad(c.node(), axis.status().message());
  }
  return InferSame(c);
}

}  // namespace

// e^(x - m) / sum e^(x - m) along one axis, m its largest element (the meaning since opset 13).
GE_OP(softmax) = {"",
                  "Softmax",
                  13,
                  {{"input", kFloats, "T"}},
                  {{"output", kFloats, "T"}},
                  {{"axis", AttrKind::kInt, -1}},
                  InferSoftmax,
                  PerOutput<14>};

}  // namespace ge
