#include <fmt/format.h>

#include "ge/control/host_op.h"
#include "ge/ops/op.h"

namespace ge {
namespace {

Status RunOptionalGetElement(HostCall& c) {
  if (!c.has(0) || c.in(0).kind == FlowValue::Kind::kNone) {
    return Status(Code::kInvalidArgument,
                  "the optional holds nothing; ask OptionalHasElement before");
  }
  c.outputs[0] = c.in(0);
  return {};
}

}  // namespace

GE_HOST_OP(optional_get_element) = {"", "OptionalGetElement", RunOptionalGetElement};

}  // namespace ge
