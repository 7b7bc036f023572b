// Python's operators on Tensors. Two eager Tensors of one type, or one and a number of Python, go
// straight to the engine; all else to graphengine.functions. With the GIL held.
#pragma once

#include <nanobind/nanobind.h>

#include <vector>

namespace graphengine {

void AddOperatorSlots(std::vector<PyType_Slot>& slots);

}  // namespace graphengine
