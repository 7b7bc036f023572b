// The operators of domain comm, and nodes of them. All have one effect object, so that every rank
// calls all collectives in one order. Engines run them; in a group of one rank they are Identity.
//
// A group is the ranks that agree in their places along all axes but `axes`, in the order of these.
// Shares are those of ShareOf over the group. Attributes of all: mesh, axes (names joined by ",",
// in the mesh's order) and rank, this rank's number in the mesh.
#pragma once

#include <cstdint>
#include <vector>

#include "ge/ge_plugin_op.h"
#include "passes/kit/fn.h"
#include "passes/parallel/mesh.h"

namespace ge::parallel {

// comm.AllReduce(any number of tensors) -> as many: each the reduction (sum, max, min) of the
// group's. comm.AllGather(X) -> X with `size` elements along `dim`: the shares in order.
// comm.ReduceScatter(X) -> this rank's share along `dim` of the reduction of the group's X.
// comm.AllToAll(X) -> from a share along gather_dim, of `size` in all, and the whole of split_dim
// to the whole of gather_dim and a share along split_dim.
//
// Their gradients are those of the sum of what all ranks compute: AllGather's is ReduceScatter and
// the reverse, AllReduce's is AllReduce.
inline constexpr uint32_t kCollectives = 4;
const ge_op_def* CollectiveOps();  // an array of so many

enum class Reduction { kSum, kMax, kMin };

struct Along {
  const Mesh& mesh;
  std::vector<uint32_t> axes;  // rising
  int64_t rank;
  uint32_t sequence;  // among the function's collectives
};
std::vector<passes::Val> AllReduce(passes::Fn& fn, const std::vector<passes::Val>& terms,
                                   Reduction reduction, const Along& along);
passes::Val AllGather(passes::Fn& fn, passes::Val share, int64_t dim, int64_t size,
                      const Along& along);
passes::Val ReduceScatter(passes::Fn& fn, passes::Val term, int64_t dim, Reduction reduction,
                          const Along& along);
passes::Val AllToAll(passes::Fn& fn, passes::Val share, int64_t gather_dim, int64_t size,
                     int64_t split_dim, const Along& along);

}  // namespace ge::parallel
