#include "ge/compile/states/in_place_states.h"

#include <algorithm>

#include "ge/ir/walk.h"

namespace ge {
namespace {

bool Reads(const PlanSegment& s, PlanValueId v) {
  return std::find(s.inputs.begin(), s.inputs.end(), v) != s.inputs.end();
}

// Whether the segment may write its output `after` where each of its inputs `before` lies.
bool MayOverwrite(const PlanSegment& s, PlanValueId before, PlanValueId after) {
  const auto out = static_cast<uint32_t>(std::find(s.outputs.begin(), s.outputs.end(), after) -
                                         s.outputs.begin());
  for (uint32_t i = 0; i < s.inputs.size(); ++i) {
    if (s.inputs[i] != before) continue;
    const std::pair<uint32_t, uint32_t> pair{out, i};
    if (std::find(s.may_alias.begin(), s.may_alias.end(), pair) == s.may_alias.end()) return false;
  }
  return true;
}

// By value: how many segments and copies read it, and which segment gives it.
struct ValueUses {
  std::vector<uint32_t> readers;
  std::vector<const PlanSegment*> maker;
};
ValueUses UsesOf(const PlanFunction& f) {
  ValueUses uses{std::vector<uint32_t>(f.values.size()),
                 std::vector<const PlanSegment*>(f.values.size())};
  for (const PlanSegment& s : f.segments) {
    for (PlanValueId v : s.inputs) ++uses.readers[v];
    for (PlanValueId v : s.outputs) uses.maker[v] = &s;
  }
  for (const Instruction& in : f.code) {
    if (in.op == PlanOp::kCopy) ++uses.readers[in.src];
  }
  return uses;
}

struct Overwriting {
  PlanValueId before, after;
  const PlanSegment* segment;
};

// The node that appends to the state, which nobody else reads as it was; null where there is none.
const Node* AppendingNode(const Function& f, const DefUse& d, const StatePair& s) {
  const ValueId before = f.params[s.param], after = f.results[s.result];
  const int32_t maker = d.producer[after];
  if (maker < 0 || d.uses[before].size() != 1 || d.result_uses[before] != 0) return nullptr;
  const Node& n = f.nodes[static_cast<uint32_t>(maker)];
  return n.domain == "ge" && n.op == "KvAppend" && n.inputs[0] == before ? &n : nullptr;
}

// Says so of the segment of an appending node, which has to be all of it.
bool MarkAppending(const Node& node, PlanValueId before, PlanValueId after, PlanFunction* f) {
  for (PlanSegment& s : f->segments) {
    if (s.outputs.size() != 1 || s.outputs[0] != after) continue;
    s.appends = s.offers.size() == 1 && s.offers[0].nodes == std::vector<NodeId>{node.id} &&
                !s.inputs.empty() && s.inputs[0] == before && MayOverwrite(s, before, after);
    return s.appends;
  }
  return false;
}

// Whether nothing but the function's results is made of what the node gives.
bool GivesResultsAlone(const Node& n, const DefUse& d) {
  return std::all_of(n.outputs.begin(), n.outputs.end(), [&](ValueId v) {
    return v == 0 || (d.uses[v].empty() && d.result_uses[v] == 1);
  });
}

}  // namespace

std::vector<StatePair> PairStates(std::span<const StateId> in, std::span<const StateId> out,
                                  size_t params, size_t results) {
  std::vector<StatePair> pairs;
  for (size_t i = 0; i < in.size(); ++i) {
    const auto it = std::find(out.begin(), out.end(), in[i]);
    if (it == out.end()) continue;
    pairs.push_back({static_cast<uint32_t>(params + i),
                     static_cast<uint32_t>(results + static_cast<size_t>(it - out.begin())),
                     in[i]});
  }
  return pairs;
}

std::vector<StatePair> AllStates(std::span<const StateId> in, std::span<const StateId> out,
                                 size_t params, size_t results) {
  std::vector<StatePair> all;
  for (size_t i = 0; i < in.size(); ++i) {
    all.push_back({static_cast<uint32_t>(params + i), kNoPosition, in[i]});
  }
  for (size_t i = 0; i < out.size(); ++i) {
    const auto result = static_cast<uint32_t>(results + i);
    const auto read = std::find(in.begin(), in.end(), out[i]);
    if (read != in.end()) {
      all[static_cast<size_t>(read - in.begin())].result = result;
    } else {
      all.push_back({kNoPosition, result, out[i]});
    }
  }
  return all;
}

std::vector<uint32_t> OverwritingNodes(const Function& function, std::span<const StatePair> states,
                                       uint64_t least_bytes) {
  std::vector<uint32_t> nodes;
  if (states.empty()) return nodes;
  const DefUse d = BuildDefUse(function);
  for (const StatePair& s : states) {
    const ValueId before = function.params[s.param], after = function.results[s.result];
    const int32_t maker = d.producer[after];
    if (AppendingNode(function, d, s) != nullptr) {
      nodes.push_back(static_cast<uint32_t>(maker));
      continue;
    }
    const auto bytes = ByteCount(function.value(after).type);
    if (maker < 0 || !d.uses[after].empty() || d.result_uses[after] != 1 || !bytes ||
        static_cast<uint64_t>(*bytes) < least_bytes) {
      continue;
    }
    const Node& n = function.nodes[static_cast<uint32_t>(maker)];
    const bool reads = std::find(n.inputs.begin(), n.inputs.end(), before) != n.inputs.end();
    if (reads && GivesResultsAlone(n, d)) nodes.push_back(static_cast<uint32_t>(maker));
  }
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

void OverwriteInPlace(const Function& function, std::span<const StatePair> states,
                      uint64_t least_bytes, Plan* plan) {
  PlanFunction& f = plan->functions[0];
  if (states.empty()) return;
  const DefUse d = BuildDefUse(function);
  const ValueUses uses = UsesOf(f);
  std::vector<Overwriting> found;
  for (const StatePair& pair : states) {
    const PlanValueId before = f.inputs[pair.param], after = f.outputs[pair.result];
    PlanValue &old = f.values[before], &value = f.values[after];
    value.state = old.state = pair.state;
    const bool fits =
        value.bytes == old.bytes && value.domain == old.domain && value.layout == old.layout;
    const Node* appending = fits ? AppendingNode(function, d, pair) : nullptr;
    if (appending != nullptr && MarkAppending(*appending, before, after, &f)) {
      value.alias_of = before;
      continue;
    }
    const PlanSegment* s = uses.maker[after];
    if (!fits || static_cast<uint64_t>(value.bytes) < least_bytes || !s) continue;
    // It comes behind everything else, with all that it makes.
    const bool unread = std::all_of(s->outputs.begin(), s->outputs.end(),
                                    [&](PlanValueId v) { return uses.readers[v] == 0; });
    if (!unread) continue;
    if (s->infallible && Reads(*s, before) && MayOverwrite(*s, before, after)) {
      found.push_back({before, after, s});
    }
  }
  // What one of them overwrites no other may want to read: they come one after another.
  std::vector<Overwriting> kept;
  for (const Overwriting& o : found) {
    const bool apart = std::none_of(kept.begin(), kept.end(), [&](const Overwriting& k) {
      if (k.segment == o.segment) return false;
      return Reads(*k.segment, o.before) || Reads(*o.segment, k.before);
    });
    if (apart) kept.push_back(o);
  }
  for (const Overwriting& o : kept) f.values[o.after].alias_of = o.before;
}

}  // namespace ge
