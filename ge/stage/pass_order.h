// Orders passes of several makers. Functions only; any thread.
#pragma once

#include "ge/base/status.h"
#include "ge/stage/pass.h"

namespace ge {

// Puts passes into an order that keeps each one's `before` and `after`, and otherwise the present
// one. INVALID_ARGUMENT where two have one name, or naming the circle where there is no such order.
Status OrderPasses(PassList* passes);

// Whether the pass states that it runs ahead of one of these.
bool RunsBefore(const Pass& pass, const PassList& others);

}  // namespace ge
