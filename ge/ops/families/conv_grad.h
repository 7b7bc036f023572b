// Shapes, effort and parts shared by the gradients of a convolution and of a pooling. Their inputs
// give the shapes of all three tensors, which must be those of one window over the image. Not an
// operator. Any thread may call.
#pragma once

#include <optional>
#include <vector>

#include "ge/ops/decompose.h"
#include "ge/ops/infer_shapes.h"

namespace ge {

// The windows of `node` over x make an image of dY's spatial sizes, as far as these are known;
// `pool`: the kernel is the attribute's and ceil_mode counts. kernel as ReadWindow wants it.
Status WantWindows(InferContext& context, std::span<const Dim> x, const Type& dy,
                   const std::vector<int64_t>& kernel, bool pool);
// x [N, C, spatial], `weight` [M, C / group, kernel] and dY [N, M, windows] are of one convolution.
Status WantConvGrad(InferContext& context, const std::vector<Dim>& x,
                    const std::vector<Dim>& weight, const Type& dy);
// Output 0 of the dims in input 2, a shape of `rank` sizes. nullopt: its content is not known, and
// the output has that many unknown sizes.
Result<std::optional<std::vector<Dim>>> ShapeInput(InferContext& context, const Type& other,
                                                   std::string_view of);

// A convolution of static shapes, by spatial axis. `end` is the padding behind for the last window
// to end where the axis does; below 0 some of the axis is left over.
struct ConvGradShape {
  int64_t group = 1;
  std::vector<int64_t> x, w, dy, kernel, strides, dilations, begin, end;
  bool empty() const;  // one of the tensors has no elements
};
std::optional<ConvGradShape> ReadConvGrad(const Node& node, const Type& x, const Type& weight,
                                          const Type& dy);
// Zeros of a static type.
ValueId AddZeros(Parts* parts, const Type& type);

}  // namespace ge
