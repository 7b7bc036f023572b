// The device's code: a fat binary in gpu.so, or, where the build had no compiler for it, a text
// that only the simulated vendor takes, which brings kernels of its own.
#pragma once

namespace ge_engines::gpu {

inline constexpr char kNoKernelsImage[] = "graphengine: built without kernels";

bool HasKernels();
const void* KernelImage();

}  // namespace ge_engines::gpu
