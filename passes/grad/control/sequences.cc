// Sequences that a node Split stands behind. PyTorch's exporter writes x.chunk(3) as
// SplitToSequence and a SequenceAt for each part; where the parts are known, each is a Slice, which
// has a gradient.
#include <algorithm>
#include <cstdint>
#include <optional>

#include "passes/grad/kit.h"
#include "passes/grad/reverse.h"

namespace ge::grad {
namespace {

struct Part {
  int64_t from, to;
};

// Part `i` of an axis of `size` elements (-1 = not known); i < 0 counts from the end.
std::optional<Part> PartOf(const ge_graph* g, const ge_node& split, int64_t size, int64_t i) {
  const uint32_t by = split.n_in > 1 ? split.in[1] : 0;
  std::vector<int64_t> sizes = {1};
  if (by != 0) {
    if (!KnownInts(*GE_VALUE(g, by), &sizes) || sizes.empty()) return std::nullopt;
  }
  if (by == 0 || GE_VALUE(g, by)->type.rank == 0) {  // parts of one size; the last may be smaller
    const int64_t each = sizes[0];
    if (each < 1 || (i < 0 && size < 0)) return std::nullopt;
    if (i < 0) i += (size + each - 1) / each;
    if (i < 0 || i > INT64_MAX / each - 1 || (size >= 0 && i * each >= size)) return std::nullopt;
    return Part{i * each, (i + 1) * each};
  }
  const auto n = static_cast<int64_t>(sizes.size());
  if (i < 0) i += n;
  if (i < 0 || i >= n) return std::nullopt;
  Part part{0, 0};
  for (int64_t k = 0; k <= i; ++k) part = {part.to, part.to + sizes[static_cast<size_t>(k)]};
  return part;
}

}  // namespace

bool ResolveSequence(Reverse& reverse, const ge_graph* graph, const ge_node& n) {
  if (!plugin::IsOp(n, "SequenceAt") || n.n_in < 2 || n.n_out != 1 || n.out[0] == 0) return false;
  const uint32_t producer = GE_VALUE(graph, n.in[0])->producer;
  if (producer == UINT32_MAX) return false;
  const ge_node& split = *GE_NODE(graph, producer);
  if (!plugin::IsOp(split, "SplitToSequence")) return false;
  std::vector<int64_t> index;
  if (!KnownInts(*GE_VALUE(graph, n.in[1]), &index) || index.size() != 1) return false;
  const Type type = reverse.fn().TypeOf(reverse.fn().At(split.in[0]));
  if (type.rank < 1) return false;
  const ge_attr* a = ge_find_attr(&split, "axis");
  int64_t axis = a != nullptr ? a->i : 0;
  if (axis < 0) axis += type.rank;
  if (axis < 0 || axis >= type.rank) return false;
  const auto part = PartOf(graph, split, type.dims[static_cast<size_t>(axis)].value, index[0]);
  if (!part) return false;
  const ge_attr* keep = ge_find_attr(&split, "keepdims");
  const bool squeezed = (split.n_in < 2 || split.in[1] == 0) && keep != nullptr && keep->i == 0;
  reverse.fn().PutBefore(n.id);
  Val made = Slice(reverse.fn().At(split.in[0]), {part->from}, {part->to}, {axis});
  if (squeezed) made = Squeeze(made, {axis});
  reverse.fn().PutBefore(0);
  reverse.Supplant(n, {made});
  return true;
}

}  // namespace ge::grad
