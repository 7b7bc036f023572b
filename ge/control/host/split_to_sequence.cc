#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "ge/control/host_op.h"
#include "ge/control/sequence.h"
#include "ge/ops/op.h"

namespace ge {
namespace {

constexpr uint64_t kAlign = 64;  // bytes, of each part

Result<std::vector<int64_t>> SizesOf(const HostCall& c, int64_t whole) {
  if (!c.has(1)) return std::vector<int64_t>(static_cast<size_t>(whole), 1);
  std::vector<int64_t> sizes = IntsOf(c.in(1));
  if (c.in(1).dims.empty()) {
    const int64_t each = sizes[0];
    if (each < 1) {
      return Status(Code::kInvalidArgument,
                    fmt::format("input 'split' is {}, wanted at least 1", each));
    }
    sizes.clear();
    for (int64_t left = whole; left > 0; left -= each) sizes.push_back(std::min(each, left));
    return sizes;
  }
  int64_t sum = 0;
  for (const int64_t n : sizes) {
    if (n < 0 || n > whole - sum) sum = whole + 1;  // wrong, and no overflow
    if (sum <= whole) sum += n;
  }
  if (sum != whole) {
    return Status(Code::kInvalidArgument,
                  fmt::format("input 'split' is [{}], wanted sizes of 0 or more whose sum is {}",
                              fmt::join(sizes, ","), whole));
  }
  return sizes;
}

Status SplitTexts(HostCall& c, size_t axis, const std::vector<int64_t>& sizes, bool drop) {
  const FlowValue& x = c.in(0);
  const int64_t outer = x.dims.Product(0, axis), whole = x.dims[axis];
  const int64_t inner = x.dims.Product(axis + 1, x.dims.size());
  GE_RETURN_IF_ERROR(c.pool->Room(sizes.size() * sizeof(FlowValue) + BytesOf(*x.strings)));
  std::vector<FlowValue> parts;
  int64_t begin = 0;
  for (const int64_t n : sizes) {
    FlowDims dims = x.dims;
    dims[axis] = n;
    if (drop) dims.Erase(axis);
    std::vector<std::string> texts;
    for (int64_t o = 0; o < outer; ++o) {
      const auto from = x.strings->begin() + (o * whole + begin) * inner;
      texts.insert(texts.end(), from, from + n * inner);
    }
    GE_RETURN_IF_ERROR(c.pool->NewStrings(dims, std::move(texts), &parts.emplace_back()));
    begin += n;
  }
  return c.pool->NewSequence(x.dtype, std::move(parts), &c.outputs[0]);
}

Status RunSplitToSequence(HostCall& c) {
  const FlowValue& x = c.in(0);
  const auto rank = static_cast<int64_t>(x.dims.size());
  int64_t axis = AttrInt(c.node, "axis");
  if (axis < -rank || axis >= rank || (!x.strings && DTypeBits(x.dtype) < 8)) {
    return Status(
        Code::kInvalidArgument,
        fmt::format("the input is {}, wanted a tensor with the axis {}", Describe(x), axis));
  }
  const auto at = static_cast<size_t>(axis < 0 ? axis + rank : axis);
  // As many parts as the axis is long, at most.
  GE_RETURN_IF_ERROR(c.pool->Room(static_cast<uint64_t>(x.dims[at]) * sizeof(int64_t)));
  GE_ASSIGN_OR_RETURN(const auto sizes, SizesOf(c, x.dims[at]));
  const bool drop = !c.has(1) && AttrInt(c.node, "keepdims") == 0;
  if (x.strings) return SplitTexts(c, at, sizes, drop);
  const int64_t outer = x.dims.Product(0, at), whole = x.dims[at];
  const int64_t inner = x.dims.Product(at + 1, x.dims.size()) * (DTypeBits(x.dtype) / 8);
  // The parts are small and many: they share one block, each at an address that suits engines.
  const auto room = [&](int64_t n) {
    return (static_cast<uint64_t>(n * inner * outer) + kAlign - 1) / kAlign * kAlign;
  };
  uint64_t total = 0;
  for (const int64_t n : sizes) total += room(n);
  GE_RETURN_IF_ERROR(c.pool->Room(sizes.size() * sizeof(FlowValue) + total));
  GE_ASSIGN_OR_RETURN(const auto block, c.pool->Get(total));
  std::vector<FlowValue> parts;
  parts.reserve(sizes.size());
  std::byte* to = block->data();
  int64_t begin = 0;
  for (const int64_t n : sizes) {
    FlowValue& part = parts.emplace_back();
    part.kind = FlowValue::Kind::kTensor;
    part.dtype = x.dtype;
    part.dims = x.dims;
    part.dims[at] = n;
    if (drop) part.dims.Erase(at);
    const auto row = static_cast<uint64_t>(n * inner);
    part.data = to;
    part.bytes = row * static_cast<uint64_t>(outer);
    part.owner = block;
    for (int64_t o = 0; row > 0 && o < outer; ++o) {
      std::memcpy(to + static_cast<uint64_t>(o) * row, x.data + (o * whole + begin) * inner, row);
    }
    to += room(n);
    begin += n;
  }
  return c.pool->NewSequence(x.dtype, std::move(parts), &c.outputs[0]);
}

}  // namespace

GE_HOST_OP(split_to_sequence) = {"", "SplitToSequence", RunSplitToSequence};

}  // namespace ge
