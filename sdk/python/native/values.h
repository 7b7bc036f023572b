// RunValues: runs entries with inputs or outputs beyond tensors of numbers: texts, sequences, maps,
// optionals. Call runs all other entries, without copies. With the GIL held.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "model.h"

namespace graphengine {

// The outputs by name, all new objects: numbers as numpy arrays, texts as arrays of str, sequences
// as lists, maps as dicts, absent ones as None. `feed` as in Call; inputs are copied. Throws
// graphengine.Error.
nanobind::dict RunValues(const Handle& handle, const EntryPorts& entry, nanobind::handle feed);

}  // namespace graphengine
