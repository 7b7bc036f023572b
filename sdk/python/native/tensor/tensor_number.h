// The number of a Tensor with one element, for Python. With the GIL held.
#pragma once

#include "tensor.h"

namespace graphengine {

// A bool, int, float or complex of an eager one. Throws graphengine.Error where it has another
// number of elements than one; `wanted` is what was asked for: "float".
nanobind::object NumberOf(const Tensor& tensor, const char* wanted);

}  // namespace graphengine
