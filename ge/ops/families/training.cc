#include "ge/ops/families/training.h"

#include <fmt/format.h>

namespace ge {

Status InferOptimizer(InferContext& context, size_t kept) {
  const size_t lists = 2 + kept, inputs = context.input_count();
  const size_t n = inputs < 2 ? 0 : (inputs - 2) / lists;
  if (n == 0 || inputs != 2 + n * lists || context.output_count() != n * (1 + kept)) {
    return Bad(context.node(),
               fmt::format("it has {} inputs and {} outputs, wanted 2 and {} for each "
                           "tensor, and {} for each",
                           inputs, context.output_count(), lists, 1 + kept));
  }
  for (size_t k = 0; k < 1 + kept; ++k) {
    const size_t list = k == 0 ? 0 : k + 1;  // the gradients are not given out
    for (size_t i = 0; i < n; ++i) {
      if (context.has_output(k * n + i))
        context.SetOutput(k * n + i, context.input_type(2 + list * n + i));
    }
  }
  return {};
}

OpDef OptimizerRecord(const char* name, std::vector<AttrDef> attrs) {
  constexpr DTypeSet kTypes = Bit(DType::kFloat) | Bit(DType::kDouble);
  OpDef op{"ai.onnx.preview.training", name, 1, {}, {}, std::move(attrs)};
  op.inputs = {{"R", kTypes}, {"T", Bit(DType::kInt64)}, {"inputs", kTypes, "", Arity::kVariadic}};
  op.outputs = {{"outputs", kTypes, "", Arity::kVariadic}};
  return op;
}

}  // namespace ge
