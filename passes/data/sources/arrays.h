// ArraySource: rows of arrays that lie in memory or in mapped files: idx, CIFAR, .npy, .npz.
#pragma once

#include <memory>
#include <vector>

#include "passes/data/sources/file.h"
#include "passes/data/sources/source.h"

namespace ge::data {

class ArraySource final : public Source {
 public:
  explicit ArraySource(std::string path) { path_ = std::move(path); }
  // `first`: the place of row 0, in a file of `files` or of `held`; rows are `stride` bytes apart.
  // All columns have the same rows: INVALID_ARGUMENT names the two that have not.
  void Add(Column column, int64_t rows, const std::byte* first, uint64_t stride);
  void Keep(std::shared_ptr<const MappedData> file) {
    Watch(file->path(), file->state());
    files_.push_back(std::move(file));
  }
  std::byte* Hold(uint64_t bytes);  // zeros
  void SetDigest(std::string digest) { digest_ = std::move(digest); }
  void Read(size_t column, std::span<const int64_t> rows, std::byte* out) const override;

 private:
  struct Place {
    const std::byte* first;
    uint64_t stride, bytes;
  };
  std::vector<Place> places_;  // by column
  std::vector<std::shared_ptr<const MappedData>> files_;
  std::vector<std::unique_ptr<std::byte[]>> held_;
};

}  // namespace ge::data
