// The engine's own loops over whole tensors: they cut tensors into rows for simd/kernels.h and
// share rows among OpenMP's threads (the pool of the vendors' libraries, so that there is one).
// They own no tensors. A loop is immutable; any number of threads may run it.
#pragma once

#include <memory>
#include <vector>

#include "plugins/cpu/segment/layout.h"
#include "plugins/cpu/segment/program.h"
#include "plugins/cpu/segment/simd/kernels.h"

namespace ge_cpu {

// The axes of a layout in memory order, the channel block as an axis of its own.
struct Phys {
  struct Axis {
    int64_t dim, stride;
    int axis;    // of the layout
    bool inner;  // the lanes of a channel block
  };
  std::vector<Axis> axes;
  explicit Phys(const Layout& l);
};
// Strides of `operand` along the axes of `target`, 0 where it is broadcast. Same rank; where target
// is blocked and operand has channels, operand is blocked alike.
std::vector<int64_t> StridesAlong(const Phys& target, const Layout& operand);

struct PointwiseOp {
  Fn fn = Fn::kLinear;
  float a = 0, b = 0;
  int operand = -1;  // index among the loop's operands, which are places 2..
};
// Places: result, x, operands. The result is gapless and may be x itself.
std::unique_ptr<Loop> PointwiseLoop(const Simd& simd, const Layout& result, const Layout& x,
                                    const std::vector<Layout>& operands,
                                    std::vector<PointwiseOp> ops);

// Places: result, x. The result has x's dims with 1 in reduced axes; x's last axis in memory is
// contiguous; blocked layouts keep axis 1.
std::unique_ptr<Loop> ReduceLoop(const Simd& simd, Reduce op, const Layout& x, const Dims& axes,
                                 const Layout& result);

// Places: result, x. Dense; softmax of `n` elements `inner` apart, `outer` times.
std::unique_ptr<Loop> SoftmaxLoop(const Simd& simd, int64_t outer, int64_t n, int64_t inner);
// Places: result, x, gamma or x, beta or x.
std::unique_ptr<Loop> LayerNormLoop(const Simd& simd, int64_t rows, int64_t n, bool gamma,
                                    bool beta, float eps);

// Copies boxes of elements: one source place for each.
struct BoxCopy {
  Layout src, dst;
  Dims src_start, dst_start, size;
};
// Places: result, then a source for each box. Zeroes the padding of `result`.
std::unique_ptr<Loop> CopyLoop(const Layout& result, const std::vector<BoxCopy>& boxes);

// Places: result, x. result[i] = x[i / factor]; both dense or both blocked alike.
std::unique_ptr<Loop> RepeatLoop(const Layout& x, const Layout& result, const Dims& factor);

}  // namespace ge_cpu
