#include "ge/engine/op/one_node.h"

namespace ge {

Result<OneNode> OneNode::Make(const Node& node, const std::vector<Input>& inputs,
                              const std::vector<const Type*>& outputs, const DimTable& dims,
                              const std::function<const Const*(ConstRef)>& attr_const) {
  OneNode one;
  one.graph_ = std::make_unique<Graph>();
  Graph& g = *one.graph_;
  Function& f = g.AddFunction("node");
  Node n = node;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ValueId v = AddValue(&f, inputs[i].type ? *inputs[i].type : Type());
    n.inputs[i] = inputs[i].type ? v : 0;
    if (inputs[i].constant) f.value(v).constant = g.AddConst(*inputs[i].constant);
    if (inputs[i].type && !inputs[i].constant) f.params.push_back(v);
  }
  for (size_t i = 0; i < n.outputs.size(); ++i) {
    const bool here = i < outputs.size();
    const ValueId v = here ? AddValue(&f, outputs[i] ? *outputs[i] : Type()) : 0;
    if (n.outputs[i]) n.outputs[i] = v;
  }
  std::vector<Attr> attrs;
  for (Attr& a : n.attrs) {
    if (auto* ref = std::get_if<ConstRef>(&a.value)) {
      const Const* c = attr_const ? attr_const(*ref) : nullptr;
      if (!c) continue;
      ref->id = g.AddConst(*c);
    }
    attrs.push_back(std::move(a));
  }
  n.attrs = std::move(attrs);
  f.nodes.push_back(std::move(n));
  GE_ASSIGN_OR_RETURN(one.view_, GraphView::Make(g, f, dims));
  return one;
}

}  // namespace ge
