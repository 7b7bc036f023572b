#include <fmt/format.h>

#include "ge/control/host_op.h"
#include "ge/ops/op.h"

namespace ge {
namespace {

Status RunOptional(HostCall& c) {
  if (c.has(0)) c.outputs[0] = c.in(0);
  return {};
}

}  // namespace

GE_HOST_OP(optional) = {"", "Optional", RunOptional};

}  // namespace ge
