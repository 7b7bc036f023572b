#include "plugins/device/pageable.h"

#include <mutex>

namespace ge_engines::device {

void Blocks::Keep(void* block, uint64_t bytes, Home home) {
  const auto begin = reinterpret_cast<uintptr_t>(block);
  const std::unique_lock<std::shared_mutex> lock(mutex_);
  blocks_[begin] = {begin + bytes, home};
}

void Blocks::Forget(void* block) {
  const std::unique_lock<std::shared_mutex> lock(mutex_);
  blocks_.erase(reinterpret_cast<uintptr_t>(block));
}

std::optional<Home> Blocks::HomeOf(const void* address) const {
  const auto at = reinterpret_cast<uintptr_t>(address);
  const std::shared_lock<std::shared_mutex> lock(mutex_);
  auto it = blocks_.upper_bound(at);
  if (it == blocks_.begin()) return std::nullopt;
  --it;
  return at < it->second.end ? std::optional(it->second.home) : std::nullopt;
}

}  // namespace ge_engines::device
