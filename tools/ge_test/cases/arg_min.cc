#include "tools/ge_test/random/selections.h"

namespace ge::test {
namespace {

bool PlainArgMin(const RandomCase& c, HostTensor* out) { return PlainArg(c, false, out); }

}  // namespace

GE_RANDOM_OP(arg_min) = {"ArgMin", ArgCase, 0, Error::kOfElement, PlainArgMin};

}  // namespace ge::test
