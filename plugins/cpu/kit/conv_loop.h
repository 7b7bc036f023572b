// Convolutions in pieces: gather a piece's windows and multiply, or multiply and deal out. The
// product is the engine's. Pieces are shared among OpenMP's threads, each with a buffer of its own
// in the workspace. They own no tensors. Immutable; any number of threads may run one.
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

// What follows the products of gathered windows, done on each piece while it is in a cache. Other
// convolutions have none: where windows meet, a piece is no final result.
struct ConvFinish {
  const Simd* simd = nullptr;
  bool bias = false;                  // one number an output channel
  std::vector<PointwiseOp> post_ops;  // without operands
};

// Buffers: result, x, weights, a buffer of Pieces::bytes() for each thread, then the bias if there
// is one. Weights lie as ONNX has them; with `rows` those of a transposed convolution are
// [group][out, taps][in], so that no product is `turned`. s.how is not kPlain.
std::unique_ptr<Loop> ConvLoop(MultiplyTile multiply, const ConvShape& shape,
                               const Im2colTiles& pieces, int threads, bool rows,
                               ConvFinish finish);

}  // namespace ge_engines::cpu
