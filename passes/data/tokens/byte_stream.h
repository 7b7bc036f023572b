// ByteStream: texts as tokens 0 to 255, each text ended by a line end, so that lines of a file are
// that file again. Any thread.
#pragma once

#include <vector>

#include "passes/data/tokens/token_stream.h"

namespace ge::data {

class ByteStream final : public TokenStream {
 public:
  // Looks at the size of each text: 8 bytes a row are kept.
  ByteStream(std::shared_ptr<const Source> source, size_t column, const OpenOptions& options);
  int64_t tokens() const override { return ends_.empty() ? 0 : ends_.back(); }
  void Read(int64_t at, int64_t n, int64_t* out) const override;

 private:
  std::shared_ptr<const Source> source_;
  size_t column_;
  std::vector<int64_t> ends_;  // by row
};

}  // namespace ge::data
