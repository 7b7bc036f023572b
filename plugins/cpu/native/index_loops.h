// Loops over places that integers name, and over the order of elements: look-ups and updates by
// index, running sums, places of extremes, the greatest k, constant padding, repeats of a tensor.
// Tensors are dense; elements of 1, 4 or 8 bytes are moved and not looked at unless a dtype is
// named. They own no tensors; immutable, any number of threads may run one. An index outside its
// axis makes Do return GE_INVALID_ARGUMENT, with the result undefined.
#pragma once

#include <cstdint>
#include <memory>

#include "plugins/cpu/kit/layout.h"
#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/kit/specs.h"

namespace ge_engines::cpu::native {

// Of the tensors of GatherElements, ScatterElements, GatherND and ScatterND.
struct IndexPlan {
  IndexSpec spec;
  Dims x, index;
  int64_t bytes = 4;  // of an element
  bool wide = true;   // indices are int64; otherwise int32
};
// Places: result, x, indices; of scatters also updates, of which repeated places keep the last or
// add up all.
std::unique_ptr<Work> IndexWork(const IndexPlan& p);

// [outer][dim][inner] of a tensor cut at an axis.
struct AxisCut {
  int64_t outer = 1, dim = 1, inner = 1;
  AxisCut(const Dims& d, int axis) {
    for (size_t k = 0; k < d.size(); ++k) {
      int64_t& to = k < static_cast<size_t>(axis)    ? outer
                    : k == static_cast<size_t>(axis) ? dim
                                                     : inner;
      to *= d[k];
    }
  }
};
// Dtypes below are GE_F32, GE_I32 and GE_I64.
// Places: result, x. Floats are summed up in double.
std::unique_ptr<Loop> CumSumLoop(int32_t dtype, const AxisCut& cut, const CumSumSpec& s);
// Places: result (int64), x. NaN is beyond every number; of equal ones the first, or the last.
std::unique_ptr<Loop> ArgLoop(int32_t dtype, const AxisCut& cut, const ArgSpec& s);
struct TopKPlan {
  int64_t taken = 0;
  bool largest = true, values = true, places = true;  // what is wanted
  int threads = 1;
};
// Floats of workspace that each thread needs.
uint64_t TopKFloats(const AxisCut& cut);
// Places: values, places (int64), x, k, workspace; what is not wanted may be any place. `taken`
// elements of each row, sorted; of equal ones the first; NaN is above every number. A k other than
// `taken` is GE_INVALID_ARGUMENT.
std::unique_ptr<Work> TopKWork(int32_t dtype, const AxisCut& cut, const TopKPlan& p);

// Places: result, x, and where `filled` one element, else zeros.
std::unique_ptr<Loop> FillPadLoop(const Dims& result, const Dims& x, const Dims& before,
                                  int64_t bytes, bool filled);
// Places: result, x. Source: ONNX Tile.
std::unique_ptr<Loop> TileLoop(const Dims& result, const Dims& x, int64_t bytes);

}  // namespace ge_engines::cpu::native
