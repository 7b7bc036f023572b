// my_plugin: the pass my-plugin, which takes the second of two Relu in a row out. Make it yours
// from here: `Run` looks at the model and edits it, `Pass` says when it runs. ge/ge_plugin_pass.h
// is the whole contract: passes may add functions, states and entries, ask what nodes would cost,
// and use the rules of any operator.
#include <cstdio>

#include "ge/ge_plugin.hpp"
#include "ge/ge_plugin_pass.h"

namespace {

constexpr char kName[] = "my_plugin";
constexpr char kPass[] = "my-plugin";

bool IsRelu(const ge_node& n) { return n.domain.n == 0 && ge::plugin::View(n.op) == "Relu"; }

// A picture stays as it was while it is walked: from the end, so that a node is edited before those
// that it reads from.
void EditFunction(const ge_edit* e, uint32_t fn) {
  const ge_graph* g = e->graph(e->host, fn);
  for (uint32_t i = g != nullptr ? g->n_node : 0; i-- > 0;) {
    const ge_node& n = *GE_NODE(g, i);
    if (!IsRelu(n)) continue;
    const ge_value& x = *GE_VALUE(g, n.in[0]);
    if (x.producer == UINT32_MAX || !IsRelu(*GE_NODE(g, x.producer))) continue;
    e->replace_uses(e->host, fn, n.out[0], n.in[0]);
    e->erase(e->host, fn, n.id);
  }
}

// Wrapped in Guard: an exception must not leave the plugin. What an edit fails of, the host says.
ge_rc Run(const ge_edit* e, ge_err* err) {
  return ge::plugin::Guard(err, kPass, [&]() -> ge_rc {
    if (const ge_rc rc = ge::plugin::Understand(e->h, err, kPass)) return rc;
    const ge_model* model = e->model(e->host);
    for (uint32_t fn = 1; model != nullptr && fn < model->n_fn; ++fn) EditFunction(e, fn);
    return GE_OK;
  });
}

constexpr ge_pass_def Pass() {
  ge_pass_def p = {};
  p.h = GE_HDR(ge_pass_def, GE_TAG_PASS_DEF);
  p.name = {kPass, sizeof kPass - 1};
  p.summary = {"Relu(Relu(x)) is Relu(x)", 24};
  p.kind = GE_PASS_CANONICALISE;
  p.phases = GE_PHASE_LOAD;
  p.run = Run;
  return p;
}
constexpr ge_pass_def kPassDef = Pass();

constexpr ge_plugin_desc Describe() {
  ge_plugin_desc d = {};
  d.magic = GE_PLUGIN_MAGIC;
  d.h = GE_HDR(ge_plugin_desc, GE_TAG_PLUGIN);
  d.abi_major = GE_ABI_MAJOR;
  d.abi_minor = GE_ABI_MINOR;
  d.header_hash = GE_HEADER_HASH;
  d.name = {kName, sizeof kName - 1};
  d.version = {"0.1", 3};
  d.vendor = {"me", 2};
  d.kinds = GE_KIND_PASSES;
  d.sanitizer = GE_SANITIZER_HERE;
  d.pass = &kPassDef;
  d.n_pass = 1;
  d.pass_stride = sizeof kPassDef;
  return d;
}
constexpr ge_plugin_desc kDesc = Describe();

}  // namespace

const ge_plugin_desc* ge_plugin_query(ge_query_args* args) {
  if (args->host_major == GE_ABI_MAJOR) return &kDesc;
  std::snprintf(args->refusal, sizeof args->refusal, "%s speaks plugin ABI %u, the host %u", kName,
                GE_ABI_MAJOR, args->host_major);
  return nullptr;
}
