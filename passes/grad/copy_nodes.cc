#include "passes/grad/copy_nodes.h"

#include "passes/grad/entry.h"

namespace ge::grad {

Val CopyNodes::Get(uint32_t value) {
  if (value == 0) return {};
  const auto found = at_.find(value);
  if (found != at_.end()) return found->second;
  const ge_value& v = *GE_VALUE(from_, value);
  if ((v.flags & GE_VALUE_CONSTANT) == 0) {
    throw Refusal{GE_INTERNAL, "value " + std::to_string(value) + " '" +
                                   std::string(plugin::View(v.name)) +
                                   "' of a derived function was not handed on to its way back"};
  }
  return at_[value] = to_.Constant(v.type, v.data, v.data_bytes);
}

void CopyNodes::Put(const ge_node& n) {
  std::vector<Val> in;
  bool first = after_ != 0;
  for (uint32_t i = 0; i < n.n_in; ++i) {
    in.push_back(Get(n.in[i]));
    first = first && made_.count(n.in[i]) == 0;
  }
  Attrs attrs;
  for (uint32_t i = 0; i < n.n_attr; ++i) attrs.Add(n.attr[i]);
  ge_links links{};
  links.h = GE_HDR(ge_links, GE_TAG_LINKS);
  links.body = n.body, links.body_role = n.body_role, links.n_body = n.n_body;
  links.effect = n.effect, links.n_effect = n.n_effect;
  links.after = &after_, links.n_after = first ? 1 : 0;
  const bool linked = n.n_body > 0 || n.n_effect > 0 || first;
  const std::vector<Val> out = to_.Node(plugin::View(n.domain), plugin::View(n.op), in, attrs,
                                        n.n_out, linked ? &links : nullptr, before_);
  for (uint32_t k = 0; k < n.n_out; ++k) at_[n.out[k]] = out[k], made_.insert(n.out[k]);
}

}  // namespace ge::grad
