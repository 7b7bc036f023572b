#include "ge/control/strings.h"

namespace ge {
namespace {

// Of texts; numbers are the engines'.
Status RunGather(HostCall& c) {
  GE_ASSIGN_OR_RETURN(const auto* x, StringsAt(c, 0));
  const FlowDims& data = c.in(0).dims;
  const auto rank = static_cast<int64_t>(data.size());
  int64_t axis = AttrInt(c.node, "axis");
  if (axis < -rank || axis >= rank) {
    return Status(Code::kInvalidArgument,
                  fmt::format("attribute 'axis' is {}, wanted {} to {}", axis, -rank, rank - 1));
  }
  if (axis < 0) axis += rank;
  const auto at = static_cast<size_t>(axis);
  const int64_t size = data[at];
  std::vector<int64_t> indices = IntsOf(c.in(1));
  for (int64_t& i : indices) {
    if (i < -size || i >= size) {
      return Status(Code::kInvalidArgument,
                    fmt::format("input 'indices' holds {}, wanted {} to {}: axis {} has size {}", i,
                                -size, size - 1, axis, size));
    }
    if (i < 0) i += size;
  }
  std::vector<int64_t> dims(data.begin(), data.begin() + at);
  dims.insert(dims.end(), c.in(1).dims.begin(), c.in(1).dims.end());
  dims.insert(dims.end(), data.begin() + at + 1, data.end());
  const auto count = CheckedProduct(dims);
  if (!count || dims.size() > FlowDims::kMost) {
    return Status(Code::kLimitExceeded,
                  "the result has more elements than 63 bits count, or more "
                  "axes than a tensor may have");
  }
  GE_RETURN_IF_ERROR(c.pool->Room(static_cast<uint64_t>(*count) * sizeof(std::string)));
  std::vector<std::string> y;
  const int64_t outer = data.Product(0, at), inner = data.Product(at + 1, data.size());
  for (int64_t o = 0; o < outer; ++o) {
    for (const int64_t i : indices) {
      const auto from = x->begin() + (o * size + i) * inner;
      y.insert(y.end(), from, from + inner);
    }
  }
  return c.pool->NewStrings(dims, std::move(y), &c.outputs[0]);
}

}  // namespace

GE_HOST_OP(gather) = {"", "Gather", RunGather, true};

}  // namespace ge
