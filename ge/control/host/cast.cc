#include "ge/control/string_cast.h"
#include "ge/ops/op.h"

namespace ge {
namespace {

Status RunCast(HostCall& c) { return CastStrings(c, static_cast<DType>(AttrInt(c.node, "to"))); }

}  // namespace

GE_HOST_OP(cast) = {"", "Cast", RunCast, true};

}  // namespace ge
