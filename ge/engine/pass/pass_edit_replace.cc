// What a DERIVE pass replaces: functions of entries, states; and the metadata that it adds.
#include <fmt/format.h>

#include <algorithm>

#include "ge/base/text/json_text.h"
#include "ge/engine/from_abi.h"
#include "ge/engine/pass/pass_edit.h"
#include "ge/engine/plugin/record.h"
#include "ge/ir/model_meta.h"

namespace ge {
namespace {

constexpr uint64_t kMostKey = 128, kMostMetadata = 16 << 20;
constexpr Touched kAll{Touched::Part::kModel, 0};

std::string EntryNames(const Graph& graph) {
  std::string out;
  for (const Entry& e : graph.entries) out += (out.empty() ? "" : ", ") + e.name;
  return out.empty() ? "none" : out;
}

// Whether a value of one type may be given where the other was: sizes do not count.
bool SameKind(const Type& a, const Type& b) {
  if (a.kind == TypeKind::kUnknown || b.kind == TypeKind::kUnknown) return true;
  if (a.kind != b.kind) return false;
  if (!a.is_tensor()) return true;
  return a.dtype == b.dtype && (!a.ranked || !b.ranked || a.rank() == b.rank());
}

// Functions that run when this one does.
std::set<FunctionId> RunBy(const Graph& graph, FunctionId fn) {
  std::set<FunctionId> seen{fn};
  std::vector<FunctionId> open{fn};
  while (!open.empty()) {
    const Function& f = graph.fn(open.back());
    open.pop_back();
    for (const Node& n : f.nodes) {
      for (const Callee& c : n.callees) {
        if (seen.insert(c.fn).second) open.push_back(c.fn);
      }
    }
  }
  return seen;
}

}  // namespace

void PassEdit::FillReplaceApi() {
  api_.replace_entry = [](void* h, ge_str name, uint32_t fn) {
    return Of(h).Edit(kAll, [&] { return Of(h).ReplaceEntry(name, fn); });
  };
  api_.replace_state = [](void* h, uint32_t state, const ge_state* given) {
    return Of(h).Edit(kAll, [&] { return Of(h).ReplaceState(state, given); });
  };
  api_.metadata = [](void* h, ge_str name, ge_str json) {
    return Of(h).Edit({}, [&] { return Of(h).AddMetadata(name, json); });
  };
}

Status PassEdit::ReplaceEntry(ge_str name, FunctionId fn) {
  GE_RETURN_IF_ERROR(WantDerive("replaces the function of an entry"));
  GE_RETURN_IF_ERROR(WantFunction(fn));
  const std::string text = TextOf(name, kMostKey);
  const auto& entries = graph().entries;
  const auto found =
      std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.name == text; });
  if (found == entries.end()) {
    return NotLegal(fmt::format("there is no entry '{}' to replace; the entries are {}", text,
                                EntryNames(graph())));
  }
  if (undo_) former_.clear();  // of a call without memory
  former_.emplace(static_cast<size_t>(found - entries.begin()), found->fn);
  t_.ReplaceEntry(static_cast<size_t>(found - entries.begin()), fn);
  return undo_ ? CheckReplacedNow() : Status();
}

Status PassEdit::ReplaceState(StateId state, const ge_state* given) {
  GE_RETURN_IF_ERROR(WantDerive("replaces a state"));
  if (state == 0 || state >= graph().states.size()) {
    return NotLegal(
        fmt::format("there is no state {}; they are 1 to {}", state, graph().states.size() - 1));
  }
  if (!given) return NotLegal("a state is given as NULL");
  GE_ASSIGN_OR_RETURN(const ge_state r, ReadRecord(given, "a state"));
  GE_ASSIGN_OR_RETURN(Type type, StaticTypeFromAbi(r.type));
  const State& old = graph().states[state];
  if (!SameKind(type, old.type)) {
    return NotLegal(fmt::format(
        "state '{}' is {} and is replaced by one of {}; dtype and rank "
        "stay, sizes alone may be others",
        old.name, TypeToString(old.type, graph().dims), TypeToString(type, graph().dims)));
  }
  ConstId init = 0;
  if (r.init_fn) {
    GE_RETURN_IF_ERROR(WantFunction(r.init_fn));
  } else {
    GE_ASSIGN_OR_RETURN(Const c, FirstContent(r, type, old.name));
    init = t_.mutable_graph()->AddConst(std::move(c));
  }
  if (undo_) replaced_states_.clear();
  replaced_states_.insert(state);
  t_.ReplaceState(state, std::move(type), init, r.init_fn);
  return undo_ ? CheckReplacedNow() : Status();
}

