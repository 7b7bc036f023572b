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

// Whether as much padding behind an image as before it gives the same windows: what is beyond the
// last one is not read. `reach`: from a window's first pixel to one past its last.
bool HasEvenPads(const Dims& src, const Dims& dst, const Dims& reach, const Dims& stride,
                 const Dims& pad_l);

}  // namespace ge_engines
