// Makes a constant of a value's known content.
#pragma once

#include <optional>

#include "ge/ir/graph.h"

namespace ge {

// Only for a small integer tensor with all elements known (Value::ints) and within its type.
std::optional<Const> KnownConst(const Value& value);

}  // namespace ge
