#include "plugins/device/sim/memory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

namespace ge_engines::device::sim {
namespace {

constexpr unsigned char kPoison = 0xFF;  // a NaN as f16, bf16, f32 and f64
constexpr unsigned char kGuard = 0xFB;
constexpr size_t kGuardBytes = 256;
// Of freed blocks kept to be found: what they take, and how many. Blocks of 2 KB between those that
// live break the heap up: 4,096 of them cost a process of many sessions 8 MB. Work for a block that
// was freed longer ago lies in no block, which is as wrong.
constexpr size_t kFreedBytes = size_t{64} << 20;
constexpr size_t kFreedBlocks = 256;

}  // namespace

Block::~Block() { std::free(data); }

size_t Block::taken() const { return sizeof(Block) + bytes + kGuardBytes; }

bool Block::GuardHolds() const {
  return std::all_of(data + bytes, data + bytes + kGuardBytes,
                     [](unsigned char byte) { return byte == kGuard; });
}

std::shared_ptr<Block> Memory::Add(int device, size_t bytes, size_t alignment,
                                   const std::string& owner) {
  if (bytes > SIZE_MAX - kGuardBytes - alignment) return nullptr;
  const size_t whole = (bytes + kGuardBytes + alignment - 1) / alignment * alignment;
  auto block = std::make_shared<Block>();
  block->data = static_cast<unsigned char*>(std::aligned_alloc(alignment, whole));
  if (block->data == nullptr) return nullptr;
  std::memset(block->data, kPoison, bytes);
  std::memset(block->data + bytes, kGuard, whole - bytes);
  block->number = next_++;
  block->device = device;
  block->bytes = bytes;
  block->name = block->pinned() ? "pinned block " : "block ";
  block->name += std::to_string(block->number);
  if (!block->pinned()) block->name += " of " + owner;
  blocks_[reinterpret_cast<uintptr_t>(block->data)] = block;
  return block;
}

void Memory::Free(const std::shared_ptr<Block>& block) {
  block->freed = true;
  std::memset(block->data, kPoison, block->bytes);
  block->shadow = Shadow();  // whoever uses it now is told that it is freed
  freed_.push_back(block);
  freed_bytes_ += block->taken();
  while (freed_bytes_ > kFreedBytes || freed_.size() > kFreedBlocks) {
    freed_bytes_ -= freed_.front()->taken();
    // Work in flight still holds the block itself.
    blocks_.erase(reinterpret_cast<uintptr_t>(freed_.front()->data));
    freed_.pop_front();
  }
}

std::shared_ptr<Block> Memory::Find(const void* address) const {
  const auto at = reinterpret_cast<uintptr_t>(address);
  auto next = blocks_.upper_bound(at);
  if (next == blocks_.begin()) return nullptr;
  const auto& block = std::prev(next)->second;
  return at < std::prev(next)->first + block->bytes + kGuardBytes ? block : nullptr;
}

}  // namespace ge_engines::device::sim
