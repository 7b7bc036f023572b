#include "tools/ge_test/random/signal_window.h"

namespace ge::test {
namespace {

bool PlainHammingWindow(const RandomCase& c, HostTensor* out) {
  return PlainSignalWindow(c, out, [](double u) {
    const double s = std::sin(M_PI * u);
    return 4.0 / 46 + 42.0 / 46 * s * s;
  });
}

}  // namespace

GE_RANDOM_OP(hamming_window) = {"HammingWindow", SignalWindowCase, 4e-6, Error::kOfOutput,
                                PlainHammingWindow};

}  // namespace ge::test
