// TextStream: the texts of a column as one stream of bytes, each text ended by a line end, so that
// lines of a file are that file again. Any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "passes/data/sources/source.h"

namespace ge::data {

class TextStream {
 public:
  // Looks at the size of each text: 8 bytes a row are kept.
  TextStream(std::shared_ptr<const Source> source, size_t column, const OpenOptions& options);
  int64_t bytes() const { return ends_.empty() ? 0 : ends_.back(); }
  // Bytes [at, at + n) as numbers of 0 to 255; they must be there.
  void Read(int64_t at, int64_t n, int64_t* out) const;

 private:
  std::shared_ptr<const Source> source_;
  size_t column_;
  std::vector<int64_t> ends_;  // by row
};

}  // namespace ge::data
