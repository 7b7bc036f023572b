#include "passes/grad/train/weights.h"

#include <algorithm>
#include <set>

#include "passes/grad/entry.h"

namespace ge::grad {
namespace {

// Values that BatchNormalization keeps its statistics in.
std::set<uint32_t> Statistics(const ge_graph* g) {
  std::set<uint32_t> found;
  for (uint32_t i = 0; i < g->n_node; ++i) {
    const ge_node& n = *GE_NODE(g, i);
    if (!plugin::IsOp(n, "BatchNormalization") || n.n_in < 5) continue;
    found.insert(n.in[3]), found.insert(n.in[4]);
  }
  return found;
}

bool IsTrainable(const ge_value& v) {
  int64_t n = 0;
  return (v.flags & GE_VALUE_CONSTANT) != 0 && v.name.n > 0 && v.n_user > 0 &&
         IsFloat(v.type.dtype) && v.type.rank > 0 && plugin::ElementCount(v.type, &n) && n > 0;
}

bool IsZero(const ge_value& v) {
  const auto* bytes = static_cast<const char*>(v.data);
  return bytes != nullptr &&
         std::all_of(bytes, bytes + v.data_bytes, [](char byte) { return byte == 0; });
}

// Whether a value goes nowhere but into the first state of recurrences, as it is or in parts.
bool OnlyBegins(const ge_graph* g, uint32_t id, int depth = 0) {
  static const std::set<std::string_view> cells = {"LSTM", "GRU", "RNN"},
                                          parts = {"Slice",   "Expand",   "Unsqueeze",
                                                   "Squeeze", "Identity", "Split",
                                                   "Gather",  "Reshape",  "Transpose"};
  constexpr uint32_t kFirstState = 5, kLastState = 6;  // initial_h and initial_c
  constexpr int kDeepest = 8;                          // of nodes that take parts
  const ge_value& v = *GE_VALUE(g, id);
  for (uint32_t u = 0; u < v.n_user; ++u) {
    const ge_node& n = *GE_NODE(g, v.user[u]);
    const bool cell = cells.count(plugin::View(n.op)) != 0;
    if (!cell && parts.count(plugin::View(n.op)) == 0) return false;
    for (uint32_t i = 0; i < n.n_in; ++i) {
      const bool fits = cell ? i >= kFirstState && i <= kLastState : i == 0;
      if (n.in[i] == id && !fits) return false;
    }
    for (uint32_t k = 0; !cell && k < n.n_out; ++k) {
      if (n.out[k] != 0 && (depth > kDeepest || !OnlyBegins(g, n.out[k], depth + 1))) return false;
    }
  }
  return (v.flags & GE_VALUE_OUTPUT) == 0;
}

bool IsFrozen(std::string_view name, const TrainSettings& s, std::set<std::string>* used) {
  bool frozen = false;
  for (const std::string& pattern : s.freeze) {
    if (!FitsPattern(name, pattern)) continue;
    frozen = true, used->insert(pattern);
  }
  return frozen;
}

}  // namespace

uint32_t MakeState(const ge_edit* e, const std::string& name, const ge_type& type, uint32_t kind,
                   const void* data, uint64_t bytes) {
  ge_state s{};
  s.h = GE_HDR(ge_state, GE_TAG_STATE);
  s.name = plugin::Str(name), s.type = type, s.kind = kind;
  s.data = data, s.data_bytes = bytes;
  s.flags = kind == GE_STATE_PARAM ? GE_STATE_TRAINABLE : 0;
  uint32_t state = 0;
  e->state(e->host, &s, &state);
  return state;
}

Val ReadState(Fn& fn, uint32_t state, uint32_t before) {
  return fn.At(ge_edit_state(fn.edit(), fn.id(), before, state, 0));
}

void AssignState(Fn& fn, uint32_t state, Val v) {
  ge_edit_state(fn.edit(), fn.id(), 0, state, v.id);
}

std::vector<Weight> MakeWeights(const ge_edit* e, const ge_graph* g, const TrainSettings& s) {
  const std::set<uint32_t> statistics = Statistics(g);
  std::vector<Weight> weights;
  std::set<std::string> used;
  for (uint32_t id = 1; id < g->n_value; ++id) {
    const ge_value& v = *GE_VALUE(g, id);
    const std::string name(plugin::View(v.name));
    if (!IsTrainable(v)) continue;
    // Exporters write the zeros that an LSTM begins with as a constant like any other.
    if (IsZero(v) && OnlyBegins(g, id)) continue;
    const bool trained = statistics.count(id) == 0;
    if (IsFrozen(name, s, &used)) continue;
    if (v.data == nullptr) {
      throw Refusal{GE_UNIMPLEMENTED,
                    "weight '" + name +
                        "' is one number repeated in more than "
                        "64 MiB, which a pass does not see; write it out, or name it "
                        "in freeze"};
    }
    if (!trained && v.n_user > 1) {
      throw Refusal{
          GE_INVALID_ARGUMENT,
          "'" + name + "' is a running statistic of BatchNormalization and is read " +
              std::to_string(v.n_user) +
              " times; give each reader one of its own (exporters write equal ones once), "
              "or name it in freeze"};
    }
    Weight w{id, name, 0, 0, trained};
    w.state = MakeState(e, name, v.type, trained ? GE_STATE_PARAM : GE_STATE_BUFFER, v.data,
                        v.data_bytes);
    if (s.ema > 0 && trained) {
      w.average = MakeState(e, name + ".ema", v.type, GE_STATE_BUFFER, v.data, v.data_bytes);
    }
    weights.push_back(w);
  }
  for (const std::string& pattern : s.freeze) {
    if (used.count(pattern) == 0) {
      throw Refusal{GE_INVALID_ARGUMENT, "freeze '" + pattern + "' fits no weight of the model"};
    }
  }
  const bool any = std::any_of(weights.begin(), weights.end(), [](auto& w) { return w.trained; });
  if (any) return weights;
  throw Refusal{GE_INVALID_ARGUMENT,
                "there is nothing to train: the entry reads no float weight that is not frozen"};
}

Val ReadWeight(Fn& fn, const Weight& w, uint32_t state, uint32_t first) {
  const Val read = ReadState(fn, state, first);
  fn.edit()->replace_uses(fn.edit()->host, fn.id(), w.value, read.id);
  return read;
}

}  // namespace ge::grad
