/* A pass for tests/e2e/capsule/whose_fault.py: Add(a, b) becomes Add(b, a). FAULT, set when it is
 * compiled to 1, makes it Sub(b, a), once. */
#include <stddef.h>

#include "ge/ge_plugin_pass.h"

static ge_rc run(const ge_edit* e, ge_err* err) {
  const ge_model* m = e->model(e->host);
  for (uint32_t fn = 1; fn < m->n_fn; ++fn) {
    const ge_graph* g = e->graph(e->host, fn);
    if (g == NULL) return ge_fail(err, GE_OUT_OF_MEMORY, "no picture of a function");
    for (uint32_t i = 0; i < g->n_node; ++i) {
      const ge_node* n = GE_NODE(g, i);
      /* In this order once: what it has made itself reads the later value first. */
      if (n->domain.n || !ge_is(n->op, "Add") || n->in[0] >= n->in[1]) continue;
      const uint32_t y = ge_edit_node(e, fn, n->id, FAULT ? "Sub" : "Add", n->in[1], n->in[0], 0);
      e->replace_uses(e->host, fn, n->out[0], y);
      e->erase(e->host, fn, n->id);
    }
  }
  return GE_OK;
}

static const ge_pass_def pass = {GE_HDR(ge_pass_def, GE_TAG_PASS_DEF),
                                 {"planted-swap", 12},
                                 {"Add(a, b) becomes Add(b, a)", 27},
                                 GE_PASS_LOWER,
                                 GE_PHASE_BIND,
                                 .run = run};
static const ge_plugin_desc desc = {GE_PLUGIN_HEAD,
                                    .name = {"planted_swap", 12},
                                    .version = {"1.0", 3},
                                    .vendor = {"test", 4},
                                    .kinds = GE_KIND_PASSES,
                                    .sanitizer = GE_SANITIZER_HERE,
                                    .pass = &pass,
                                    .n_pass = 1,
                                    .pass_stride = sizeof pass};

const ge_plugin_desc* ge_plugin_query(ge_query_args* args) { return &desc; }
