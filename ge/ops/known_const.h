// The constant that inference knows a value to be.
#pragma once

#include <optional>

#include "ge/ir/graph.h"

namespace ge {

// Of a small integer tensor whose elements are all known (Value::ints) and fit its type; none else.
std::optional<Const> KnownConst(const Value& value);

}  // namespace ge
