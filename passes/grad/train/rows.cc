#include "passes/grad/train/rows.h"

#include <algorithm>

namespace ge::grad {
namespace {

// The node of this operator that makes the value, or null.
const ge_node* MakerOf(const ge_graph* g, uint32_t value, std::string_view op) {
  const uint32_t producer = GE_VALUE(g, value)->producer;
  if (value == 0 || producer == UINT32_MAX) return nullptr;
  const ge_node& n = *GE_NODE(g, producer);
  return plugin::IsOp(n, op) ? &n : nullptr;
}

bool IsZeros(const ge_graph* g, uint32_t value) {
  const ge_node* expand = MakerOf(g, value, "Expand");
  const ge_value& v = *GE_VALUE(g, expand != nullptr ? expand->in[0] : value);
  const auto* bytes = static_cast<const char*>(v.data);
  return bytes != nullptr && v.data_bytes > 0 &&
         std::all_of(bytes, bytes + v.data_bytes, [](char byte) { return byte == 0; });
}

}  // namespace

std::optional<RowGradient> RowsOf(Fn& fn, const ge_graph* graph, Val gradient) {
  const ge_node* scatter = MakerOf(graph, gradient.id, "ScatterND");
  if (scatter == nullptr || scatter->n_in != 3 || !IsZeros(graph, scatter->in[0])) return {};
  const ge_attr* how = ge_find_attr(scatter, "reduction");
  const ge_node* column = MakerOf(graph, scatter->in[1], "Unsqueeze");
  if (how == nullptr || plugin::View(how->s) != "add" || column == nullptr) return {};
  const Type indices = fn.TypeOf(fn.At(column->in[0])), places = fn.TypeOf(fn.At(scatter->in[1]));
  // One index a row, and not a path of several.
  if (places.rank < 1 || places.rank != indices.rank + 1 || !Is(places.dims.back(), 1)) return {};
  const bool floats = fn.TypeOf(gradient).dtype == GE_F32 || fn.TypeOf(gradient).dtype == GE_F64;
  if (!floats) return {};
  return RowGradient{fn.At(column->in[0]), fn.At(scatter->in[2])};
}

}  // namespace ge::grad
