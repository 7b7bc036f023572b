#include "tools/ge_test/random/selections.h"

namespace ge::test {
namespace {

bool PlainArgMax(const RandomCase& c, HostTensor* out) { return PlainArg(c, true, out); }

}  // namespace

GE_RANDOM_OP(arg_max) = {"ArgMax", ArgCase, 0, Error::kOfElement, PlainArgMax};

}  // namespace ge::test
