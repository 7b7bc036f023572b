#include "ge/ops/state.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

// The state's own type; where the context does not show states, what the output declares.
Status InferRead(InferContext& c) {
  GE_ASSIGN_OR_RETURN(const Type* type, StateType(c));
  if (type == nullptr) type = c.declared_output(0);
  if (type == nullptr || !type->is_tensor()) {
    return Bad(c.node(), "the type of the state is not known, wanted a declared output type");
  }
  c.SetOutput(0, Type(*type));
  return {};
}

OpDef ReadRecord() {
  OpDef op{"ge", "Read", 1, {}, {{"value", kAnyDType | kFloat6s}}, {}, InferRead, PerOutput<0>};
  op.deterministic = false;  // what it answers depends on the writes before it
  op.has_effects = true;
  return op;
}

}  // namespace

// The value of the state that the node's first effect names.
GE_OP(read) = ReadRecord();

}  // namespace ge
