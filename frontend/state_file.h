// State file: what a model's states hold, as a file in our own serialized form that has the states
// alone, each with its value as its first one, and ends with a digest of all bytes before. Files of
// earlier releases end with one of the values alone: they are read, and what they say of names and
// types is held against itself and the model, so that two changes that agree are not seen. Whoever
// loads either as a model finds no function in it. Thread-safe.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "ge/base/status.h"
#include "ge/ir/graph.h"

namespace ge {

// `types` and `values` by Graph::states index, from 1: a state may be declared without a fixed
// size. IO_ERROR; `path` is then as it was.
Status WriteStateFile(const Graph& graph, std::span<const Type> types,
                      std::span<const std::byte* const> values, const std::string& path);

// Constants by Graph::states index, from 1, each with the bytes of its type, which is that of the
// state, of any size where the state has no fixed one. DATA_CORRUPT where the file is damaged or no
// file of states, INVALID_ARGUMENT where it does not hold just the states of `graph`, named and
// typed as there. All is checked before anything is answered.
Result<std::vector<Const>> ReadStateFile(const Graph& graph, const std::string& path);

}  // namespace ge
