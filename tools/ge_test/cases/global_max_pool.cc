#include "tools/ge_test/oracle/windows.h"
#include "tools/ge_test/random/layers.h"

namespace ge::test {

namespace {

bool PlainGlobalMaxPool(const RandomCase& c, HostTensor* out) {
  return PlainGreatest(c, SpatialOf(c.inputs[0].tensor->dims), out);
}

}  // namespace

GE_RANDOM_OP(global_max_pool) = {"GlobalMaxPool", GlobalPoolCase, 0, Error::kOfElement,
                                 PlainGlobalMaxPool};

}  // namespace ge::test
