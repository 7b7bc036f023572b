// Convolutions in pieces: gather a piece's windows and multiply, or multiply and
// deal out. Pieces
// are shared among OpenMP's threads, each with a buffer of its own in the workspace. They own no
// tensors. Immutable; any number of threads may run one.
#pragma once

#include <memory>

#include "plugins/cpu/openblas/conv.h"
#include "plugins/cpu/segment/program.h"

namespace ge_openblas {

// Places: result, x, weights as ONNX has them, a buffer of Pieces::bytes() for each thread.
// s.how is not kPlain.
std::unique_ptr<Loop> ConvLoop(const Vendor& blas, const ConvShape& s, int threads);

}  // namespace ge_openblas
