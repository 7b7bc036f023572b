#include "plugins/gpu/kernels/image.h"

#if defined(GE_GPU_IMAGE)
// The build's fat binary, as it lies in its file.
asm(".pushsection .rodata, \"a\"\n"
    ".balign 64\n"
    "ge_gpu_image:\n"
    ".incbin \"" GE_GPU_IMAGE
    "\"\n"
    ".popsection\n");
extern "C" const unsigned char ge_gpu_image[] __attribute__((visibility("hidden")));
#endif

namespace ge_engines::gpu {

#if defined(GE_GPU_IMAGE)
bool HasKernels() { return true; }
const void* KernelImage() { return ge_gpu_image; }
#else
bool HasKernels() { return false; }
const void* KernelImage() { return kNoKernelsImage; }
#endif

}  // namespace ge_engines::gpu
