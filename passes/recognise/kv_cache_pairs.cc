#include "passes/recognise/kv_cache_pairs.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "ge/ir/walk.h"
#include "ge/ops/op.h"

namespace ge {
namespace {

using Perm = std::vector<int64_t>;

bool Is(const Node& n, std::string_view op) { return n.domain.empty() && n.op == op; }

const Node* Maker(const Function& f, const DefUse& d, ValueId v) {
  return d.producer[v] < 0 ? nullptr : &f.nodes[static_cast<size_t>(d.producer[v])];
}

// Goes from `v` to what Transposes and Identities made it of; axis k of `v` is axis (*perm)[k] of
// that.
ValueId Source(const Function& f, const DefUse& d, ValueId v, Perm* perm) {
  perm->resize(f.value(v).type.rank());
  std::iota(perm->begin(), perm->end(), 0);
  for (const Node* n = Maker(f, d, v); n != nullptr; n = Maker(f, d, v)) {
    if (Is(*n, "Transpose")) {
      const Perm& step = AttrInts(*n, "perm");
      if (step.size() != perm->size()) break;
      for (int64_t& axis : *perm) axis = step[static_cast<size_t>(axis)];
    } else if (!Is(*n, "Identity")) {
      break;
    }
    v = n->inputs[0];
  }
  return v;
}

std::optional<KvPair> PairAt(const Function& f, const DefUse& d, uint32_t result) {
  KvPair pair;
  pair.result = result;
  Perm back;
  pair.all = Source(f, d, f.results[result], &back);
  const Node* n = Maker(f, d, pair.all);
  if (n == nullptr || !Is(*n, "Concat") || n->inputs.size() != 2) return std::nullopt;
  const Type& type = f.value(pair.all).type;
  pair.before = n->inputs[0];
  pair.rows = n->inputs[1];
  pair.past = Source(f, d, pair.before, &pair.perm);
  const bool param = std::find(f.params.begin(), f.params.end(), pair.past) != f.params.end();
  if (!param || !type.ranked || pair.perm.size() != type.rank()) return std::nullopt;
  for (size_t k = 0; k < back.size(); ++k) {  // axis k of the result is axis k of the past
    if (pair.perm[static_cast<size_t>(back[k])] != static_cast<int64_t>(k)) return std::nullopt;
  }
  const int64_t axis = AttrInt(*n, "axis");
  pair.axis = static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(type.rank()) : axis);
  if (pair.axis >= type.rank()) return std::nullopt;
  const Type& past = f.value(pair.past).type;
  const Dim rows = past.dims[static_cast<size_t>(pair.perm[pair.axis])];
  return rows.known() ? std::nullopt : std::optional(pair);
}

}  // namespace

std::vector<KvPair> FindKvPairs(const Function& function) {
  const DefUse d = BuildDefUse(function);
  std::vector<KvPair> pairs;
  for (uint32_t r = 0; r < function.results.size(); ++r) {
    auto pair = PairAt(function, d, r);
    const bool again = pair && std::any_of(pairs.begin(), pairs.end(), [&](const KvPair& p) {
                         return p.past == pair->past || p.all == pair->all;
                       });
    if (pair && !again) pairs.push_back(*std::move(pair));
  }
  return pairs;
}

namespace {

Type Permuted(const Type& type, const Perm& perm) {
  Type out = type;
  for (size_t k = 0; k < perm.size(); ++k) out.dims[k] = type.dims[static_cast<size_t>(perm[k])];
  return out;
}

// The one other order in which the joined rows are read; empty where it is not one, or where
// something but their sizes is read as they are.
Perm OrderOfReaders(Transaction* t, FunctionId fn, const KvPair& pair) {
  Perm order;
  for (const Use& use : t->Readers(fn, pair.all)) {
    const Node& n = t->graph().fn(fn).nodes[use.node_index];
    if (Is(n, "Shape")) continue;
    if (!Is(n, "Transpose")) return {};
    const Perm& perm = AttrInts(n, "perm");
    if (t->IsResult(fn, n.outputs[0])) continue;  // put back for the caller
    if (perm.size() != pair.perm.size() || (!order.empty() && order != perm)) return {};
    order = perm;
  }
  return order;
}

void JoinInOrder(Transaction* t, FunctionId fn, const KvPair& pair, const Perm& order) {
  const Node concat = *t->Producer(fn, pair.all);
  auto type_of = [&](ValueId v) { return t->graph().fn(fn).value(v).type; };
  auto turned = [&](ValueId v, const Perm& perm, NodeId before) {
    return t->AddNode(fn, before, "", "Transpose", {v}, {{"perm", perm}},
                      {Permuted(type_of(v), perm)}, {&concat})[0];
  };
  Perm back(order.size());
  int64_t axis = 0;
  for (size_t k = 0; k < order.size(); ++k) {
    back[static_cast<size_t>(order[k])] = static_cast<int64_t>(k);
    if (order[k] == static_cast<int64_t>(pair.axis)) axis = static_cast<int64_t>(k);
  }
  const Type all = Permuted(type_of(pair.all), order);
  const ValueId before = turned(pair.before, order, concat.id),
                rows = turned(pair.rows, order, concat.id);
  const ValueId joined = t->AddNode(fn, concat.id, "", "Concat", {before, rows}, {{"axis", axis}},
                                    {all}, {&concat})[0];
  for (const Use& use : t->Readers(fn, pair.all)) {
    const Node n = t->graph().fn(fn).nodes[use.node_index];
    if (!Is(n, "Transpose") || t->IsResult(fn, n.outputs[0])) continue;
    t->ReplaceUses(fn, n.outputs[0], joined);
    t->Erase(fn, n.id);
  }
  t->ReplaceUses(fn, pair.all, turned(joined, back, concat.id));
  t->Erase(fn, concat.id);
}

}  // namespace

void JoinAsRead(Transaction* transaction, FunctionId fn) {
  for (const KvPair& pair : FindKvPairs(transaction->graph().fn(fn))) {
    const Perm order = OrderOfReaders(transaction, fn, pair);
    if (!order.empty()) JoinInOrder(transaction, fn, pair, order);
  }
  transaction->Commit();
}

}  // namespace ge
