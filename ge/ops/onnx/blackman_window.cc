#include "ge/ops/families/signal_window.h"

namespace ge {

// Two cosines: 0.42 - 0.5 cos(t) + 0.08 cos(2t).
GE_OP(blackman_window) = SignalWindow("BlackmanWindow");

}  // namespace ge
