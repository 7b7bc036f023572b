#include "passes/parallel/box_content.h"

#include <algorithm>
#include <cstring>

namespace ge::parallel {
namespace {

// A box of a dense tensor in bytes.
struct Strides {
  Strides(uint64_t bytes, const std::vector<int64_t>& dims, const std::vector<Part>& box)
      : row(dims.size()), mine(bytes) {
    uint64_t whole = bytes;
    for (size_t d = dims.size(); d-- > 0;) {
      row[d] = whole;
      first += static_cast<uint64_t>(box[d].first) * whole;
      whole *= static_cast<uint64_t>(dims[d]);
      mine *= static_cast<uint64_t>(box[d].size);
      if (box[d].size != dims[d]) run = std::max(run, d);
    }
    for (size_t d = 0; d < run; ++d) one_run = one_run && box[d].size == 1;
  }
  std::vector<uint64_t> row;  // of one index, by dim
  uint64_t first = 0, mine;   // where it begins, and how many it has
  size_t run = 0;             // dims behind it are taken in full
  bool one_run = true;        // its bytes lie in a row
};

// Copies it from dim `d` on. Answers the end of what it wrote.
char* CopyBox(const char* from, const Strides& s, const std::vector<Part>& box, size_t d,
              char* to) {
  from += static_cast<uint64_t>(box[d].first) * s.row[d];
  const auto size = static_cast<uint64_t>(box[d].size);
  if (d == s.run) {
    std::memcpy(to, from, size * s.row[d]);
    return to + size * s.row[d];
  }
  for (uint64_t i = 0; i < size; ++i) to = CopyBox(from + i * s.row[d], s, box, d + 1, to);
  return to;
}

}  // namespace

BoxContent::BoxContent(const char* whole, uint64_t bytes, const std::vector<int64_t>& dims,
                       const std::vector<Part>& box) {
  const Strides s(bytes, dims, box);
  size = s.mine;
  data = whole + (size == 0 ? 0 : s.first);
  if (s.one_run || size == 0) return;
  copy_.resize(size);
  CopyBox(whole, s, box, 0, copy_.data());
  data = copy_.data();
}

}  // namespace ge::parallel
