#include "passes/kit/new_function.h"

#include "passes/grad/control/pullback.h"

namespace ge::grad {

NewFunction::NewFunction(Context& context, const char* kind, uint32_t of, bool recursive)
    : context_(context) {
  const ge_edit* e = context.edit;
  const std::string name = std::string("grad.") + kind + "." + std::to_string(++context.next_name);
  ge_function f{};
  f.h = GE_HDR(ge_function, GE_TAG_FUNCTION);
  f.name = plugin::Str(name);
  // One function may be derived in several ways: for other inputs, in other places.
  const std::string what = name.substr(sizeof "grad." - 1);
  if (of != 0) f.derived_of = of, f.derived_kind = plugin::Str(what);
  recursive = recursive || (of != 0 && CallsItself(context, of));
  f.flags = recursive ? uint32_t{GE_FUNCTION_RECURSIVE} : 0u;
  uint32_t id = 0;
  e->function(e->host, &f, &id);
  fn_ = std::make_unique<Fn>(e, id);
}

void NewFunction::Results(const std::vector<Val>& results) {
  std::vector<uint32_t> ids;
  for (const Val v : results) ids.push_back(v.id);
  const ge_edit* e = context_.edit;
  e->results(e->host, fn_->id(), ids.data(), nullptr, static_cast<uint32_t>(ids.size()));
}

// A parameter, or one value twice, becomes a result of its own by a node.
uint32_t NewFunction::Finish(const std::vector<Val>& results) {
  std::vector<Val> own;
  for (const Val v : results) own.push_back(fn_->Op("Identity", {v}));
  Results(own);
  return fn_->id();
}

ge_links NewFunction::Bodies::Links() const {
  ge_links links{};
  links.h = GE_HDR(ge_links, GE_TAG_LINKS);
  links.body = fn.data(), links.body_role = role.data();
  links.n_body = static_cast<uint32_t>(fn.size());
  return links;
}

uint32_t NewFunction::Body(const ge_node& n, const char* role) {
  for (uint32_t i = 0; i < n.n_body; ++i) {
    if (ge_is(n.body_role[i], role)) return n.body[i];
  }
  return 0;
}

std::vector<Val> InputsOf(Reverse& r, const ge_node& n) {
  std::vector<Val> in;
  for (uint32_t i = 0; i < n.n_in; ++i) in.push_back(n.in[i] ? r.Now(n.in[i]) : Val{});
  return in;
}

Attrs AttrsOf(const ge_node& n) {
  Attrs attrs;
  for (uint32_t i = 0; i < n.n_attr; ++i) attrs.Add(n.attr[i]);
  return attrs;
}

std::vector<Val> PutForwardNode(Reverse& r, const ge_node& n, const std::vector<Val>& in,
                                const Attrs& attrs, const NewFunction::Bodies& bodies,
                                size_t residuals) {
  ge_links links = bodies.Links();
  links.replaces = &n.id, links.n_replaces = 1;
  uint32_t node = 0;
  const uint32_t outputs = n.n_out + static_cast<uint32_t>(residuals);
  std::vector<Val> out = r.fn().Node(plugin::View(n.domain), plugin::View(n.op), in, attrs, outputs,
                                     &links, n.id, &node);
  r.Replace(n, node, out);
  return {out.begin() + n.n_out, out.end()};
}

}  // namespace ge::grad
