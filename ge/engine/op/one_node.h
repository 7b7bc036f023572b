// OneNode: a node as the graph of its own shown to operators of plugins (ge_plugin_op.h, rule 2):
// input i is value i + 1, outputs follow. Made for one call; one thread.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "ge/engine/view.h"
#include "ge/ops/op.h"

namespace ge {

class OneNode {
 public:
  // By position; as many as the node has inputs.
  struct Input {
    const Type* type = nullptr;       // null: omitted
    const Const* constant = nullptr;  // null: it is none
  };
  // `outputs`: null = a type not known yet; leaves out outputs beyond the list, and tensor
  // attributes that `attr_const` does not find.
  static Result<OneNode> Make(const Node& node, const std::vector<Input>& inputs,
                              const std::vector<const Type*>& outputs, const DimTable& dims,
                              const std::function<const Const*(ConstRef)>& attr_const);
  const ge_graph* view() const { return view_->get(); }

 private:
  std::unique_ptr<Graph> graph_;
  std::unique_ptr<GraphView> view_;
};

}  // namespace ge
