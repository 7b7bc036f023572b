#include "plugins/ref/kernels/variadic.h"

GE_REF_KERNEL(sum, "Sum", [](const NodeView& n, Why* why) { return PrepareSum(n, false, why); })
