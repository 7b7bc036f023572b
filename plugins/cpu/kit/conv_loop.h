// Convolutions in tiles: gather a tile's windows and multiply, or multiply and scatter. The engine
// brings the product. OpenMP's threads share the tiles, each with a buffer of its own in the
// workspace. They own no tensors. Immutable; any number of threads may run one.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "plugins/cpu/kit/im2col_tiles.h"
#include "plugins/cpu/kit/loops.h"
#include "plugins/cpu/kit/program.h"

namespace ge_engines::cpu {

// c[m][n] = a[m][k] * b[k][n], row-major; `ld*` are elements from one stored row to the next.
struct TileProduct {
  bool transposed = false;  // a is stored [k][m]
  int64_t m = 0, n = 0, k = 0;
  int64_t lda = 0, ldb = 0, ldc = 0;
};
// Any number of threads may call it.
using MultiplyTile =
    std::function<void(const TileProduct& p, const float* a, const float* b, float* c)>;

// Bias and post-ops of gathered windows, applied to each tile while it is in a cache. Scattered
// convolutions have none: where windows meet, a tile is no final result.
struct ConvFinish {
  const Simd* simd = nullptr;
  bool bias = false;                  // one number an output channel
  std::vector<PointwiseOp> post_ops;  // without operands
};

// Buffers: result, x, weights, a buffer of Im2colTiles::bytes() for each thread, then the bias if
// there is one. Weights lie as in ONNX; with `rows` a transposed convolution's are [group][out,
// taps][in], so that no product is `transposed`. s.how is not kPlain.
std::unique_ptr<Loop> ConvLoop(MultiplyTile multiply, const ConvShape& shape,
                               const Im2colTiles& pieces, int threads, bool rows,
                               ConvFinish finish);

}  // namespace ge_engines::cpu
