#include "passes/fold/payload_part.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace ge {
namespace {

// The integers of a constant input; nullopt where the slot holds none. Empty where it is left out.
std::optional<std::vector<int64_t>> Integers(const Graph& g, const Function& f, const Node& n,
                                             size_t slot) {
  std::vector<int64_t> out;
  if (slot >= n.inputs.size() || n.inputs[slot] == 0) return out;
  const Value& v = f.value(n.inputs[slot]);
  if (v.constant == 0 || !v.type.is_static()) return std::nullopt;
  const Const& c = g.consts[v.constant];
  const size_t element = c.type.dtype == DType::kInt64 ? 8 : c.type.dtype == DType::kInt32 ? 4 : 0;
  ConstScratch scratch;
  const std::byte* data = element > 0 ? ConstBytes(c, &scratch) : nullptr;
  if (data == nullptr) return std::nullopt;
  for (uint64_t at = 0; at + element <= c.bytes; at += element) {
    int64_t wide = 0;
    int32_t narrow = 0;
    if (element == 8) std::memcpy(&wide, data + at, 8);
    if (element == 4) std::memcpy(&narrow, data + at, 4);
    out.push_back(element == 8 ? wide : narrow);
  }
  return out;
}

// Where the result begins, an index for each axis; nullopt where it steps.
std::optional<std::vector<int64_t>> Begin(const Graph& g, const Function& f, const Node& n,
                                          const std::vector<int64_t>& dims) {
  const auto starts = Integers(g, f, n, 1), axes = Integers(g, f, n, 3),
             steps = Integers(g, f, n, 4);
  if (!starts || !axes || !steps) return std::nullopt;
  if (std::any_of(steps->begin(), steps->end(), [](int64_t s) { return s != 1; })) {
    return std::nullopt;
  }
  const auto rank = static_cast<int64_t>(dims.size());
  std::vector<int64_t> begin(dims.size(), 0);
  for (size_t i = 0; i < starts->size(); ++i) {
    int64_t axis = axes->empty() ? static_cast<int64_t>(i) : i < axes->size() ? (*axes)[i] : rank;
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank) return std::nullopt;
    const int64_t size = dims[axis], start = (*starts)[i];
    begin[axis] = std::clamp<int64_t>(start < 0 ? start + size : start, 0, size);
  }
  return begin;
}

}  // namespace

std::optional<Const> PayloadPart(const Graph& graph, const Function& function, const Node& n) {
  if (!n.domain.empty() || n.op != "Slice" || n.inputs.empty() || n.outputs.size() != 1) {
    return std::nullopt;
  }
  const Value& from = function.value(n.inputs[0]);
  const Type& type = function.value(n.outputs[0]).type;
  if (from.constant == 0 || !from.type.is_static() || !type.is_static()) return std::nullopt;
  const Const& c = graph.consts[from.constant];
  const int bits = DTypeBits(type.dtype);
  if (c.data == nullptr || c.owner == nullptr || bits % 8 != 0) return std::nullopt;
  const std::vector<int64_t> whole = from.type.static_dims(), part = type.static_dims();
  const auto begin = Begin(graph, function, n, whole);
  if (!begin || part.size() != whole.size()) return std::nullopt;
  // One piece: before the axis that is cut there is one index, behind it all of them.
  size_t cut = 0;
  while (cut < part.size() && part[cut] == 1) ++cut;
  int64_t offset = 0, stride = 1;  // elements
  for (size_t axis = part.size(); axis-- > 0;) {
    if (axis > cut && part[axis] != whole[axis]) return std::nullopt;
    if ((*begin)[axis] + part[axis] > whole[axis]) return std::nullopt;
    offset += (*begin)[axis] * stride;
    stride *= whole[axis];
  }
  const auto bytes = ByteCount(type);
  const auto at = static_cast<uint64_t>(offset) * static_cast<uint64_t>(bits / 8);
  if (!bytes || *bytes <= 0 || at + static_cast<uint64_t>(*bytes) > c.bytes) return std::nullopt;
  Const out;
  out.type = type;
  out.owner = c.owner;
  out.data = c.data + at;
  out.mapped = c.mapped;
  out.bytes = static_cast<uint64_t>(*bytes);
  return out;
}

}  // namespace ge
