#include "plugins/ref/kernels/signal_window.h"

namespace ref {
namespace {

std::unique_ptr<Prepared> PrepareBlackmanWindow(const NodeView& n, Why* why) {
  return PrepareSignalWindow(n, {{0.42, 0.5, 0.08}}, why);
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(blackman_window, "BlackmanWindow", PrepareBlackmanWindow)
