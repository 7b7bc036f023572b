#include <fmt/format.h>

#include "ge/ops/families/sequences.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status InferSequenceEmpty(InferContext& c) {
  const auto dtype = static_cast<DType>(AttrInt(c.node(), "dtype"));
  if (!IsKnown(dtype)) {
    return Bad(c.node(), fmt::format("attribute 'dtype' is {}, wanted a dtype of ONNX",
                                     static_cast<int64_t>(dtype)));
  }
  c.SetOutput(0, SequenceType(UnrankedTensor(dtype)));
  return {};
}

}  // namespace

// A sequence of nothing.
GE_OP(sequence_empty) = {"",
                         "SequenceEmpty",
                         11,
                         {},
                         {{"output", kAnyType}},
                         {{"dtype", AttrKind::kInt, 1}},
                         InferSequenceEmpty,
                         PerOutput<0>};

}  // namespace ge
