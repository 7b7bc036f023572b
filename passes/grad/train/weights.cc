#include "passes/grad/train/weights.h"

#include <algorithm>
#include <set>

#include "passes/grad/entry.h"

namespace ge::grad {
namespace {

constexpr uint32_t kInfo = 2;  // level of ge_host_api.log

bool IsFrozen(std::string_view name, const TrainSettings& s, std::set<std::string>* used) {
  bool frozen = false;
  for (const std::string& pattern : s.freeze) {
    if (!FitsPattern(name, pattern)) continue;
    frozen = true;
    used->insert(pattern);
  }
  return frozen;
}

}  // namespace

uint32_t MakeState(const ge_edit* edit, const std::string& name, const ge_type& type, uint32_t kind,
                   const void* data, uint64_t bytes) {
  ge_state s{};
  s.h = GE_HDR(ge_state, GE_TAG_STATE);
  s.name = plugin::Str(name);
  s.type = type;
  s.kind = kind;
  s.data = data;
  s.data_bytes = bytes;
  s.flags = kind == GE_STATE_PARAM ? GE_STATE_TRAINABLE : 0;
  uint32_t state = 0;
  edit->state(edit->host, &s, &state);
  return state;
}

Val ReadState(Fn& fn, uint32_t state, uint32_t before) {
  return fn.At(ge_edit_state(fn.edit(), fn.id(), before, state, 0));
}

void AssignState(Fn& fn, uint32_t state, Val value) {
  ge_edit_state(fn.edit(), fn.id(), 0, state, value.id);
}

// The first of them, and how many more.
static std::string FirstOf(const std::vector<std::string>& names) {
  constexpr size_t kTold = 4;
  std::string text;
  for (size_t i = 0; i < names.size() && i < kTold; ++i) text += (i ? ", " : "") + names[i];
  if (names.size() > kTold) text += " and " + std::to_string(names.size() - kTold) + " more";
  return names.empty() ? "none" : text;
}

// What an exporter has merged and is trained apart.
static void TellApart(const ge_edit* e, const std::vector<std::string>& names) {
  if (names.empty()) return;
  const std::string text =
      "train: weights that the model holds once, since their first values are equal, are trained "
      "apart: " +
      FirstOf(names) + "; option tie=NAME keeps one";
  e->api->log(e->api->host, kInfo, plugin::Str(text));
}

std::vector<Weight> MakeWeights(const ge_edit* edit, const ge_graph* graph,
                                const TrainSettings& settings) {
  WeightUses places(graph, settings);
  std::vector<Weight> weights;
  std::set<std::string> used;
  std::vector<std::string> names;
  for (Found& found : places.Weights()) {
    names.push_back(found.name);
    const ge_value& v = *GE_VALUE(graph, found.first);
    if (IsFrozen(found.name, settings, &used)) continue;
    if (v.data == nullptr) {
      throw Refusal{GE_UNIMPLEMENTED,
                    "weight '" + found.name +
                        "' is one number repeated in more than "
                        "64 MiB, which a pass does not see; write it out, or name it "
                        "in freeze"};
    }
    Weight w{std::move(found), 0};
    w.state = MakeState(edit, w.name(), v.type, w.trained() ? GE_STATE_PARAM : GE_STATE_BUFFER,
                        v.data, v.data_bytes);
    if (settings.ema > 0 && w.trained()) {
      w.average = MakeState(edit, w.name() + ".ema", v.type, GE_STATE_BUFFER, v.data, v.data_bytes);
    }
    weights.push_back(std::move(w));
  }
  for (const std::string& pattern : settings.freeze) {
    if (used.count(pattern) == 0) {
      throw Refusal{
          GE_INVALID_ARGUMENT,
          "freeze '" + pattern + "' fits no weight of the model; it has " + FirstOf(names)};
    }
  }
  TellApart(edit, places.apart());
  const bool any = std::any_of(weights.begin(), weights.end(), [](auto& w) { return w.trained(); });
  if (any) return weights;
  throw Refusal{
      GE_INVALID_ARGUMENT,
      "there is nothing to train: the entry reads no float initializer with an axis that is "
      "not frozen (numbers of nodes Constant and buffers are no weights)"};
}

Val ReadWeight(Fn& fn, const ge_graph* graph, const Weight& weight, uint32_t state) {
  const ge_edit* e = fn.edit();
  const Val read = ReadState(fn, state, graph->n_node > 0 ? GE_NODE(graph, 0)->id : 0);
  if (weight.found.everywhere) {
    e->replace_uses(e->host, fn.id(), weight.found.value, read.id);
    return read;
  }
  for (const Operand& p : weight.found.places) {
    e->set_input(e->host, fn.id(), GE_NODE(graph, p.node)->id, p.input, read.id);
  }
  return read;
}

}  // namespace ge::grad
