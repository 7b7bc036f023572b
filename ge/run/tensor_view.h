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
  uint64_t bytes = 0;  // of an output: its capacity, then what was written
  // Of an output: memory of AllocateAligned that came from an earlier run, and gives way to a
  // larger one where a result needs it.
  bool owned = false;
};

}  // namespace ge
