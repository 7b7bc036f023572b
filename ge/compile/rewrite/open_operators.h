// The operators alone of plugins, for graphs without a session: no engine is opened. Thread-safe.
#pragma once

#include <memory>
#include <string_view>

#include "ge/base/status.h"
#include "ge/ops/op_table.h"

namespace ge {

// `list` as FindPlugins takes it. Null: none of them brings operators.
Result<std::shared_ptr<const OpTable>> OpenOperators(std::string_view list);

}  // namespace ge
