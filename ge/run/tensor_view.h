// TensorView: a caller's buffer with its dtype and dims. Owns nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "ge/ir/dtype.h"

namespace ge {

struct TensorView {  // of a caller's buffer
  DType dtype = DType::kUndefined;
  std::vector<int64_t> dims;
  void* data = nullptr;
  uint64_t bytes = 0;  // of an output: its capacity, then the bytes written
  // For an output: memory of AllocateAligned from an earlier run. A larger block replaces it where
  // a result needs one.
  bool owned = false;
};

}  // namespace ge
