// The trace of a thread: while one is active, operators add nodes to a graph and nothing is
// computed. It belongs to graphengine.jit; here is its door. With the GIL held.
#pragma once

#include <nanobind/nanobind.h>

namespace graphengine {

// The active trace of this thread, borrowed; null where there is none.
PyObject* ActiveTrace();

// A traced Tensor was asked for what only numbers have: `wanted` is "bool", "len" ... Answers what
// graphengine.jit says, which raises as a rule. Throws.
nanobind::object AskTraced(nanobind::handle tensor, const char* wanted);

void AddTrace(nanobind::module_& m);

}  // namespace graphengine
