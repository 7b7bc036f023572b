// AbiLayouts: a plan's layouts as the records that ge_segment.layout points to. The plan's layouts
// must stay where they are while it lives. Immutable; any thread may read it.
#pragma once

#include <vector>

#include "ge/ge_plugin.h"
#include "ge/plan/plan.h"

namespace ge {

class AbiLayouts {
 public:
  AbiLayouts() = default;
  explicit AbiLayouts(const std::vector<PlanLayout>& layouts);
  AbiLayouts(AbiLayouts&&) = default;  // Records point to each other: no copies.
  AbiLayouts& operator=(AbiLayouts&&) = default;
  // By layout id; [0] is NULL (plain).
  const ge_layout* const* data() const { return table_.data(); }
  uint32_t size() const { return static_cast<uint32_t>(table_.size()); }

 private:
  std::vector<ge_layout> records_;
  std::vector<const ge_layout*> table_{nullptr};
};

// The other way: a copy of what an engine's record says, whose counts its caller has checked.
PlanLayout PlanLayoutOf(const ge_layout& layout);

}  // namespace ge
