#include "ge/engine/abi_layouts.h"

namespace ge {

AbiLayouts::AbiLayouts(const std::vector<PlanLayout>& layouts) {
  records_.reserve(layouts.size());
  for (size_t i = 1; i < layouts.size(); ++i) {
    const PlanLayout& l = layouts[i];
    ge_layout out{};
    out.h = GE_HDR(ge_layout, GE_TAG_LAYOUT);
    out.kind = static_cast<uint32_t>(l.kind) - 1;
    out.n_perm = static_cast<uint32_t>(l.perm.size());
    out.perm = l.perm.data();
    out.n_block = static_cast<uint32_t>(l.block_axis.size());
    out.block_axis = l.block_axis.data();
    out.block_size = l.block_size.data();
    out.tag = {l.tag.data(), l.tag.size()};
    out.opaque_bytes = static_cast<uint64_t>(l.opaque_bytes);
    records_.push_back(out);
    table_.push_back(&records_.back());
  }
}

PlanLayout PlanLayoutOf(const ge_layout& l) {
  PlanLayout out;
  out.kind = static_cast<PlanLayout::Kind>(l.kind + 1);
  out.perm.assign(l.perm, l.perm + l.n_perm);
  out.block_axis.assign(l.block_axis, l.block_axis + l.n_block);
  out.block_size.assign(l.block_size, l.block_size + l.n_block);
  if (l.tag.p) out.tag.assign(l.tag.p, l.tag.n);
  out.opaque_bytes = static_cast<int64_t>(l.opaque_bytes);
  return out;
}

}  // namespace ge
