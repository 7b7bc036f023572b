#include <fmt/format.h>

#include "ge/ops/infer_shapes.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status InferStringConcat(InferContext& c) { return InferBroadcast(c); }

}  // namespace

// Strings put together element by element, with broadcasting.
GE_OP(string_concat) = {"",
                        "StringConcat",
                        20,
                        {{"X", Bit(DType::kString)}, {"Y", Bit(DType::kString)}},
                        {{"Z", Bit(DType::kString)}},
                        {},
                        InferStringConcat,
                        PerOutput<0>};

}  // namespace ge
