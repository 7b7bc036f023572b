// softmax(Q K^T, scaled and masked) V by blocks of keys (an online softmax): no tensor holds all
// scores. The greatest score and the sum of exponentials of each row go along with the result.
// Memory: a tile of scores and panels of a block for each thread. It owns no tensors; immutable,
// any number of threads may run it. docs/decisions/0046-attention.md.
#pragma once

#include <cstdint>
#include <memory>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/kit/simd/kernels.h"
#include "plugins/units/attention/attention.h"

namespace ge_engines::cpu::native {

struct AttendPlan {
  AttendPlan(const Simd& simd, AttendSpec spec, int threads);

  const Simd* simd;
  AttendSpec s;
  int threads;
  int64_t chunk;  // rows of a job
  int64_t jobs() const { return s.batch * s.heads * CeilDiv(s.rows, chunk); }
  bool thin() const;
  int64_t block() const;    // keys at once
  int64_t columns() const;  // of a panel
  uint64_t floats() const;  // of a thread
  double ns(const Machine& machine) const;
};

// Buffers: result, q, k, v, operands of the spec's steps, lengths or any, floats() of each thread.
std::unique_ptr<Kernel> AttentionKernel(const AttendPlan& plan);

}  // namespace ge_engines::cpu::native
