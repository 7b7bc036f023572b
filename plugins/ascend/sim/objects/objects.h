// Objects: what stands behind the vendor's opaque tensors, scalars and arrays in the simulator.
// Plain values; they own nothing but their lists. Declarations alone.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "plugins/ascend/api/operators.h"

namespace ge_engines::ascend::acl {

struct Tensor {
  std::vector<int64_t> dims, strides;  // of the view, in elements
  int64_t offset = 0;                  // of its first element
  DataType type = kF32;
  Format format = kNd;
  std::vector<int64_t> storage;  // dims of the storage, in its format
  void* data = nullptr;          // where the storage begins
};

struct TensorList {
  std::vector<const Tensor*> tensors;
};

struct Scalar {
  DataType type = kF32;
  unsigned char bytes[8] = {};
  double value() const {
    const auto as = [this](auto number) {
      std::memcpy(&number, bytes, sizeof number);
      return static_cast<double>(number);
    };
    switch (type) {
      case kF64:
        return as(double{});
      case kI32:
        return as(int32_t{});
      case kI64:
        return as(int64_t{});
      case kBool:
        return bytes[0];
      default:
        return as(float{});
    }
  }
};

struct IntArray {
  std::vector<int64_t> values;
};

}  // namespace ge_engines::ascend::acl
