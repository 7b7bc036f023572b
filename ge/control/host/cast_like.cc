#include "ge/control/string_cast.h"

namespace ge {
namespace {

Status RunCastLike(HostCall& c) { return CastStrings(c, c.in(1).dtype); }

}  // namespace

GE_HOST_OP(cast_like) = {"", "CastLike", RunCastLike, true};

}  // namespace ge
