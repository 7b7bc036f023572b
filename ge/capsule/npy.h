// NumPy's .npy form of an array: its header as bytes, and what a header says. Not a reader of
// files. Any thread may call. Format: numpy.lib.format, version 1 and 2.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ge/base/status.h"
#include "ge/ir/dtype.h"

namespace ge {

// A header's dictionary.
struct NpyDictionary {
  std::string descr;  // "<f4"
  std::vector<int64_t> dims;
};
// DATA_CORRUPT: no such dictionary, or an array in Fortran order. The message begins with "it" or
// "its", for the caller to name the file.
Result<NpyDictionary> ParseNpyDictionary(std::string_view text);

// The type of a descr of numbers in little-endian order; none for any other.
std::optional<DType> DTypeOfNpy(std::string_view descr);

// Everything in front of the data, in a multiple of 64 bytes. A type that NumPy has not goes as its
// bits: bf16 as u16, other types and packed ones as bytes, one dimension of them.
std::string NpyHead(DType dtype, std::span<const int64_t> dims, uint64_t bytes);

// An array in memory; its data follow the head. `head`: the size of that. DATA_CORRUPT as above.
struct NpyArray {
  NpyDictionary shape;
  size_t head = 0;
  std::span<const std::byte> data;
};
Result<NpyArray> ParseNpy(std::span<const std::byte> bytes);

}  // namespace ge
