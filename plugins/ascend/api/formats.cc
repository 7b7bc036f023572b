#include "plugins/ascend/api/formats.h"

#include <cstring>

namespace ge_engines::ascend::acl {
namespace {

// `blocks` blocks of axis 1 from the first-th on, of which each has so many lanes from lane `lane`
// on; in a look at blocks, or at a plain tensor.
Form LookAt(const Dims& dims, DataType type, int64_t first, int64_t blocks, int64_t lane,
            int64_t lanes, bool blocked) {
  const int64_t pixels = Product(Dims(dims.begin() + 2, dims.end()));
  const int64_t all = CeilDiv(dims[1], kLanes);
  Form form;
  form.type = type;
  form.dims = {dims[0], blocks, lanes};
  if (blocked) {
    form.strides = {all * pixels * kLanes, pixels * kLanes, 1};
    form.offset = first * pixels * kLanes + lane;
    form.storage = {dims[0] * all * pixels * kLanes};
  } else {
    form.strides = {dims[1] * pixels, kLanes * pixels, pixels};
    form.offset = (first * kLanes + lane) * pixels;
    form.storage = {Product(dims)};
  }
  const Dims inner = StridesOf(Dims(dims.begin() + 2, dims.end()));
  for (size_t k = 2; k < dims.size(); ++k) {
    form.dims.push_back(dims[k]);
    form.strides.push_back(inner[k - 2] * (blocked ? kLanes : 1));
  }
  return form;
}

}  // namespace

std::vector<Piece> PiecesOf(const Dims& dims, DataType type) {
  std::vector<Piece> pieces;
  const int64_t whole = dims[1] / kLanes, rest = dims[1] % kLanes;
  const auto add = [&](int64_t first, int64_t blocks, int64_t lanes) {
    if (blocks == 0 || lanes == 0) return;
    pieces.push_back({LookAt(dims, type, first, blocks, 0, lanes, false),
                      LookAt(dims, type, first, blocks, 0, lanes, true)});
  };
  add(0, whole, kLanes);
  add(whole, 1, rest);
  return pieces;
}

Form PaddingOf(const Dims& dims, DataType type) {
  const int64_t whole = dims[1] / kLanes, rest = dims[1] % kLanes;
  return rest == 0 ? Form() : LookAt(dims, type, whole, 1, rest, kLanes - rest, true);
}

std::string FractalKey(bool transposed, int64_t rows, int64_t columns, uint64_t size) {
  return "FRACTAL_NZ of " + std::to_string(rows) + "x" + std::to_string(columns) + ", " +
         std::to_string(size) + " bytes" + (transposed ? ", of the transpose" : "");
}

void FillFractal(const void* from, bool transposed, int64_t rows, int64_t columns, uint64_t size,
                 void* to) {
  const int64_t down = CeilDiv(rows, kLanes) * kLanes;
  std::memset(to, 0, static_cast<size_t>(CeilDiv(columns, kLanes) * kLanes * down) * size);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      const int64_t at = transposed ? c * rows + r : r * columns + c;
      const int64_t place = (c / kLanes * down + r) * kLanes + c % kLanes;
      std::memcpy(static_cast<char*>(to) + static_cast<uint64_t>(place) * size,
                  static_cast<const char*>(from) + static_cast<uint64_t>(at) * size, size);
    }
  }
}

}  // namespace ge_engines::ascend::acl
