// The operators of domain comm, and nodes of them. All have one effect object, so that every rank
// calls all collectives in one order. Engines run them; along an axis of one rank they are
// Identity.
#pragma once

#include <cstdint>
#include <vector>

#include "ge/ge_plugin_op.h"
#include "passes/kit/fn.h"
#include "passes/parallel/mesh.h"

namespace ge::parallel {

// comm.AllReduce(any number of tensors) -> as many: each the sum of the ranks' along the axes.
ge_op_def AllReduceOp();
// comm.AllGather(X) -> X with `size` elements along `dim`: the ranks' shares (ShareOf) in order.
ge_op_def AllGatherOp();

struct Along {
  const Mesh& mesh;
  uint32_t axis;
  uint32_t sequence;  // among the function's collectives
};
std::vector<passes::Val> AllReduce(passes::Fn& fn, const std::vector<passes::Val>& terms,
                                   const Along& along);
passes::Val AllGather(passes::Fn& fn, passes::Val share, int64_t dim, int64_t size,
                      const Along& along);

}  // namespace ge::parallel
