#include "plugins/ref/kernels/philox.h"

GE_REF_KERNEL(random_normal, "RandomNormal", ::ref::PrepareRandomNormal)
