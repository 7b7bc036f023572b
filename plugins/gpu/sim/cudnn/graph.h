// Graph: an operation graph of the simulated library's, as plain values: what a plan runs when the
// descriptors that it was made of are gone. The engines that run it are of four kinds, as those of
// the real library are: some round, some sum in no fixed order, some are listed and refuse.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "plugins/gpu/sim/cudnn/descriptor.h"

namespace ge_engines::gpu::sim::dnn {

enum Engine : int {
  kRounding,   // inputs of float32 to the bits that tensor cores take
  kUnordered,  // sums in an order that changes from run to run
  kRefusing,   // its plans do not finalize
  kDirect,
};

struct TensorValues {
  int64_t uid = 0;
  cudnn::DataType type = cudnn::kFloat;
  std::vector<int64_t> dims, strides;
  int64_t alignment = 1;
  bool is_virtual = false;

  int64_t elements() const;
  uint64_t bytes() const;  // from the first to the last
};

struct OperationValues {
  cudnn::DescriptorType type = cudnn::kOperationPointwise;
  // Positions in Graph::tensors. Of a convolution: image, weights, windows; else x, b, y.
  size_t x = 0, w = 0, y = 0;
  bool has_b = false;
  // Of a convolution.
  std::vector<int64_t> stride, dilation, pre, post;
  double alpha = 1, beta = 0;
  // Of a pointwise operation.
  cudnn::PointwiseMode mode = cudnn::kAdd;
  double low = 0, high = 0, slope = 0, elu = 1, swish = 1;
  bool bounded = false, nan = false;

  bool pointwise() const { return type == cudnn::kOperationPointwise; }
  size_t result() const {
    return type == cudnn::kOperationBackwardData     ? x
           : type == cudnn::kOperationBackwardFilter ? w
                                                     : y;
  }
};

struct Graph {
  static std::shared_ptr<const Graph> Of(const Descriptor& given);

  std::vector<TensorValues> tensors;
  std::vector<OperationValues> operations;  // in an order of execution

  std::vector<int> EnginesOf(cudnn::HeurMode mode) const;
  std::vector<cudnn::NumericalNote> NotesOf(int engine) const;
  void CheckEngine(int engine) const;  // throws where it refuses the graph
  uint64_t WorkspaceOf(int engine) const;

 private:
  size_t Add(const Descriptor& tensor);
  void AddOperation(const Descriptor& operation);
  void Sort();
  bool RunsDirectly() const;
};

}  // namespace ge_engines::gpu::sim::dnn
