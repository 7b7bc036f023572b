// Memory for what an engine packs: constants in the form in which its kernels read them. Blocks of
// some size lie one behind the other in large chunks on huge pages, which a run streams through up
// to 1.5 times as fast. A block owns its part; a chunk lives as long as one of its blocks.
// Thread-safe.
#pragma once

#include <cstdint>
#include <memory>

namespace ge_cpu {

class AlignedBlock {
 public:
  AlignedBlock() = default;
  // Aligned to 64 bytes, not initialised; throws std::bad_alloc.
  explicit AlignedBlock(uint64_t bytes);
  void* data() const { return data_.get(); }

 private:
  std::shared_ptr<void> data_;
};

}  // namespace ge_cpu
