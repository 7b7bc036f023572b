#include "ge/ops/families/signal_window.h"

namespace ge {

// A raised cosine that does not reach 0: (25 - 21 cos(t)) / 46.
GE_OP(hamming_window) = SignalWindow("HammingWindow");

}  // namespace ge
