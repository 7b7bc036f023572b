// Operators that the host runs itself, without asking an engine: those with values other than plain
// tensors (sequences, optionals, strings) and those with a data-dependent number of result
// elements. One record per file in ge/control/host/; the table is generated from the file names.
// Functions are pure; any thread may call.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "ge/control/value.h"
#include "ge/ir/graph.h"
#include "ge/ops/op.h"

namespace ge {

struct HostCall {
  const Graph& graph;  // for constants that attributes name
  const Node& node;
  std::span<const FlowValue* const> inputs;  // null = omitted
  FlowPool* pool;
  std::vector<FlowValue> outputs;  // as many as the node has; filled by the operator

  bool has(size_t i) const { return i < inputs.size() && inputs[i] != nullptr; }
  const FlowValue& in(size_t i) const { return *inputs[i]; }
};

struct HostOp {
  const char* domain;
  const char* name;
  // INVALID_ARGUMENT when the data are wrong, with found and wanted value.
  Status (*run)(HostCall& call);
  // Only for strings, sequences and optionals; tensors of numbers go to engines.
  bool only_without_numbers = false;
};

// The record that runs the node in this function; null when engines do. Control flow has none.
const HostOp* FindHostOp(const Function& fn, const Node& node);
// The node's operator if it is of a plugin and its kernel sizes its own outputs: the host runs it.
// Else null.
const OpDef* FindDataSized(const Graph& graph, const Node& node);
// Whether the host runs the operator with any inputs: no engine is asked for it.
bool IsHostOnly(std::string_view domain, std::string_view name);
// If, Loop, Scan, calls: nodes that refer to functions of the graph.
bool IsControl(const Node& node);

}  // namespace ge

#define GE_HOST_OP(stem)                    \
  extern const ::ge::HostOp ge_host_##stem; \
  const ::ge::HostOp ge_host_##stem
