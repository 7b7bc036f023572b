// State file: what a model's states hold, as a file in our own serialized form that has the states
// alone, each with its value as its first one, and a digest of all. Whoever loads it as a model
// finds no function in it. Thread-safe.
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

// Constants by Graph::states index, from 1. DATA_CORRUPT where the file is damaged,
// INVALID_ARGUMENT where it does not hold just the states of `graph`, named and typed as there, of
// any size where they have no fixed one.
Result<std::vector<Const>> ReadStateFile(const Graph& graph, const std::string& path);

}  // namespace ge