Status PassEdit::AddMetadata(ge_str name, ge_str json) {
  GE_RETURN_IF_ERROR(WantDerive("adds metadata"));
  const std::string key = TextOf(name);
  if (key.empty() || key.size() > kMostKey || IsOwnMeta(key)) {
    return NotLegal(
        fmt::format("metadata is named '{}'; wanted 1 to {} characters, not beginning "
                    "with ge.model. or ge.source_",
                    key.substr(0, kMostKey), kMostKey));
  }
  if (graph().meta.count(key) != 0) {
    return NotLegal(fmt::format("there is metadata '{}' already", key));
  }
  if (json.n > kMostMetadata) {
    return NotLegal(
        fmt::format("metadata '{}' has {} bytes; wanted at most {}", key, json.n, kMostMetadata));
  }
  std::string text = TextOf(json);
  if (const auto parsed = ParseJson(text); !parsed.ok()) {
    const bool ours = parsed.status().code() == Code::kResourceExhausted;
    return ours ? parsed.status()
                : NotLegal(
                      fmt::format("metadata '{}' is no JSON: {}", key, parsed.status().message()));
  }
  t_.AddMeta(key, std::move(text));
  return {};
}

// Values of the entry's former function and of its present one, by position.
Status PassEdit::WantSameSide(const Entry& entry, const char* side, const Function& old,
                              const std::vector<ValueId>& was, const std::vector<ValueId>& is) {
  const Function& now = graph().fn(entry.fn);
  const std::string what =
      fmt::format("entry '{}' is replaced by function '{}': it has", entry.name, now.name);
  if (was.size() != is.size()) {
    return NotLegal(
        fmt::format("{} {} {}s, wanted {} as before", what, is.size(), side, was.size()));
  }
  for (size_t i = 0; i < was.size(); ++i) {
    const Value &a = old.value(was[i]), &b = now.value(is[i]);
    if (a.name == b.name && SameKind(a.type, b.type)) continue;
    return NotLegal(
        fmt::format("{} {} '{}' of {} at place {}, wanted '{}' of {}; sizes alone may "
                    "be others",
                    what, side, b.name, TypeToString(b.type, graph().dims), i, a.name,
                    TypeToString(a.type, graph().dims)));
  }
  return {};
}

// The node's value of a replaced state: of the present type, and made by what knows of it.
Status PassEdit::WantPresentState(const Entry& entry, const Function& f, const Node& n) const {
  for (const Effect& e : n.effects) {
    if (e.kind != EffectKind::kState || replaced_states_.count(e.object) == 0) continue;
    const State& s = graph().states[e.object];
    const bool ours = n.domain == "ge" && (n.op == "Read" || n.op == "Assign");
    const std::vector<ValueId>& values = n.op == "Read" ? n.outputs : n.inputs;
    const Type* type = ours && values.size() == 1 ? &f.value(values[0]).type : nullptr;
    const bool known = type != nullptr && type->is_tensor() && type->is_static();
    if (known ? *type == s.type : f.id >= first_new_) continue;
    return NotLegal(fmt::format(
        "entry '{}' {} state '{}' as {}, and the pass has replaced it by one of {}; replace the "
        "entry, too, by a function that is made behind the state",
        entry.name, n.op == "Read" ? "reads" : "writes", s.name,
        type ? TypeToString(*type, graph().dims) : "it was", TypeToString(s.type, graph().dims)));
  }
  return {};
}

// Each call by itself: what it replaces is what stood there before it.
Status PassEdit::CheckReplacedNow() {
  const Status status = CheckReplaced();
  former_.clear();
  replaced_states_.clear();
  return status;
}

Status PassEdit::CheckReplaced() {
  for (const auto& [place, fn] : former_) {
    const Entry& entry = graph().entries[place];
    const Function &old = graph().fn(fn), &now = graph().fn(entry.fn);
    GE_RETURN_IF_ERROR(WantSameSide(entry, "input", old, old.params, now.params));
    GE_RETURN_IF_ERROR(WantSameSide(entry, "output", old, old.results, now.results));
  }
  if (replaced_states_.empty()) return {};
  for (const Entry& entry : graph().entries) {
    for (const FunctionId fn : RunBy(graph(), entry.fn)) {
      const Function& f = graph().fn(fn);
      for (const Node& n : f.nodes) GE_RETURN_IF_ERROR(WantPresentState(entry, f, n));
    }
  }
  return {};
}

}  // namespace ge
