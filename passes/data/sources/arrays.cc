#include "passes/data/sources/arrays.h"

#include <fmt/format.h>

#include <cstring>

namespace ge::data {

void ArraySource::Add(Column column, int64_t rows, const std::byte* first, uint64_t stride) {
  if (!columns_.empty() && rows != rows_) {
    throw Refusal{GE_INVALID_ARGUMENT,
                  fmt::format("'{}': column '{}' has {} rows, column '{}' {}; they must be as many",
                              path_, columns_[0].name, rows_, column.name, rows)};
  }
  rows_ = rows;
  places_.push_back({first, stride, column.row_bytes()});
  columns_.push_back(std::move(column));
}

std::byte* ArraySource::Hold(uint64_t bytes) {
  return held_.emplace_back(std::make_unique_for_overwrite<std::byte[]>(bytes)).get();
}

void ArraySource::Read(size_t column, std::span<const int64_t> rows, std::byte* out) const {
  for (const auto& file : files_) file->Check();
  const Place p = places_[column];
  for (const int64_t row : rows) {
    std::memcpy(out, p.first + static_cast<uint64_t>(row) * p.stride, p.bytes);
    out += p.bytes;
  }
}

}  // namespace ge::data
