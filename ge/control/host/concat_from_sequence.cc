#include <fmt/format.h>

#include <cstring>

#include "ge/control/host_op.h"
#include "ge/control/sequence.h"
#include "ge/ops/op.h"

namespace ge {
namespace {

// Equal but along the axis, which is answered within [0, rank).
Result<size_t> CheckAlike(const std::vector<FlowValue>& elements, int64_t axis, bool fresh) {
  if (elements.empty()) {
    return Status(Code::kInvalidArgument, "the sequence is empty, wanted tensors to put together");
  }
  const FlowValue& first = elements[0];
  const auto rank = static_cast<int64_t>(first.dims.size()) + (fresh ? 1 : 0);
  if (axis < -rank || axis >= rank) {
    return Status(Code::kInvalidArgument,
                  fmt::format("attribute 'axis' is {}, wanted {} to {}", axis, -rank, rank - 1));
  }
  if (axis < 0) axis += rank;
  for (const FlowValue& v : elements) {
    bool alike = v.is_tensor() && v.dtype == first.dtype && v.dims.size() == first.dims.size() &&
                 (v.strings != nullptr || (v.data != nullptr && DTypeBits(v.dtype) >= 8));
    for (size_t d = 0; alike && d < v.dims.size(); ++d) {
      alike = v.dims[d] == first.dims[d] || (!fresh && static_cast<int64_t>(d) == axis);
    }
    if (!alike) {
      return Status(Code::kInvalidArgument,
                    fmt::format("an element is {}, the first one {}: they cannot be put together",
                                Describe(v), Describe(first)));
    }
  }
  return static_cast<size_t>(axis);
}

Status ConcatTexts(HostCall& c, const std::vector<FlowValue>& elements, size_t axis,
                   const std::vector<int64_t>& dims) {
  uint64_t count = 0;
  for (const FlowValue& v : elements) count += v.strings->size();
  GE_RETURN_IF_ERROR(c.pool->Room(count * sizeof(std::string)));
  std::vector<std::string> y;
  for (int64_t o = 0, outer = elements[0].dims.Product(0, axis); o < outer; ++o) {
    for (const FlowValue& v : elements) {
      const int64_t part = v.dims.Product(axis, v.dims.size());
      const auto from = v.strings->begin() + o * part;
      y.insert(y.end(), from, from + part);
    }
  }
  return c.pool->NewStrings(dims, std::move(y), &c.outputs[0]);
}

Status RunConcatFromSequence(HostCall& c) {
  GE_ASSIGN_OR_RETURN(const auto* elements, ElementsOf(c));
  const bool fresh = AttrInt(c.node, "new_axis") != 0;
  GE_ASSIGN_OR_RETURN(const size_t axis, CheckAlike(*elements, AttrInt(c.node, "axis"), fresh));
  const FlowValue& first = (*elements)[0];
  int64_t length = 0;
  for (const FlowValue& v : *elements) length += fresh ? 1 : v.dims[axis];
  std::vector<int64_t> dims = first.dims.vector();
  if (fresh) dims.insert(dims.begin() + static_cast<ptrdiff_t>(axis), 0);
  dims[axis] = length;
  if (first.strings) return ConcatTexts(c, *elements, axis, dims);
  std::byte* to = nullptr;
  GE_RETURN_IF_ERROR(c.pool->NewTensor(first.dtype, dims, &c.outputs[0], &to));
  const int64_t outer = first.dims.Product(0, axis), size = DTypeBits(first.dtype) / 8;
  for (int64_t o = 0; o < outer; ++o) {
    for (const FlowValue& v : *elements) {
      const auto part = static_cast<uint64_t>(v.dims.Product(axis, v.dims.size()) * size);
      if (part > 0) std::memcpy(to, v.data + static_cast<uint64_t>(o) * part, part);
      to += part;
    }
  }
  return {};
}

}  // namespace

GE_HOST_OP(concat_from_sequence) = {"", "ConcatFromSequence", RunConcatFromSequence};

}  // namespace ge
