// Loops over whole tensors beside those of kit/: they cut tensors into rows for simd/kernels.h and
// share rows among OpenMP's threads. They own no tensors. A loop is immutable; any number of
// threads may run it.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "plugins/cpu/kit/loops.h"
#include "plugins/cpu/kit/specs.h"

namespace ge_engines::cpu::native {

// Places: result, x. The result has x's dims with 1 in reduced axes; x's last axis in memory is
// contiguous; blocked layouts keep axis 1.
std::unique_ptr<Loop> ReduceLoop(const Simd& simd, Reduce op, const Layout& x, const Dims& axes,
                                 const Layout& result);

// Places: result, x. Dense; softmax of `n` elements `inner` apart, `outer` times.
std::unique_ptr<Loop> SoftmaxLoop(const Simd& simd, int64_t outer, int64_t n, int64_t inner);
// Places: result, x, gamma or x, beta or x.
std::unique_ptr<Loop> LayerNormLoop(const Simd& simd, int64_t rows, int64_t n,
                                    const LayerNormSpec& spec, bool gamma, bool beta);

// Places: result, x. result[i] = x[i / factor]; both dense or both blocked alike.
std::unique_ptr<Loop> RepeatLoop(const Simd& simd, const Layout& x, const Layout& result,
                                 const Dims& factor);

// y[b][m][n] = alpha * sum over k of x[b][m][k] * w[b][k][n] (+ bias[n]), plain row-major f32.
struct ThinProduct {
  int64_t batch = 1, m = 1, n = 0, k = 0;
  int64_t x_batch = 0, w_batch = 0;  // elements from one batch to the next; 0 where shared
  bool w_by_columns = false;         // w is [n][k] (Gemm's transB) and not [k][n]
  float alpha = 1.0f;
  bool bias = false;  // of n floats
};
// Places: result, x, w, bias or x. Made for m of 1 to 8: each block of 8 rows reads w once, so a
// large m is right but slow. The result overlaps nothing.
std::unique_ptr<Loop> ThinProductLoop(const Simd& simd, const ThinProduct& t);

// A window's axes are x's axes behind the second.
struct Pool {
  bool max = true;         // or average
  bool count_pad = false;  // averages: padding counts as zeros (what ceil mode adds never counts)
  Dims x, result;          // [N, C, spatial...], 1 to 6 spatial axes
  Dims window, stride, dilation, pad_begin, pad_end;  // one a spatial axis
};
// Places: result, x. Dense. A window without any element gives -infinity (max) or 0 (average).
// Throws std::invalid_argument where a window is kPoolRoom or more elements wide on the last axis.
std::unique_ptr<Loop> PoolLoop(const Simd& simd, const Pool& pool);

// Places: dX, dY, x. Dense.
std::unique_ptr<Loop> PoolGradLoop(const Simd& simd, const PoolGradSpec& s);

// Places: new weight, new slots, weight, slots, gradient, the scalars. Dense, n elements each; what
// is new may lie where it was.
std::unique_ptr<Loop> StepLoop(const Simd& simd, const StepSpec& s, int64_t n);

// Places: result, data, indices, updates: each of `count` updates of n elements is added to a row
// of the data, which the result may be. Those of rows that are not there are left out.
std::unique_ptr<Loop> AddRowsLoop(const Simd& simd, int64_t rows, int64_t n, int64_t count,
                                  bool wide);

// Where the result's elements along one axis come from: x[from[i]] (nearest), or
// x[from[i]] + t[i] * (x[next[i]] - x[from[i]]) (linear); next[i] is from[i] or a neighbour.
// All indices lie in x's axis: the maker checks it and throws std::invalid_argument.
struct ResizeAxis {
  std::vector<int32_t> from, next;
  std::vector<float> t;  // next and t are empty for nearest; all are empty for an unchanged axis
};
// Places: result, x. Dense, any rank; one entry of `axes` for each axis of x; at most 4 axes are
// linear (more throw std::invalid_argument).
std::unique_ptr<Loop> ResizeLoop(const Simd& simd, const Dims& x, std::vector<ResizeAxis> axes);

// result[o][i][:] = x[o][index[i]][:] for elements of `bytes` bytes.
struct Gather {
  int64_t outer = 1, axis = 1, inner = 1;  // x is [outer][axis][inner]
  int64_t count = 0;                       // indices
  int64_t bytes = 4;                       // of one element
  bool wide = true;                        // indices are int64; otherwise int32
  bool backwards = true;                   // negative indices count from the end
};
// Places: result, x, indices. An index outside [-axis, axis), or [0, axis) where none counts
// backwards, makes Do return GE_INVALID_ARGUMENT, with the result untouched.
std::unique_ptr<Work> GatherLoop(const Gather& g);

// result = cache [outer][room][row], but for `rows` rows from the length on, which are new.
struct Append {
  int64_t outer = 1, room = 0, rows = 0, row_bytes = 0;
};
// Places: result, which may be the cache, cache, length (one int64), new rows. Rows that do not fit
// make Do return GE_INVALID_ARGUMENT, with the result untouched.
std::unique_ptr<Work> AppendLoop(const Append& a);

// Places: result (bytes 0 or 1), x, z. Dense f32 of n elements each; z is one element where
// `scalar`. A comparison with NaN is 0.
std::unique_ptr<Loop> CompareLoop(const Simd& simd, Compare op, int64_t n, bool scalar);
// Places: result, condition (bytes), x, z, of any 4-byte type; dense, and broadcast to the result's
// dims. Source: ONNX Where.
std::unique_ptr<Loop> WhereLoop(const Simd& simd, const Dims& result, const Dims& condition,
                                const Dims& x, const Dims& z);

// A box of elements: `size` of them along each axis, `src` and `dst` elements apart, from `from` on
// in place `place` to `to` on in the result. A source may stand still along an axis, or go back.
struct MoveBox {
  int place = 1;
  int64_t from = 0, to = 0;
  Dims size, src, dst;
};
// Places: result, then sources as the boxes name them; elements of 1, 2, 4 or 8 bytes.
std::unique_ptr<Loop> MoveLoop(const std::vector<MoveBox>& boxes, int64_t bytes);

// Places: result. n elements that are all the first `bytes` of `element`.
std::unique_ptr<Loop> FillLoop(int64_t n, int64_t bytes, const std::array<uint8_t, 8>& element);

// Places: result, x. Of dense matrices the elements from a diagonal on (Trilu), zeros elsewhere.
std::unique_ptr<Loop> TriangleLoop(const Dims& x, const TriangleSpec& s, int64_t bytes);

}  // namespace ge_engines::cpu::native
