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

struct Named {
  std::string name;
  double first;
};

// "@NAME" or "@NAME=FIRST".
Named NamedIn(const Step& step, const std::string& text, const Bounds& bounds,
              std::string_view wanted) {
  const size_t equals = std::min(text.find('='), text.size());
  Named out{text.substr(1, equals - 1), bounds.first};
  if (equals < text.size()) out.first = NumberOf(step, text.substr(equals + 1), wanted);
  if (!out.name.empty() && out.first >= bounds.least && out.first <= bounds.most) return out;
  RefuseStep(step, fmt::format("{}; or @NAME=FIRST, a state and its first content from {} to {}",
                               wanted, bounds.least, bounds.most));
}

Amount Read(const Step& step, Chain* chain, const Named& named, const Bounds& bounds) {
  Fn& fn = *chain->fn;
  const uint32_t state = StateOf(step, chain, named.name, static_cast<float>(named.first));
  const Val read = fn.At(ge_edit_state(fn.edit(), fn.id(), 0, state, 0));
  const Val least = fn.Scalar(GE_F32, bounds.least), most = fn.Scalar(GE_F32, bounds.most);
  return {0, fn.Op("Clip", {read, least, most})};
}

}  // namespace

Amount AmountOf(const Step& step, Chain* chain, double most, std::string_view wanted) {
  if (step.args.size() != 1 || !step.named.empty()) RefuseStep(step, wanted);
  const std::string& text = step.args[0];
  if (text.starts_with('@')) {
    const Bounds bounds{0, most, 0};
    const Named named = NamedIn(step, text, bounds, wanted);
    return chain->test ? Amount{} : Read(step, chain, named, bounds);
  }
  const double n = NumberOf(step, text, wanted);
  if (!(n > 0 && n <= most)) RefuseStep(step, wanted);
  return {n, {}};
}

Amount AmountIn(const Step& step, Chain* chain, const std::string& text, const Bounds& bounds,
                std::string_view wanted) {
  if (text.starts_with('@')) {
    return Read(step, chain, NamedIn(step, text, bounds, wanted), bounds);
  }
  const double n = NumberOf(step, text, wanted);
  if (!(n >= bounds.least && n <= bounds.most)) RefuseStep(step, wanted);
  return {n, {}};
}

std::pair<Amount, Amount> AmountsIn(const Step& step, Chain* chain, const std::string& text,
                                    const Bounds& bounds, std::string_view wanted) {
  const size_t dots = text.find("..");
  const Amount least = AmountIn(step, chain, text.substr(0, dots), bounds, wanted);
  if (dots == std::string::npos) return {least, least};
  const Amount most = AmountIn(step, chain, text.substr(dots + 2), bounds, wanted);
  if (!least.state && !most.state && least.number > most.number) RefuseStep(step, wanted);
  return {least, most};
}

Val AsValue(Chain* chain, const Amount& amount) {
  return amount.state ? amount.state : chain->fn->Scalar(GE_F32, amount.number);
}

Amount Scaled(const Amount& amount, double scale) {
  if (amount.state) return {0, amount.state * scale};
  return {static_cast<float>(amount.number) * static_cast<float>(scale), {}};
}

Val Times(Val x, const Amount& amount) {
  return amount.state ? x * amount.state : x * amount.number;
}

}  // namespace ge::data
