#include "plugins/ascend/sim/operators/operation.h"

#include <string_view>

namespace ge_engines::ascend::sim {

const Operation* FindOperation(const char* name) {
  const std::span<const Operation> tables[] = {
      UnaryOperations(),     BinaryOperations(),      ScaledOperations(), ChoiceOperations(),
      ProductOperations(),   ConvolutionOperations(), WindowOperations(), NormOperations(),
      ReductionOperations(), OrderOperations(),       MoveOperations(),   IndexOperations(),
      FormatOperations()};
  for (const std::span<const Operation> table : tables) {
    for (const Operation& one : table) {
      if (std::string_view(one.name) == name) return &one;
    }
  }
  return nullptr;
}

}  // namespace ge_engines::ascend::sim
