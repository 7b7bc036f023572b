#include "output_pool.h"

#include <algorithm>

namespace graphengine {
namespace {

constexpr uint64_t kLeastBytes = 64 << 10;  // below it malloc has the memory at hand
constexpr size_t kMostPieces = 16;

}  // namespace

void OutputPool::Begin() {
  std::lock_guard<std::mutex> lock(mutex_);
  most_ = std::min(std::max(most_, ++running_), kMostPieces);
}

void OutputPool::End() {
  std::lock_guard<std::mutex> lock(mutex_);
  --running_;
}

void OutputPool::Take(uint32_t output, uint64_t shapes, ge_tensor* tensor) {
  std::lock_guard<std::mutex> lock(mutex_);
  // The latest one may still lie in the processor's cache.
  for (auto piece = pieces_.rbegin(); piece != pieces_.rend(); ++piece) {
    if (piece->output != output || piece->shapes != shapes) continue;
    *tensor = piece->tensor;
    pieces_.erase(std::next(piece).base());
    return;
  }
}

void OutputPool::Put(uint32_t output, uint64_t shapes, ge_tensor* tensor) {
  if (tensor->bytes < kLeastBytes || !(tensor->flags & GE_TENSOR_ALLOCATED)) {
    ge_tensor_release(tensor);
    return;
  }
  std::lock_guard<std::mutex> lock(mutex_);
  const auto same = [output](const Piece& piece) { return piece.output == output; };
  if (static_cast<size_t>(std::count_if(pieces_.begin(), pieces_.end(), same)) >= most_) {
    const auto oldest = std::find_if(pieces_.begin(), pieces_.end(), same);
    ge_tensor_release(&oldest->tensor);
    pieces_.erase(oldest);
  }
  pieces_.push_back({output, shapes, *tensor});
}

void OutputPool::Clear() {
  std::lock_guard<std::mutex> lock(mutex_);
  for (Piece& piece : pieces_) ge_tensor_release(&piece.tensor);
  pieces_.clear();
}

uint64_t ShapesOf(const std::vector<ge_tensor>& inputs) {
  uint64_t out = 14695981039346656037u;  // FNV-1a, a dim at a time
  const auto add = [&out](uint64_t n) { out = (out ^ n) * 1099511628211u; };
  for (const ge_tensor& t : inputs) {
    add(static_cast<uint64_t>(t.rank));
    for (int32_t i = 0; i < t.rank; ++i) add(static_cast<uint64_t>(t.dims[i]));
  }
  return out;
}

}  // namespace graphengine
