// Loops over whole tensors for every engine: pointwise functions and copies. They cut tensors into
// rows for simd/kernels.h and share rows among OpenMP's threads (the pool of the vendors'
// libraries, so there is only one). They own no tensors. A loop is immutable; any number of threads
// may run it.
#pragma once

#include <memory>
#include <vector>

#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/kit/simd/kernels.h"
#include "plugins/units/layout.h"

namespace ge_engines::cpu {

// The axes of a layout in memory order, the channel block as an axis of its own.
struct Phys {
  struct Axis {
    int64_t dim, stride;
    int axis;    // of the layout
    bool inner;  // the lanes of a channel block
  };
  std::vector<Axis> axes;
  explicit Phys(const Layout& layout);
};
// Strides of `operand` along the axes of `target`, 0 where it is broadcast. Same rank; where target
// is blocked and operand has channels, operand is blocked alike.
std::vector<int64_t> StridesAlong(const Phys& target, const Layout& operand);

struct PointwiseOp {
  Fn fn = Fn::kLinear;
  float a = 0, b = 0;
  int operand = -1;  // index among the loop's operands, which are places 2..
};
// Buffers: result, x, operands. The result is gapless and may be x itself.
std::unique_ptr<Loop> PointwiseLoop(const Simd& simd, const Layout& result, const Layout& x,
                                    const std::vector<Layout>& operands,
                                    std::vector<PointwiseOp> ops);

// Copies boxes of elements: one source place for each.
struct BoxCopy {
  Layout src, dst;
  Dims src_start, dst_start, size;
};
// Buffers: result, then a source for each box. Zeroes the padding of `result`.
std::unique_ptr<Loop> CopyLoop(const Simd& simd, const Layout& result,
                               const std::vector<BoxCopy>& boxes);

}  // namespace ge_engines::cpu
