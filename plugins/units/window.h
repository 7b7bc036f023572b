// Sliding windows over images: ONNX's attributes and shapes, resolved. Pure; any thread.
#pragma once

#include "plugins/units/unit.h"

namespace ge_engines {

// Strides, dilations and paddings of windows from src to dst, auto_pad resolved.
bool WindowOf(const ge_node& n, const Dims& src, const Dims& dst, const Dims& kernel, Dims* stride,
              Dims* dilation, Dims* pad_l, Dims* pad_r, Why* why);

// The same for a transposed convolution, with its output_shape and output_padding.
bool TransposedWindowOf(const ge_node& n, const Dims& src, const Dims& dst, const Dims& kernel,
                        Dims* stride, Dims* dilation, Dims* pad_l, Dims* pad_r, Why* why);

}  // namespace ge_engines
