#include "passes/data/tokens/byte_stream.h"

#include <algorithm>

namespace ge::data {

ByteStream::ByteStream(std::shared_ptr<const Source> source, size_t column,
                       const OpenOptions& options)
    : source_(std::move(source)), column_(column) {
  ends_.reserve(static_cast<size_t>(source_->rows()));
  int64_t at = 0;
  for (int64_t row = 0; row < source_->rows(); ++row) {
    if (row % 1024 == 0) CheckStop(options);
    at += static_cast<int64_t>(source_->ReadBlob(column_, row).bytes.size()) + 1;
    ends_.push_back(at);
  }
}

void ByteStream::Read(int64_t at, int64_t n, int64_t* out) const {
  auto row = static_cast<size_t>(std::upper_bound(ends_.begin(), ends_.end(), at) - ends_.begin());
  for (; n > 0; ++row) {
    const Blob blob = source_->ReadBlob(column_, static_cast<int64_t>(row));
    const int64_t first = row == 0 ? 0 : ends_[row - 1];
    const auto size = static_cast<int64_t>(blob.bytes.size());
    if (size + 1 != ends_[row] - first) {
      throw Refusal{GE_DATA_LOSS, source_->NameOfRow(static_cast<int64_t>(row)) +
                                      " is of another length than when it was opened"};
    }
    for (int64_t i = at - first; i <= size && n > 0; ++i, --n) {
      *out++ = i == size ? '\n' : std::to_integer<int64_t>(blob.bytes[static_cast<size_t>(i)]);
    }
    at = ends_[row];
  }
}

}  // namespace ge::data
