#include "passes/canonical/sink_constants.h"

#include <map>
#include <optional>

#include "ge/ops/control.h"
#include "ge/ops/defaults.h"

namespace ge {
namespace {

// Parameters of a callee that are inputs of the node, each handed on as it is.
struct Handed {
  size_t input = 0, param = 0, count = 0;
};

std::optional<Handed> HandedOn(const Node& n, const Function& callee) {
  const size_t inputs = n.inputs.size(), params = callee.params.size();
  if (n.domain.empty() && n.op == "If" && inputs == params + 1) return Handed{1, 0, params};
  if (n.domain == "ge" && n.op == "Call" && inputs == params) return Handed{0, 0, params};
  const bool loop = n.op == "Loop" || n.op == "Scan" || n.op == "SequenceMap";
  if (!n.domain.empty() || !loop) return std::nullopt;
  const auto captures = static_cast<size_t>(AttrInt(n, kCapturesAttr));
  if (captures > inputs || captures > params) return std::nullopt;
  return Handed{inputs - captures, params - captures, captures};
}

// What all calls of a function hand to its parameters, by position: a constant, or 0.
class Calls {
 public:
  explicit Calls(const Graph& g) : g_(g) {
    for (const Entry& e : g.entries) any_[e.fn] = true;
    for (const State& s : g.states) any_[s.init_fn] = true;
    for (const Function& f : g.functions) {
      for (const FunctionId other : {f.custom_jvp, f.custom_vjp, f.derived.of}) any_[other] = true;
      for (const Node& n : f.nodes) Add(f, n);
    }
  }

  // Null: anybody may call it with anything.
  const std::vector<ConstId>* Of(FunctionId fn) const {
    const auto it = handed_.find(fn);
    return it == handed_.end() || any_.count(fn) != 0 ? nullptr : &it->second;
  }

 private:
  void Add(const Function& f, const Node& n) {
    for (const Attr& a : n.attrs) {
      if (const auto* ref = std::get_if<FunctionRef>(&a.value)) any_[ref->id] = true;
    }
    for (const Callee& c : n.callees) {
      const auto handed = HandedOn(n, g_.fn(c.fn));
      if (!handed) {
        any_[c.fn] = true;
        continue;
      }
      std::vector<ConstId> now(g_.fn(c.fn).params.size(), 0);
      for (size_t i = 0; i < handed->count; ++i) {
        const ValueId v = n.inputs[handed->input + i];
        now[handed->param + i] = v != 0 ? f.value(v).constant : 0;
      }
      const auto [it, first] = handed_.try_emplace(c.fn, now);
      for (size_t i = 0; !first && i < now.size(); ++i) {
        if (it->second[i] != now[i]) it->second[i] = 0;
      }
    }
  }

  const Graph& g_;
  std::map<FunctionId, bool> any_;
  std::map<FunctionId, std::vector<ConstId>> handed_;
};

}  // namespace

Status SinkConstants::Run(Transaction& transaction, const PassContext&) {
  const Calls calls(transaction.graph());
  for (FunctionId fn = 1; fn < transaction.graph().functions.size(); ++fn) {
    const std::vector<ConstId>* handed = calls.Of(fn);
    if (handed == nullptr) continue;
    for (size_t i = 0; i < handed->size(); ++i) {
      const ValueId param = transaction.graph().fn(fn).params[i];
      if ((*handed)[i] == 0 || transaction.IsResult(fn, param) ||
          transaction.Readers(fn, param).empty())
        continue;
      transaction.ReplaceUses(fn, param, transaction.ShareConst(fn, (*handed)[i]));
    }
  }
  return {};
}

}  // namespace ge
