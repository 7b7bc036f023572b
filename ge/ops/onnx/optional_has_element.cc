#include <fmt/format.h>

#include "ge/ops/families/sequences.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status InferOptionalHasElement(InferContext& c) { return SetTensor(c, 0, DType::kBool, {}); }

}  // namespace

// Whether an optional holds a value.
GE_OP(optional_has_element) = {"",
                               "OptionalHasElement",
                               28,
                               {{"input", kAnyType, "", Arity::kOptional}},
                               {{"output", Bit(DType::kBool)}},
                               {},
                               InferOptionalHasElement,
                               PerOutput<0>};

}  // namespace ge
