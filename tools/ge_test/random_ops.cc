#include "tools/ge_test/tensor.h"
namespace ge::test {
int RunRandomOps(const SweepOptions&) { return 2; }
}
