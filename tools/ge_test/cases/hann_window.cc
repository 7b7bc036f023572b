#include "tools/ge_test/random/signal_window.h"

namespace ge::test {
namespace {

bool PlainHannWindow(const RandomCase& c, HostTensor* out) {
  return PlainSignalWindow(c, out, [](double u) {
    const double s = std::sin(M_PI * u);
    return s * s;
  });
}

}  // namespace

GE_RANDOM_OP(hann_window) = {"HannWindow", SignalWindowCase, 4e-6, Error::kOfOutput,
                             PlainHannWindow};

}  // namespace ge::test
