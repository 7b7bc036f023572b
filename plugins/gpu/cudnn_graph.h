// CudnnGraph: an operation graph of cuDNN's as plain values, before the library sees it. Equal
// graphs have equal plans.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "plugins/gpu/vendor/cudnn.h"
#include "plugins/units/layout.h"

namespace ge_engines::gpu {

struct CudnnGraph {
  struct Tensor {
    cudnn::DataType type = cudnn::kFloat;
    Dims dims, strides;
    bool is_virtual = false;  // it lies nowhere
    auto operator<=>(const Tensor&) const = default;
  };
  // Operands are positions in `tensors`.
  struct Operation {
    cudnn::DescriptorType type = cudnn::kOperationPointwise;
    // Of a convolution of any direction: image, weights, windows. Of a pointwise operation: x, b
    // where the mode has two operands, result.
    uint32_t x = 0, w = 0, y = 0;
    Dims stride, dilation, pad;  // by spatial axis; pads are alike at both ends
    cudnn::PointwiseMode mode = cudnn::kAdd;
    double slope = 0, high = 0;  // of ReLU
    bool bounded = false;        // it has a high
    double alpha = 1;            // of ELU
    auto operator<=>(const Operation&) const = default;
  };
  std::vector<Tensor> tensors;
  std::vector<Operation> operations;
  bool may_round = false;  // inputs of float32, to what tensor cores take
  uint64_t most_workspace = 0;
  auto operator<=>(const CudnnGraph&) const = default;

  uint32_t Add(cudnn::DataType type, const Dims& dims) {  // dense
    tensors.push_back({type, dims, StridesOf(dims)});
    return static_cast<uint32_t>(tensors.size() - 1);
  }
  uint32_t AddVirtual(const Dims& dims) {  // of float32, as all sums are
    tensors.push_back({cudnn::kFloat, dims, StridesOf(dims), true});
    return static_cast<uint32_t>(tensors.size() - 1);
  }
};

}  // namespace ge_engines::gpu
