// Memory of an engine's own: small packs, and copies of constants that lie where kernels cannot
// read them. Blocks of a MiB and more have pages of their own, which are given back when they go.
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
