#include "ge/ops/state.h"

namespace ge {

Result<const Type*> StateType(InferContext& context) {
  const std::vector<Effect>& effects = context.node().effects;
  if (effects.empty() || effects[0].kind != EffectKind::kState) {
    return Bad(context.node(), "the first effect is not on a state, wanted the state that is used");
  }
  const State* state = context.state(effects[0].object);
  return state ? &state->type : nullptr;
}

}  // namespace ge
