// AlignedBlock: an engine's own memory, for small packs and for copies of constants that kernels
// cannot read in place. Blocks of a MiB and more get their own pages and return them when freed.
// Thread-safe.
#pragma once

#include <cstdint>
#include <memory>

namespace ge_engines::cpu {

class AlignedBlock {
 public:
  AlignedBlock() = default;
  // Aligned to 64 bytes, not initialised; throws std::bad_alloc.
  explicit AlignedBlock(uint64_t bytes);
  void* data() const { return data_.get(); }

 private:
  std::shared_ptr<void> data_;
};

}  // namespace ge_engines::cpu
