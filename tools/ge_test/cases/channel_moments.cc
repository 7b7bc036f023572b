#include "tools/ge_test/random/gradients.h"

namespace ge::test {
namespace {

void ChannelMomentsCase(CaseMaker& m) {
  m.c.terms = ProductOf(AddChannels(m));
  m.c.outputs = 2;
}

bool PlainMean(const RandomCase& c, HostTensor* out) {
  SetElements(PlainMoments(*c.inputs[0].tensor).mean, out);
  return true;
}
bool PlainVariance(const RandomCase& c, size_t, HostTensor* out) {
  SetElements(PlainMoments(*c.inputs[0].tensor).variance, out);
  return true;
}

}  // namespace

GE_RANDOM_OP(channel_moments) = {"ge.ChannelMoments", ChannelMomentsCase, 4e-6,
                                 Error::kOfTerms,     PlainMean,          PlainVariance};

}  // namespace ge::test
