// Copies of tensors from one layout into another, of elements of 1, 2, 4 or 8 bytes: for constants,
// simulators and what is rare. Engines have faster loops for what is not. Pure; any thread.
#pragma once

#include "plugins/units/layout.h"

namespace ge_engines {

// Copies a tensor of the same dims and size of elements; the two do not overlap, and need no
// alignment. The padding of `to` gets zeros.
void CopyLayout(const Layout& from, const void* x, const Layout& to, void* y);
// The same, but the padding stays as it is.
void CopyElements(const Layout& from, const void* x, const Layout& to, void* y);

}  // namespace ge_engines
