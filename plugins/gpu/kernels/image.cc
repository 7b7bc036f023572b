#include "plugins/gpu/kernels/image.h"

#if defined(GE_GPU_FATBIN)
// The build's fat binary, between these two.
extern "C" const unsigned char ge_gpu_fatbin[];
#endif

namespace ge_engines::gpu {

#if defined(GE_GPU_FATBIN)
bool HasKernels() { return true; }
const void* KernelImage() { return ge_gpu_fatbin; }
#else
bool HasKernels() { return false; }
const void* KernelImage() { return kNoKernelsImage; }
#endif

}  // namespace ge_engines::gpu
