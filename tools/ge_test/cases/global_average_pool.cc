#include "tools/ge_test/random_layers.h"

namespace ge::test {

GE_RANDOM_OP(global_average_pool) = {"GlobalAveragePool", GlobalPoolCase, 2e-6, Error::kOfTerms};

}  // namespace ge::test
