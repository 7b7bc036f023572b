#include "plugins/units/tagged_layout.h"

#include <array>
#include <vector>

namespace ge_engines {
namespace {

constexpr size_t kLeastRank = 3;
constexpr int kBlocks[] = {0, 4, 8, 16};  // of LayoutTag::block; 0 = channels last

// A table, since records point into each other and outlive all programs.
struct TagTable {
  struct Entry {
    std::array<uint32_t, kMaxRank> perm{};
    uint32_t axis = 1, size = 0;
    ge_layout record{};
  };
  Entry entries[kMaxRank + 1][std::size(kBlocks)];

  TagTable() {
    for (uint32_t rank = kLeastRank; rank <= kMaxRank; ++rank) {
      for (size_t b = 0; b < std::size(kBlocks); ++b) {
        Entry& e = entries[rank][b];
        const bool last = kBlocks[b] == 0;
        for (uint32_t i = 0; i < rank; ++i) e.perm[i] = !last || i == 0 ? i : i + 1;
        if (last) e.perm[rank - 1] = 1;
        e.size = static_cast<uint32_t>(kBlocks[b]);
        e.record.h = GE_HDR(ge_layout, GE_TAG_LAYOUT);
        e.record.kind = last ? GE_LAYOUT_STRIDED : GE_LAYOUT_BLOCKED;
        e.record.n_perm = rank;
        e.record.perm = e.perm.data();
        e.record.n_block = last ? 0 : 1;
        e.record.block_axis = &e.axis;
        e.record.block_size = &e.size;
      }
    }
  }
};

// The axes of a channels-last tensor, outermost first.
std::vector<uint32_t> LastOrder(size_t rank) {
  std::vector<uint32_t> perm = {0};
  for (uint32_t i = 2; i < rank; ++i) perm.push_back(i);
  perm.push_back(1);
  return perm;
}

}  // namespace

const ge_layout* TaggedLayout(const LayoutTag& tag, size_t rank) {
  static const TagTable table;
  if (tag.plain() || rank < kLeastRank || rank > kMaxRank) return nullptr;
  for (size_t b = 0; b < std::size(kBlocks); ++b) {
    if (tag.last == (kBlocks[b] == 0) && tag.block == kBlocks[b]) {
      return &table.entries[rank][b].record;
    }
  }
  return nullptr;
}

std::optional<LayoutTag> LayoutTagOf(const ge_layout& layout, size_t rank) {
  if (rank < 3 || layout.n_perm != rank) return std::nullopt;
  const std::vector<uint32_t> perm(layout.perm, layout.perm + layout.n_perm);
  if (layout.kind == GE_LAYOUT_STRIDED && perm == LastOrder(rank)) return LayoutTag{0, true};
  if (layout.kind != GE_LAYOUT_BLOCKED || layout.n_block != 1 || layout.block_axis[0] != 1) {
    return std::nullopt;
  }
  for (uint32_t i = 0; i < rank; ++i) {
    if (perm[i] != i) return std::nullopt;
  }
  const uint32_t block = layout.block_size[0];
  return block == 4 || block == 8 || block == 16
             ? std::optional(LayoutTag{static_cast<int>(block), false})
             : std::nullopt;
}

}  // namespace ge_engines
