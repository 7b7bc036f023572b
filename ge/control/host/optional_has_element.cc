#include <fmt/format.h>

#include "ge/control/host_op.h"
#include "ge/ops/op.h"

namespace ge {
namespace {

Status RunOptionalHasElement(HostCall& c) {
  const bool has = c.has(0) && c.in(0).kind != FlowValue::Kind::kNone;
  std::byte* to = nullptr;
  GE_RETURN_IF_ERROR(c.pool->NewTensor(DType::kBool, FlowDims(), &c.outputs[0], &to));
  *to = static_cast<std::byte>(has ? 1 : 0);
  return {};
}

}  // namespace

GE_HOST_OP(optional_has_element) = {"", "OptionalHasElement", RunOptionalHasElement};

}  // namespace ge
