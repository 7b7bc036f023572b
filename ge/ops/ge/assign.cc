#include <fmt/format.h>

#include "ge/ops/state.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status InferAssign(InferContext& c) {
  GE_ASSIGN_OR_RETURN(const Type* type, StateType(c));
  if (type == nullptr) return {};
  const Type& value = c.input_type(0);
  bool fits = value.dtype == type->dtype;
  if (value.ranked && type->ranked) {
    fits = fits && value.rank() == type->rank();
    for (size_t i = 0; fits && i < value.rank(); ++i) {
      fits = !value.dims[i].known() || !type->dims[i].known() || value.dims[i] == type->dims[i];
    }
  }
  if (fits) return {};
  return Bad(c.node(), fmt::format("input 'value' is {}, wanted {} as the state is",
                                   TypeToString(value, c.dims()), TypeToString(*type, c.dims())));
}

Work EffortAssign(const Node&, std::span<const Type> in, std::span<const Type>) {
  return {0, 2 * BytesOf(in, {})};
}

OpDef AssignRecord() {
  OpDef op{"ge", "Assign", 1, {{"value", kAnyDType | kFloat6s}}, {}, {}, InferAssign, EffortAssign};
  op.deterministic = false;
  op.has_effects = true;
  return op;
}

}  // namespace

// Writes the state that the node's first effect names; visible when the run ends.
GE_OP(assign) = AssignRecord();

}  // namespace ge
