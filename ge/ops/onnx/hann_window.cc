#include "ge/ops/families/signal_window.h"

namespace ge {

// A raised cosine: (1 - cos(t)) / 2.
GE_OP(hann_window) = SignalWindow("HannWindow");

}  // namespace ge
