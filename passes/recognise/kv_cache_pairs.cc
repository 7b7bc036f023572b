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
  pair.before = n->inputs[0], pair.rows = n->inputs[1];
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

std::vector<KvPair> FindKvPairs(const Function& f) {
  const DefUse d = BuildDefUse(f);
  std::vector<KvPair> pairs;
  for (uint32_t r = 0; r < f.results.size(); ++r) {
    auto pair = PairAt(f, d, r);
    const bool again = pair && std::any_of(pairs.begin(), pairs.end(), [&](const KvPair& p) {
                         return p.past == pair->past || p.all == pair->all;
                       });
    if (pair && !again) pairs.push_back(*std::move(pair));
  }
  return pairs;
}

}  // namespace ge
