#include "tools/ge_test/random_elementwise.h"

namespace ge::test {

GE_RANDOM_OP(reduce_sum) = {"ReduceSum", ReduceCase, 4e-6, Error::kOfTerms};

}  // namespace ge::test
