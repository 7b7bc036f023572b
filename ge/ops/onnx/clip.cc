#include "ge/ops/elementwise.h"
#include "ge/ops/scalar_inputs.h"

namespace ge {
namespace {

Status InferClip(InferContext& c) {
  for (size_t i = 1; i < c.input_count(); ++i) {
    if (c.has_input(i)) GE_RETURN_IF_ERROR(WantScalar(c, i, i == 1 ? "min" : "max"));
  }
  return InferSame(c);
}

}  // namespace

// min(max(x, min), max); where min > max the result is max.
GE_OP(clip) = {"",
               "Clip",
               13,
               {{"input", kNumeric, "T"},
                {"min", kNumeric, "T", Arity::kOptional},
                {"max", kNumeric, "T", Arity::kOptional}},
               {{"output", kNumeric, "T"}},
               {},
               InferClip,
               PerOutput<2>};

}  // namespace ge
