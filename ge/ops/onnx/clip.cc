#include "ge/ops/elementwise.h"

namespace ge {
namespace {

Status InferClip(InferContext& c) {
  for (size_t i = 1; i < c.input_count(); ++i) {
    if (!c.has_input(i)) continue;
    // Exporters also write one-element vectors for these scalars.
    const Type& t = c.input_type(i);
    const bool scalar = !t.ranked || t.rank() == 0 ||
                        (t.rank() == 1 && (!t.dims[0].known() || t.dims[0].value == 1));
    if (!scalar) {
      return Bad(c.node(), std::string("input '") + (i == 1 ? "min" : "max") + "' has shape " +
                               Show(c.dims(), t.dims) + ", wanted a scalar");
    }
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
