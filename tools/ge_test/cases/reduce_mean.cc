#include "tools/ge_test/random_elementwise.h"

namespace ge::test {

GE_RANDOM_OP(reduce_mean) = {"ReduceMean", ReduceCase, 2e-6, Error::kOfTerms};

}  // namespace ge::test
