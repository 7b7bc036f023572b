#include "passes/kit/new_function.h"

namespace ge::passes {

bool CallsItself(const PassRun& run, uint32_t fn) {
  const ge_model* m = run.edit->model(run.edit->host);
  return m != nullptr && fn < m->n_fn && (GE_FUNCTION(m, fn)->flags & GE_FUNCTION_RECURSIVE) != 0;
}

NewFunction::NewFunction(PassRun& run, const char* kind, uint32_t of, bool recursive)
    : edit_(run.edit) {
  const ge_edit* e = run.edit;
  const std::string what = std::string(kind) + "." + std::to_string(++run.next_name);
  const std::string name = run.prefix + what;
  ge_function f{};
  f.h = GE_HDR(ge_function, GE_TAG_FUNCTION);
  f.name = plugin::Str(name);
  // One function may be derived in several ways: for other inputs, in other places.
  if (of != 0) {
    f.derived_of = of;
    f.derived_kind = plugin::Str(what);
  }
  recursive = recursive || (of != 0 && CallsItself(run, of));
  f.flags = recursive ? uint32_t{GE_FUNCTION_RECURSIVE} : 0u;
  uint32_t id = 0;
  e->function(e->host, &f, &id);
  fn_ = std::make_unique<Fn>(e, id);
}

void NewFunction::Results(const std::vector<Val>& results) {
  std::vector<uint32_t> ids;
  for (const Val v : results) ids.push_back(v.id);
  edit_->results(edit_->host, fn_->id(), ids.data(), nullptr, static_cast<uint32_t>(ids.size()));
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
  links.body = fn.data();
  links.body_role = role.data();
  links.n_body = static_cast<uint32_t>(fn.size());
  return links;
}

uint32_t NewFunction::Body(const ge_node& n, const char* role) {
  for (uint32_t i = 0; i < n.n_body; ++i) {
    if (ge_is(n.body_role[i], role)) return n.body[i];
  }
  return 0;
}

Attrs AttrsOf(const ge_node& n) {
  Attrs attrs;
  for (uint32_t i = 0; i < n.n_attr; ++i) attrs.Add(n.attr[i]);
  return attrs;
}

}  // namespace ge::passes
