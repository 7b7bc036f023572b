#include <fmt/format.h>

#include "ge/control/host_op.h"
#include "ge/ops/op.h"

namespace ge {
namespace {

Status RunIdentity(HostCall& c) {
  c.outputs[0] = c.in(0);
  return {};
}

}  // namespace

GE_HOST_OP(identity) = {"", "Identity", RunIdentity, true};

}  // namespace ge
