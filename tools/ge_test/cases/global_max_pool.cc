#include "tools/ge_test/random_layers.h"

namespace ge::test {

GE_RANDOM_OP(global_max_pool) = {"GlobalMaxPool", GlobalPoolCase, 0, Error::kOfOutput};

}  // namespace ge::test
