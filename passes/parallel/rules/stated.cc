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
  if (axis == kWhole) return kWhole;
  const std::vector<int64_t> dims = DimsOf(s.g, value);
  if (axis < 0 || axis >= static_cast<int32_t>(dims.size())) return std::nullopt;
  const Part last = ShareOf(dims[static_cast<size_t>(axis)], s.shares, s.shares - 1);
  return last.size == 0 ? std::nullopt : std::optional<int>(axis);
}

ge_rc Take(void* to, const ge_shard* shard) {
  Stated& s = *static_cast<Stated*>(to);
  if (shard->n_in != s.n.n_in || shard->n_out != s.n.n_out) return GE_OK;
  Way way;
  for (uint32_t i = 0; i < shard->n_in; ++i) {
    const auto place = PlaceOf(s, s.n.in[i], shard->in_axis[i]);
    if (!place) return GE_OK;
    way.in.push_back(*place);
  }
  for (uint32_t i = 0; i < shard->n_out; ++i) {
    const auto place = PlaceOf(s, s.n.out[i], shard->out_axis[i]);
    if (!place) return GE_OK;
    way.out.push_back(shard->partial != 0 ? kTerm : *place);
  }
  const bool splits = std::any_of(way.in.begin(), way.in.end(), [](int p) { return p >= 0; });
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
