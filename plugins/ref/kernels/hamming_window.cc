#include "plugins/ref/kernels/signal_window.h"

namespace ref {
namespace {

std::unique_ptr<Prepared> PrepareHammingWindow(const NodeView& n, Why* why) {
  return PrepareSignalWindow(n, {{25.0 / 46, 21.0 / 46, 0}}, why);
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(hamming_window, "HammingWindow", PrepareHammingWindow)
