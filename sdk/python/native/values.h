// Runs of entries that take or give more than tensors of numbers: texts, sequences, maps,
// optionals. Others run as Call has them, without copies. With the GIL held.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "model.h"

namespace graphengine {

// The outputs by name, all of them new: numbers as arrays of numpy, texts as arrays of str,
// sequences as lists, maps as dicts, nothing as None. `feed` as in Call; inputs are copied. Leaves
// with graphengine.Error.
nanobind::dict RunValues(const Handle& handle, const EntryPorts& entry, nanobind::handle feed);

}  // namespace graphengine
