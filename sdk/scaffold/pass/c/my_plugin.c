/* my_plugin: the pass my-plugin, which takes the second of two Relu in a row out. Make it yours
 * from here: `run` looks at the model and edits it, `pass` says when it runs. ge/ge_plugin_pass.h
 * is the whole contract: passes may add functions, states and entries, ask what nodes would cost,
 * and use the rules of any operator. */
#include <stdio.h>

#include "ge/ge_plugin_pass.h"

static const char kName[] = "my_plugin";

static int is_relu(const ge_node* n) { return n->domain.n == 0 && ge_is(n->op, "Relu"); }

/* A picture stays as it was while it is walked: from the end, so that a node is edited before those
 * that it reads from. */
static void edit_function(const ge_edit* e, uint32_t fn) {
  const ge_graph* g = e->graph(e->host, fn);
  for (uint32_t i = g != NULL ? g->n_node : 0; i-- > 0;) {
    const ge_node* n = GE_NODE(g, i);
    if (!is_relu(n)) continue;
    const ge_value* x = GE_VALUE(g, n->in[0]);
    if (x->producer == UINT32_MAX || !is_relu(GE_NODE(g, x->producer))) continue;
    e->replace_uses(e->host, fn, n->out[0], n->in[0]);
    e->erase(e->host, fn, n->id);
  }
}

static ge_rc run(const ge_edit* e, ge_err* err) {
  (void)err; /* rule 4: what an edit fails of, the host says */
  const ge_model* model = e->model(e->host);
  for (uint32_t fn = 1; model != NULL && fn < model->n_fn; ++fn) edit_function(e, fn);
  return GE_OK;
}

static const ge_pass_def pass = {
    .h = GE_HDR(ge_pass_def, GE_TAG_PASS_DEF),
    .name = {"my-plugin", sizeof "my-plugin" - 1},
    .summary = {"Relu(Relu(x)) is Relu(x)", 24},
    .kind = GE_PASS_CANONICALISE,
    .phases = GE_PHASE_LOAD,
    .run = run,
};

static const ge_plugin_desc desc = {
    GE_PLUGIN_HEAD,
    .name = {kName, sizeof kName - 1},
    .version = {"0.1", 3},
    .vendor = {"me", 2},
    .kinds = GE_KIND_PASSES,
    .sanitizer = GE_SANITIZER_HERE,
    .pass = &pass,
    .n_pass = 1,
    .pass_stride = sizeof pass,
};

const ge_plugin_desc* ge_plugin_query(ge_query_args* args) {
  if (args->host_major == GE_ABI_MAJOR) return &desc;
  snprintf(args->refusal, sizeof args->refusal, "%s speaks plugin ABI %u, the host %u", kName,
           GE_ABI_MAJOR, args->host_major);
  return NULL;
}
