#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "ge/control/host_op.h"
#include "ge/ops/op.h"

namespace ge {
namespace {

Status RunCompress(HostCall& c) {
  const FlowValue &x = c.in(0), &condition = c.in(1);
  const auto each = static_cast<int64_t>(DTypeBits(x.dtype) / 8);
  const auto rank = static_cast<int64_t>(x.dims.size());
  const bool flat = !HasAttr(c.node, "axis");
  int64_t axis = flat ? 0 : AttrInt(c.node, "axis");
  if (each == 0 || (!flat && (axis < -rank || axis >= rank))) {
    return Status(Code::kInvalidArgument,
                  fmt::format("the input is {}, wanted a tensor of numbers with the axis {}",
                              Describe(x), axis));
  }
  if (axis < 0) axis += rank;
  const auto at = static_cast<size_t>(axis);
  const int64_t outer = flat ? 1 : x.dims.Product(0, at);
  const int64_t length = flat ? x.count() : x.dims[at];
  const int64_t inner = each * (flat ? 1 : x.dims.Product(at + 1, x.dims.size()));
  const int64_t asked = std::min(length, condition.count());
  int64_t kept = 0;
  for (int64_t i = 0; i < asked; ++i) kept += condition.data[i] != std::byte{0};
  std::vector<int64_t> dims = {kept};
  if (!flat) {
    dims = x.dims.vector();
    dims[at] = kept;
  }
  std::byte* to = nullptr;
  GE_RETURN_IF_ERROR(c.pool->NewTensor(x.dtype, dims, &c.outputs[0], &to));
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t i = 0; i < asked; ++i) {
      if (condition.data[i] == std::byte{0}) continue;
      std::memcpy(to, x.data + (o * length + i) * inner, static_cast<size_t>(inner));
      to += inner;
    }
  }
  return {};
}

}  // namespace

GE_HOST_OP(compress) = {"", "Compress", RunCompress};

}  // namespace ge
