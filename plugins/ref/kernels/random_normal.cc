#include "plugins/ref/kernels/philox.h"

GE_REF_KERNEL(random_normal, "RandomNormal", 7, ::ref::PrepareRandomNormal)
