#include "tools/ge_test/random_elementwise.h"

namespace ge::test {

GE_RANDOM_OP(reduce_max) = {"ReduceMax", ReduceCase, 0, Error::kOfOutput};

}  // namespace ge::test
