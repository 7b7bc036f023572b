// ConvolutionGraph: a convolution or a gradient of one, and what follows it, as an operation graph
// of cuDNN's. Plain values; nothing of the library is asked.
#pragma once

#include <cstdint>
#include <vector>

#include "plugins/gpu/cudnn_graph.h"
#include "plugins/units/unit.h"

namespace ge_engines::gpu {

// False for dtypes that the library does not convolve.
bool FindCudnnType(int32_t dtype, cudnn::DataType* type);

// What a unit asks of the library. Dims as the library has them: an image has two or three spatial
// axes, with one of size 1 in front where the unit's has one.
struct ConvolutionShape {
  cudnn::DescriptorType direction = cudnn::kOperationForward;
  Dims x, w, y;                // image, weights, windows
  Dims stride, dilation, pad;  // by spatial axis
  // Pads that differ at the two ends, which its engines do not take: the image is convolved in a
  // frame of these dims, without pads, from `before` on. Empty: no frame.
  Dims frame, before;
  // The unit's windows where those here are more: an image may go on where none reaches, and is
  // zero there. Empty: they are all.
  Dims windows;

  static ConvolutionShape Of(const Unit& unit);
  // Room for the three tensors in the library's own order, and for sums of each in float32: engines
  // that want more are not taken.
  uint64_t MostWorkspace() const;

 private:
  void PutInFrame();
};

// One of the unit's functions behind the convolution.
struct ConvolutionStep {
  // Values that the library adds: to each channel, or of the result's dims. 0: none.
  uint32_t bias = 0, operand = 0;
  CudnnGraph::Operation operation = {};  // all else
};

// The unit's functions behind the convolution, up to the first that the library does not have.
std::vector<ConvolutionStep> ConvolutionSteps(const Unit& unit, const Parser& parser);
// The unit without the first `done` of them, for a chain of our own.
Unit BehindSteps(const Unit& unit, size_t done);

struct ConvolutionGraph {
  // With all of `steps`. The first three tensors are image, weights and windows, one of which is
  // the result; the image is in its frame where there is one.
  ConvolutionGraph(const ConvolutionShape& shape, cudnn::DataType type,
                   std::vector<ConvolutionStep> steps);

  CudnnGraph graph;
  uint32_t result = 0;  // a tensor
  Ids operands;         // values of the tensors behind those three that are not virtual

 private:
  void Append(const ConvolutionStep& step, cudnn::DataType type);
};

}  // namespace ge_engines::gpu
