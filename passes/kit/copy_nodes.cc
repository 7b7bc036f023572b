#include "passes/kit/copy_nodes.h"

#include <set>
#include <vector>

#include "passes/kit/refusal.h"

namespace ge::passes {
namespace {

bool DrawsWithoutSeed(const ge_node& n) {
  if (n.domain.n != 0 || ge_find_attr(&n, "seed") != nullptr) return false;
  if (ge_is(n.op, "Dropout")) return n.n_in > 2 && n.in[2] != 0;
  return ge_is(n.op, "RandomNormal") || ge_is(n.op, "RandomNormalLike") ||
         ge_is(n.op, "RandomUniform") || ge_is(n.op, "RandomUniformLike") ||
         ge_is(n.op, "Bernoulli") || ge_is(n.op, "Multinomial");
}

std::string DrawsIn(const ge_edit* e, const ge_node& n, std::set<uint32_t>* seen) {
  if (DrawsWithoutSeed(n)) {
    return std::string(plugin::View(n.op)) + " '" + std::string(plugin::View(n.name)) + "'";
  }
  std::vector<uint32_t> bodies(n.body, n.body + n.n_body);
  for (size_t k = 0; k < bodies.size(); ++k) {
    if (!seen->insert(bodies[k]).second) continue;
    const ge_graph* g = e->graph(e->host, bodies[k]);
    for (uint32_t i = 0; g != nullptr && i < g->n_node; ++i) {
      const ge_node& inner = *GE_NODE(g, i);
      if (DrawsWithoutSeed(inner)) return DrawsIn(e, inner, seen);
      bodies.insert(bodies.end(), inner.body, inner.body + inner.n_body);
    }
  }
  return {};
}

}  // namespace

std::string DrawsAnew(const ge_edit* edit, const ge_node& n) {
  std::set<uint32_t> seen;
  return DrawsIn(edit, n, &seen);
}

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

std::string CopyNodes::NewName(const ge_node& n) {
  const std::string name(plugin::View(n.name));
  std::string made = name;
  for (int i = 2; !names_->insert(made).second; ++i) made = name + " #" + std::to_string(i);
  return made;
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
  links.body = n.body;
  links.body_role = n.body_role;
  links.n_body = n.n_body;
  links.effect = n.effect;
  links.n_effect = n.n_effect;
  std::vector<uint32_t> after;
  if (first) after.push_back(after_);
  for (uint32_t i = 0; i < n.n_after; ++i) {
    if (nodes_.count(n.after[i]) != 0) after.push_back(nodes_[n.after[i]]);
  }
  links.after = after.data();
  links.n_after = static_cast<uint32_t>(after.size());
  const bool linked = n.n_body > 0 || n.n_effect > 0 || !after.empty();
  if (names_ != nullptr && n.name.n > 0) to_.NameNext(NewName(n));
  uint32_t id = 0;
  const std::vector<Val> out = to_.Node(plugin::View(n.domain), plugin::View(n.op), in, attrs,
                                        n.n_out, linked ? &links : nullptr, before_, &id);
  nodes_[n.id] = id;
  for (uint32_t k = 0; k < n.n_out; ++k) {
    at_[n.out[k]] = out[k];
    made_.insert(n.out[k]);
  }
}

}  // namespace ge::passes
