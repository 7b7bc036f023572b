#include "passes/data/pipe/amount.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ge::data {
namespace {

// A state of the model by that name, or a new one with this first content.
uint32_t StateOf(const Step& step, Chain* chain, const std::string& name, float first) {
  const ge_edit* e = chain->fn->edit();
  const ge_model* model = e->model(e->host);
  for (uint32_t i = 1; i < model->n_state; ++i) {
    const ge_state* s = GE_STATE(model, i);
    if (plugin::View(s->name) != name) continue;
    if (s->type.dtype == GE_F32 && s->type.rank == 0) return i;
    RefuseStep(step, fmt::format("a state '{}' of one f32, the model's is another", name));
  }
  ge_state s{};
  s.h = GE_HDR(ge_state, GE_TAG_STATE);
  s.name = plugin::Str(name);
  s.type.dtype = GE_F32;
  s.kind = GE_STATE_BUFFER;
  s.data = &first;
  s.data_bytes = sizeof first;
  uint32_t state = 0;
  e->state(e->host, &s, &state);
  return state;
}

}  // namespace

Amount AmountOf(const Step& step, Chain* chain, double most, std::string_view wanted) {
  if (step.args.size() != 1 || !step.named.empty()) RefuseStep(step, wanted);
  const std::string& text = step.args[0];
  if (!text.starts_with('@')) {
    const double n = NumberOf(step, text, wanted);
    if (!(n > 0 && n <= most)) RefuseStep(step, wanted);
    return {n, {}};
  }
  const size_t equals = std::min(text.find('='), text.size());
  const std::string name = text.substr(1, equals - 1);
  double first = 0;
  if (equals < text.size()) first = NumberOf(step, text.substr(equals + 1), wanted);
  if (name.empty() || !(first >= 0 && first <= most)) {
    RefuseStep(step,
               fmt::format("{}; or @NAME=FIRST, a state and its first content from 0 on", wanted));
  }
  if (chain->test) return {};
  Fn& fn = *chain->fn;
  const uint32_t state = StateOf(step, chain, name, static_cast<float>(first));
  const Val read = fn.At(ge_edit_state(fn.edit(), fn.id(), 0, state, 0));
  return {0, fn.Op("Clip", {read, fn.Scalar(GE_F32, 0), fn.Scalar(GE_F32, most)})};
}

Amount Scaled(const Amount& amount, double scale) {
  if (amount.state) return {0, amount.state * scale};
  return {static_cast<float>(amount.number) * static_cast<float>(scale), {}};
}

Val Times(Val x, const Amount& amount) {
  return amount.state ? x * amount.state : x * amount.number;
}

}  // namespace ge::data
