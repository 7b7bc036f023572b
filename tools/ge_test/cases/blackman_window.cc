#include "tools/ge_test/random/signal_window.h"

namespace ge::test {
namespace {

bool PlainBlackmanWindow(const RandomCase& c, HostTensor* out) {
  return PlainSignalWindow(c, out, [](double u) {
    const double c = std::cos(2 * M_PI * u);
    return 0.34 - 0.5 * c + 0.16 * c * c;
  });
}

}  // namespace

GE_RANDOM_OP(blackman_window) = {"BlackmanWindow", SignalWindowCase, 4e-6, Error::kOfOutput,
                                 PlainBlackmanWindow};

}  // namespace ge::test
