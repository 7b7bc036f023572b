// State file: the values of a model's states, in our own serialized form. It has the states alone,
// each with its value as its first one, and ends with a digest of all bytes before. Files of
// earlier releases end with a digest of the values alone. They are read too; their names and types
// are checked against themselves and the model, so two changes that agree go unseen. Either file,
// loaded as a model, has no function. Thread-safe.
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

// Constants by Graph::states index, from 1, each with the bytes of its type: the type of the state,
// of any size where the state has no fixed one. DATA_CORRUPT where the file is damaged or no file
// of states, INVALID_ARGUMENT where it does not hold just the states of `graph`, named and typed as
// there. Checks everything before it answers.
Result<std::vector<Const>> ReadStateFile(const Graph& graph, const std::string& path);

}  // namespace ge
