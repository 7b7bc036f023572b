// Sliding windows over images: attributes and shapes of ONNX, resolved. Pure; any thread.
#pragma once

#include "plugins/units/unit.h"

namespace ge_engines {

// Strides, dilations and paddings of windows over src that make dst, auto_pad resolved.
bool WindowOf(const ge_node& n, const Dims& src, const Dims& dst, const Dims& kernel, Dims* stride,
              Dims* dilation, Dims* pad_l, Dims* pad_r, Why* why);

// The same of a transposed convolution, whose output_shape and output_padding count.
bool TransposedWindowOf(const ge_node& n, const Dims& src, const Dims& dst, const Dims& kernel,
                        Dims* stride, Dims* dilation, Dims* pad_l, Dims* pad_r, Why* why);

}  // namespace ge_engines
