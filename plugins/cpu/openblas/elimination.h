// Determinants and inverses of square matrices: small ones by plain loops, others by OpenBLAS's
// LAPACK, all in double.
#pragma once

#include <memory>

#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/openblas/vendor.h"
#include "plugins/units/matmul/elimination.h"

namespace ge_engines::cpu::openblas {

// Bytes of one thread's buffer.
uint64_t EliminationBytes(const EliminationSpec& spec);
// Buffers: result, x, and room of EliminationBytes() for each thread. Of a singular matrix an
// inverse has what divisions by 0 leave: infinities and NaN.
std::unique_ptr<Loop> EliminationLoop(const Vendor& blas, const EliminationSpec& spec, bool doubles,
                                      int threads);
// ns of one matrix on one thread.
double EliminationNs(const EliminationSpec& spec);

}  // namespace ge_engines::cpu::openblas
