#include <fmt/format.h>

#include "ge/control/host_op.h"
#include "ge/control/strings.h"
#include "ge/ops/op.h"

namespace ge {
namespace {

Status RunEqual(HostCall& c) {
  GE_ASSIGN_OR_RETURN(const auto* x, StringsAt(c, 0));
  GE_ASSIGN_OR_RETURN(const auto* y, StringsAt(c, 1));
  GE_ASSIGN_OR_RETURN(const PairBroadcast pairs, PairBroadcast::Make(c.in(0).dims, c.in(1).dims));
  std::byte* to = nullptr;
  GE_RETURN_IF_ERROR(c.pool->NewTensor(DType::kBool, pairs.dims, &c.outputs[0], &to));
  for (int64_t k = 0, n = c.outputs[0].count(); k < n; ++k) {
    to[k] = static_cast<std::byte>((*x)[pairs.A(k)] == (*y)[pairs.B(k)]);
  }
  return {};
}

}  // namespace

GE_HOST_OP(equal) = {"", "Equal", RunEqual, true};

}  // namespace ge
