#include "passes/grad/control/forward_node.h"

namespace ge::grad {

std::vector<Val> InputsOf(Reverse& reverse, const ge_node& n) {
  std::vector<Val> in;
  for (uint32_t i = 0; i < n.n_in; ++i) in.push_back(n.in[i] ? reverse.Now(n.in[i]) : Val{});
  return in;
}

std::vector<Val> PutForwardNode(Reverse& reverse, const ge_node& n, const std::vector<Val>& in,
                                const Attrs& attrs, const NewFunction::Bodies& bodies,
                                size_t residuals) {
  ge_links links = bodies.Links();
  links.replaces = &n.id;
  links.n_replaces = 1;
  uint32_t node = 0;
  const uint32_t outputs = n.n_out + static_cast<uint32_t>(residuals);
  std::vector<Val> out = reverse.fn().Node(plugin::View(n.domain), plugin::View(n.op), in, attrs,
                                           outputs, &links, n.id, &node);
  reverse.Replace(n, node, out);
  return {out.begin() + n.n_out, out.end()};
}

}  // namespace ge::grad
