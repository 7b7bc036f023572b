// What makes one source of two: kernels' bodies are compiled for the device by its compiler, and
// for the host by any, where the simulated vendor runs them. No body knows which it is.
#pragma once

#include <cmath>
#include <cstdint>

#if defined(__CUDACC__)
#define GE_GPU_BODY __host__ __device__ __forceinline__
#else
#define GE_GPU_BODY inline
#endif

namespace ge_engines::gpu {

// The upper 64 bits of a product.
GE_GPU_BODY uint64_t HighProduct(uint64_t left, uint64_t right) {
#if defined(__CUDA_ARCH__)
  return __umul64hi(left, right);
#else
  __extension__ using Wide = unsigned __int128;
  return static_cast<uint64_t>((static_cast<Wide>(left) * right) >> 64);
#endif
}

// Bits of one number as another of the same size.
template <class To, class From>
GE_GPU_BODY To BitsAs(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  __builtin_memcpy(&to, &from, sizeof to);
  return to;
}

#if !defined(__CUDACC__)
// Whether a body in this thread has refused what it read.
inline bool& Refused() {
  static thread_local bool refused = false;
  return refused;
}
#endif

// What was read must not be followed: an index beyond its axis, a division of integers by zero. No
// thread goes on; the launch fails and with it the device's context, as after any fault, so that
// the host runs the work elsewhere, where words are found for it.
GE_GPU_BODY void Refuse() {
#if defined(__CUDA_ARCH__)
  __trap();
#elif !defined(__CUDACC__)
  Refused() = true;
#endif
}

}  // namespace ge_engines::gpu
