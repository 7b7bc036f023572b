#include "plugins/ref/kernels/variadic.h"

GE_REF_KERNEL(mean, "Mean", [](const NodeView& n, Why* why) { return PrepareSum(n, true, why); })
