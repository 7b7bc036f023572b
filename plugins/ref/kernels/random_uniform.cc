#include "plugins/ref/kernels/philox.h"

GE_REF_KERNEL(random_uniform, "RandomUniform", 7, ::ref::PrepareRandomUniform)
