#include "ge/session/compiled.h"

#include <cstdlib>

#include "ge/base/pages.h"

namespace ge {

void FreeAligned::operator()(void* p) const { std::free(p); }

AlignedBytes AllocateAligned(uint64_t bytes, uint64_t align) {
  if (align < 64) align = 64;
  if (bytes > UINT64_MAX - align) return nullptr;
  align = PageAlign(bytes, align);
  if (bytes > UINT64_MAX - align) return nullptr;
#if defined(__SANITIZE_ADDRESS__)
  // To the byte, so that an access beyond the last one is seen.
  void* exact = nullptr;
  if (posix_memalign(&exact, align, bytes > 0 ? bytes : 1) != 0) return nullptr;
  return AlignedBytes(static_cast<std::byte*>(exact));
#endif
  const uint64_t rounded = (bytes + align - 1) / align * align;
  AlignedBytes block(static_cast<std::byte*>(std::aligned_alloc(align, rounded ? rounded : align)));
  PreferHugePages(block.get(), bytes);
  return block;
}

Compiled::~Compiled() {
  free_frames_.clear();
  program_.reset();
  for (const OwnedExec& x : execs_) {
    const Engine& e = *(*engines_)[x.engine];
    if (x.exec && e.api().exec_destroy) e.api().exec_destroy(x.exec);
  }
}

Result<std::unique_ptr<Frame>> Compiled::TakeFrame() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!free_frames_.empty()) {
      auto frame = std::move(free_frames_.back());
      free_frames_.pop_back();
      return frame;
    }
    ++frames_made_;
    free_frames_.reserve(frames_made_);  // GiveFrame then never allocates
  }
  return program_->NewFrame();
}

void Compiled::GiveFrame(std::unique_ptr<Frame> frame) {
  std::lock_guard<std::mutex> lock(mutex_);
  free_frames_.push_back(std::move(frame));
}

uint64_t Compiled::BytesHeld() const {
  uint64_t arena = 0;
  for (int64_t b : check.arena_bytes) arena += static_cast<uint64_t>(b);
  std::lock_guard<std::mutex> lock(mutex_);
  return arena * (frames_made_ ? frames_made_ : 1) + packed_bytes + copied_constant_bytes +
         folded_bytes;
}

}  // namespace ge
