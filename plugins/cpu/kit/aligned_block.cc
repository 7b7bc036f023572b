#include "plugins/cpu/kit/aligned_block.h"

#include <algorithm>
#include <cstdlib>
#include <new>

namespace ge_cpu {

AlignedBlock::AlignedBlock(uint64_t bytes) {
  if (bytes > UINT64_MAX / 2) throw std::bad_alloc();
  void* p = std::aligned_alloc(64, (std::max<uint64_t>(bytes, 1) + 63) / 64 * 64);
  if (p == nullptr) throw std::bad_alloc();
  data_ = std::shared_ptr<void>(p, [](void* block) { std::free(block); });
}

}  // namespace ge_cpu
