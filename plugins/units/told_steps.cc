#include "plugins/units/told_steps.h"

#include <array>

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

ToldSteps::Told& ToldSteps::At(uint32_t step) {
  if (told_.size() <= step) told_.resize(step + 1);
  return told_[step];
}

void ToldSteps::AddNodes(uint32_t step, const Ids& nodes) {
  Told& told = At(step);
  if (told.nodes.empty()) told.nodes = nodes;
}

void ToldSteps::AddValue(uint32_t step, const ge_made& made) { At(step).made.push_back(made); }

void ToldSteps::Finish(uint32_t n_step) {
  told_.resize(n_step);
  records_.assign(n_step, {});
  for (uint32_t k = 0; k < n_step; ++k) {
    ge_step& r = records_[k];
    r.h = GE_HDR(ge_step, GE_TAG_STEP);
    r.node = told_[k].nodes.data();
    r.n_node = static_cast<uint32_t>(told_[k].nodes.size());
    r.made = told_[k].made.data();
    r.n_made = static_cast<uint32_t>(told_[k].made.size());
  }
}

}  // namespace ge_engines
