// The vendor's private formats, as looks at their storage and as bytes. Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "plugins/ascend/api/call.h"

namespace ge_engines::ascend::acl {

// Two looks, by strides, at the same elements of a tensor: plain, and in NC1HWC0.
struct Piece {
  Form plain, blocked;
};
// All of its elements: those of whole blocks, then those of the last block.
std::vector<Piece> PiecesOf(const Dims& dims, DataType type);
// The lanes of the last block that are nobody's; without dims where there are none.
Form PaddingOf(const Dims& dims, DataType type);

// A matrix of `rows` x `columns` elements of 2 or 4 bytes in FRACTAL_NZ, with zeros for padding.
// `transposed`: `from` holds its columns one behind the other.
// What the bytes depend on beside the matrix.
std::string FractalKey(bool transposed, int64_t rows, int64_t columns, uint64_t size);
void FillFractal(const void* from, bool transposed, int64_t rows, int64_t columns, uint64_t size,
                 void* to);

}  // namespace ge_engines::ascend::acl
