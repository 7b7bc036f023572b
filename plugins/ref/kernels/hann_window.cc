#include "plugins/ref/kernels/signal_window.h"

namespace ref {
namespace {

std::unique_ptr<Prepared> PrepareHannWindow(const NodeView& n, Why* why) {
  return PrepareSignalWindow(n, {{0.5, 0.5, 0}}, why);
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(hann_window, "HannWindow", PrepareHannWindow)
