// GraphEdit: a graph that is made by calls: the ge_edit of ge_plugin_pass.h over a graph without
// functions, as ge_graph_edit of ge.h says. It owns the graph. One thread at a time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ge/base/status.h"
#include "ge/engine/pass/pass_edit.h"
#include "ge/ops/edit.h"
#include "ge/stage/pass.h"

namespace ge {

class GraphEdit {
 public:
  // How nodes are typed, and what says whether they fit the functions that they name.
  struct Rules {
    Status (*infer_node)(Graph* graph, FunctionId fn, size_t node);
    PassEdit::CheckCalls check_calls;
  };
  // `ops`: of plugins, null = none.
  GraphEdit(std::string name, std::shared_ptr<const OpTable> ops, const Rules& rules);
  GraphEdit(const GraphEdit&) = delete;
  GraphEdit& operator=(const GraphEdit&) = delete;

  const ge_edit* api() const { return edit_.api(); }
  // Of the last failing call; OK before there was one.
  const Status& failure() const { return edit_.failed(); }
  // A constant of a payload that is there; *value is 0 on failure.
  Status AddConst(FunctionId fn, Const c, uint32_t* value);
  // A value that nothing computes, for a result of a function that calls itself.
  Status AddPlaceholder(FunctionId fn, const ge_param& type, uint32_t* value);
  // The graph as it is now, without what nobody reads. Payloads of constants are shared.
  Result<Graph> Copy();

 private:
  static const std::vector<ge_attr> kNoOptions;
  Graph graph_;
  PassContext context_;
  TransactionPlace place_;
  EditUndo undo_;
  PassEdit edit_;
};

}  // namespace ge
