// Arguments of kernels: each kernel takes one struct by value, which begins with Head and its
// places. The engine fills in addresses at a launch; the simulated vendor reads from the head what
// a launch touches.
#pragma once

#include "plugins/gpu/kernels/number.h"

namespace ge_engines::gpu {

// Memory that a kernel is given.
struct Place {
  void* data;
  uint64_t bytes;
};

struct Head {
  uint32_t places = 0;
  uint32_t reads = 0, writes = 0;  // bit k: place k
  uint32_t padding = 0;
  int64_t work = 0;  // threads, or rows of a team
};

template <int kPlaces>
struct Args {
  static constexpr int kMostPlaces = kPlaces;
  Head head;
  Place at[kPlaces] = {};
  Number of[kPlaces] = {};  // dtypes; of those that are float32 and of those that do not matter 0

  template <class T>
  GE_GPU_BODY const T* in(int k) const {
    return static_cast<const T*>(at[k].data);
  }
  template <class T>
  GE_GPU_BODY T* out(int k) const {
    return static_cast<T*>(at[k].data);
  }
  // Element i of float32, float16 or bfloat16.
  GE_GPU_BODY float Float(int k, int64_t i) const { return FloatAt(at[k].data, of[k], i); }
  GE_GPU_BODY void Store(int k, int64_t i, float v) const { StoreFloat(at[k].data, of[k], i, v); }
  // Element i of a tensor of int32 or int64.
  GE_GPU_BODY int64_t Index(int k, int64_t i) const {
    return of[k] == Number::kI64 ? in<int64_t>(k)[i] : in<int32_t>(k)[i];
  }
};

inline constexpr uint32_t kMostArgBytes = 4096;  // what every device takes

}  // namespace ge_engines::gpu
