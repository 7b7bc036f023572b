// Shared by LayerNormalization and RMSNormalization: X as rows, each normalized by its own
// statistics. Pure; any thread.
#pragma once

#include "plugins/ref/checks.h"

namespace ref {

struct NormalizedRows {
  int64_t axis, rows, count;  // X as [rows, count], the rows being the axes before `axis`
  double epsilon;

  // By the attributes `axis` and `epsilon`; says why not.
  bool Read(const NodeView& n, Why* why) {
    const TensorType x = n.in(0);
    axis = NormalAxis(n.Int("axis"), x.rank);
    if (axis < 0) return why->Say(GE_WHY_ATTRIBUTE, "axis is out of range");
    rows = PartCount(x.shape(), 0, axis);
    count = PartCount(x.shape(), axis, x.rank);
    epsilon = n.Float("epsilon");
    return true;
  }
  // Rows in one step along axis d, whose stride in X is `stride`.
  int64_t RowStep(int d, int64_t stride) const {
    return d < axis ? stride / (count > 0 ? count : 1) : 0;
  }
};

}  // namespace ref
