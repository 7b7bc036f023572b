// What the operators on pictures keep between calls: a column of an open source. Attributes:
// source, column, digest.
#pragma once

#include "passes/data/ops/source_column.h"
#include "passes/data/pictures/picture.h"

namespace ge::data {

// `*kept` is a PictureColumn.
ge_rc OpenPictures(const ge_node* n, const ge_host_api*, void** kept, ge_err* err);
void ClosePictures(void* kept);
inline const PictureColumn& KeptPictures(const ge_kernel_call& c) {
  return *static_cast<const PictureColumn*>(c.kept);
}

// Row `i` of an input of [n, count], or of [1, count] for all rows; none where it is omitted.
const int64_t* RowOf(const ge_buf& b, int64_t count, uint64_t i, uint64_t n, std::string_view op);

// Sets output 0: [rows of input `of`, count] of i64.
void InferNumbers(const ge_infer* c, uint32_t of, int64_t count, std::string_view op);

// Sizes of pictures, at most: products of two of them fit.
inline constexpr int64_t kMostSize = int64_t{1} << 30;
// A picture's height and width when its shorter side is brought to `shorter`; 0: as they are.
std::array<int64_t, 2> ShorterSide(int64_t height, int64_t width, int64_t shorter);

}  // namespace ge::data
