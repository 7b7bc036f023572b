#include <fmt/format.h>

#include "ge/control/host_op.h"
#include "ge/ops/op.h"

namespace ge {
namespace {

// Both zeros of floating types are zero.
bool IsZero(const FlowValue& x, const std::byte* p, uint64_t each) {
  std::byte any{0};
  for (uint64_t b = 0; b < each; ++b) {
    const bool sign = b + 1 == each && IsFloat(x.dtype);
    any |= sign ? p[b] & std::byte{0x7f} : p[b];
  }
  return any == std::byte{0};
}

Status RunNonZero(HostCall& c) {
  const FlowValue& x = c.in(0);
  const auto each = static_cast<uint64_t>(DTypeBits(x.dtype) / 8);
  if (each == 0) {
    return Status(Code::kUnsupported, fmt::format("NonZero of {} is not run", Describe(x)));
  }
  const auto zero = [&](int64_t i) {
    return IsZero(x, x.data + static_cast<uint64_t>(i) * each, each);
  };
  const auto rank = static_cast<int64_t>(x.dims.size());
  int64_t found = 0;
  for (int64_t i = 0, n = x.count(); i < n; ++i) found += !zero(i);
  std::byte* to = nullptr;
  GE_RETURN_IF_ERROR(c.pool->NewTensor(DType::kInt64, {rank, found}, &c.outputs[0], &to));
  auto* y = reinterpret_cast<int64_t*>(to);
  for (int64_t i = 0, k = 0; k < found; ++i) {
    if (zero(i)) continue;
    int64_t rest = i;
    for (int64_t d = rank - 1; d >= 0; --d) {
      const int64_t size = x.dims[static_cast<size_t>(d)];
      y[d * found + k] = rest % size;
      rest /= size;
    }
    ++k;
  }
  return {};
}

}  // namespace

GE_HOST_OP(non_zero) = {"", "NonZero", RunNonZero};

}  // namespace ge
