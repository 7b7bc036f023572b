// KernelCall: one node of a plugin's operator, run by the host because the data decide the sizes of
// its outputs. Tensors of numbers in host memory, plain row-major. Used by one thread.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "ge/base/status.h"
#include "ge/ir/graph.h"

namespace ge {

struct KernelTensor {
  DType dtype = DType::kUndefined;
  std::vector<int64_t> dims;
  std::byte* data = nullptr;  // null: an omitted input; an output that has no memory yet
  uint64_t bytes = 0;
};

struct KernelCall {
  const Graph& graph;  // for constants that attributes name
  const Node& node;
  std::span<const KernelTensor> in;  // by position, of all of the node's inputs
  std::vector<KernelTensor> out;     // dtype is given; the kernel's resize gives the rest
  // Allocates output i with the dims set in `out[i]`.
  std::function<Status(size_t i)> allocate;
};

}  // namespace ge
