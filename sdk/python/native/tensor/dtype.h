// DType: a Python object for an element type, one for each. With the GIL held.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "element.h"

namespace graphengine {

// The object of ONNX's number, which is of a type of numbers.
nanobind::handle DTypeOf(int32_t number);

PyTypeObject* DTypeType();

// What `object` names: a DType, a word, a type of Python or numpy, ONNX's number. Throws
// graphengine.Error; `what` names it: "dtype".
const Element& ElementFor(nanobind::handle object, const std::string& what);

void AddDType(nanobind::module_& m);

}  // namespace graphengine
