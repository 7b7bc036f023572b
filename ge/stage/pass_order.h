// The order in which passes of several makers run. Functions only; any thread.
#pragma once

#include "ge/base/status.h"
#include "ge/stage/pass.h"

namespace ge {

// Puts passes into an order that keeps what each says of `before` and `after`, and else the present
// one. INVALID_ARGUMENT where two have one name, or naming the circle where there is no such order.
Status OrderPasses(PassList* passes);

// Whether the pass says that it runs ahead of one of these.
bool RunsBefore(const Pass& pass, const PassList& others);

}  // namespace ge
