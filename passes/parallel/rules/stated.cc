#include "passes/parallel/rules/stated.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "passes/parallel/mesh.h"

namespace ge::parallel {
namespace {

struct Stated {
  const ge_graph* g;
  const ge_node& n;
  int64_t shares;
  std::vector<Way> ways;
};

// The place that an axis stands for; nothing where the value has no such dim, or too few elements
// along it for every share to have some.
std::optional<int> PlaceOf(const Stated& s, uint32_t value, int32_t axis) {
  if (axis == GE_SHARD_WHOLE) return kWhole;
  if (axis == GE_SHARD_TERM) return kTerm;
  const std::vector<int64_t> dims = DimsOf(s.g, value);
  if (axis < 0 || axis >= static_cast<int32_t>(dims.size())) return std::nullopt;
  const Part last = ShareOf(dims[static_cast<size_t>(axis)], s.shares, s.shares - 1);
  return last.size == 0 ? std::nullopt : std::optional<int>(axis);
}

bool TakePlaces(const Stated& s, const uint32_t* values, const int32_t* axes, uint32_t n,
                std::vector<int>* to) {
  for (uint32_t i = 0; i < n; ++i) {
    const auto place = PlaceOf(s, values[i], axes[i]);
    if (!place) return false;
    to->push_back(*place);
  }
  return true;
}

ge_rc Take(void* to, const ge_shard* shard) {
  Stated& s = *static_cast<Stated*>(to);
  if (shard->n_in != s.n.n_in || shard->n_out != s.n.n_out || shard->partial > GE_SHARD_MIN) {
    return GE_OK;
  }
  Way way;
  if (!TakePlaces(s, s.n.in, shard->in_axis, shard->n_in, &way.in)) return GE_OK;
  if (!TakePlaces(s, s.n.out, shard->out_axis, shard->n_out, &way.out)) return GE_OK;
  constexpr int kTerms[] = {kWhole, kTerm, kMaxTerm, kMinTerm};  // by GE_SHARD_SUM ...
  if (shard->partial != 0) std::fill(way.out.begin(), way.out.end(), kTerms[shard->partial]);
  const bool splits =
      std::any_of(way.in.begin(), way.in.end(), [](int p) { return p >= 0 || p == kTerm; });
  if (splits) s.ways.push_back(std::move(way));
  return GE_OK;
}

}  // namespace

Split SplitOf(const ge_edit* edit, uint32_t fn, const ge_graph* graph, const ge_node& node,
              int64_t shares) {
  Split split = SplitOf(graph, node, shares);
  if (split.known || node.n_body > 0 || node.n_effect > 0) return split;
  Stated stated{graph, node, shares, {}};
  split.known = edit->shard(edit->host, fn, node.id, &stated, Take) == GE_OK;
  if (split.known) split.ways = std::move(stated.ways);
  return split;
}

}  // namespace ge::parallel
