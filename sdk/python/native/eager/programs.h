// Programs: the base of graphengine.jit's functions. A call with Tensors by position alone finds
// its program, by types and sizes, without Python; any other goes to the method `_call`. With the
// GIL held.
#pragma once

#include <nanobind/nanobind.h>

namespace graphengine {

void AddPrograms(nanobind::module_& m);

}  // namespace graphengine
