// Ways of operators of plugins: where rules.def has no line, what ge_op_def.shard states. One
// thread, for one run of a pass.
#pragma once

#include <cstdint>

#include "ge/ge_plugin_pass.h"
#include "passes/parallel/rules.h"

namespace ge::parallel {

// SplitOf of a node of function `fn`, of which the graph is the picture; asks its plugin, too.
// Throws a Refusal that names the operator: its function fails, or states what cannot be.
Split SplitOf(const ge_edit* edit, uint32_t fn, const ge_graph* graph, const ge_node& node,
              int64_t shares);

}  // namespace ge::parallel
