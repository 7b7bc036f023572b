// Tensors of arrays, numbers and lists. With the GIL held.
#pragma once

#include "tensor.h"

namespace graphengine {

// `dtype`: None or what DType names; `copy`: None, True or False. Throws graphengine.Error.
nanobind::object MakeTensor(nanobind::handle object, nanobind::handle dtype, nanobind::handle copy);

// A Tensor without axes of one of Python's numbers, bool, int or float. Null, without an exception,
// where `element` does not hold it.
PyObject* TensorOfNumber(const Element& element, PyObject* number);

}  // namespace graphengine
