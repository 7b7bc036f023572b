// The header of NumPy's .npy form. A description of the format: numpy.lib.format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ge::data {

struct NpyHead {
  int32_t dtype = 0;
  std::vector<int64_t> dims;
  uint64_t bytes = 0;  // of the header: elements follow
  uint64_t data_bytes = 0;
};

// `what` names the array in refusals: GE_DATA_LOSS where `bytes` are not such an array whole,
// UNIMPLEMENTED where it is of another order or dtype.
NpyHead ReadNpyHead(const std::string& what, std::span<const std::byte> bytes);

}  // namespace ge::data
