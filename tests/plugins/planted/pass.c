/* A pass for tests/e2e/capsule/whose_fault.py and tests/e2e/capsule/faults: Add(a, b) becomes
 * Add(b, a). FAULT, set when it is compiled to one of these names, makes another edit of it, which
 * is wrong. */
#include <stddef.h>

#include "ge/ge_plugin_pass.h"

enum {
  SOUND,
  SUBTRACTS, /* Add(a, b) becomes Sub(b, a) */
  DROPS,     /* a Relu is left out */
  FUSES,     /* Relu(Add(a, b)) becomes Max(a, b) */
  FOLDS,     /* Add(Mul(x, c), d), d a constant, becomes Mul(x, c) */
  MERGES,    /* of two Tanh one is used for both */
  SWAPS      /* Sub(a, b) becomes Sub(b, a) */
};

static const ge_node* maker(const ge_graph* g, uint32_t value, const char* op) {
  for (uint32_t i = 0; i < g->n_node; ++i) {
    const ge_node* n = GE_NODE(g, i);
    if (n->out[0] == value && n->domain.n == 0 && ge_is(n->op, op)) return n;
  }
  return NULL;
}

/* What takes the place of the node's result; 0: it stays. */
static uint32_t instead(const ge_edit* e, uint32_t fn, const ge_graph* g, const ge_node* n) {
  const int add = ge_is(n->op, "Add"), relu = ge_is(n->op, "Relu");
  const ge_node* sum;
  /* In this order once: what it has made itself reads the later value first. */
  if (FAULT == SOUND || FAULT == SUBTRACTS) {
    if (!add || n->in[0] >= n->in[1]) return 0;
    return ge_edit_node(e, fn, n->id, FAULT ? "Sub" : "Add", n->in[1], n->in[0], 0);
  }
  if (FAULT == DROPS) return relu ? n->in[0] : 0;
  if (FAULT == FUSES) {
    sum = relu ? maker(g, n->in[0], "Add") : NULL;
    return sum ? ge_edit_node(e, fn, n->id, "Max", sum->in[0], sum->in[1], 0) : 0;
  }
  if (FAULT == FOLDS) {
    const int constant = (GE_VALUE(g, n->in[1])->flags & GE_VALUE_CONSTANT) != 0;
    return add && constant && maker(g, n->in[0], "Mul") ? n->in[0] : 0;
  }
  if (FAULT == MERGES) {
    for (uint32_t i = 0; ge_is(n->op, "Tanh") && i < g->n_node; ++i) {
      const ge_node* first = GE_NODE(g, i);
      if (first == n) return 0;
      if (ge_is(first->op, "Tanh")) return first->out[0];
    }
  }
  if (FAULT == SWAPS && ge_is(n->op, "Sub") && n->in[0] < n->in[1]) {
    return ge_edit_node(e, fn, n->id, "Sub", n->in[1], n->in[0], 0);
  }
  return 0;
}

static ge_rc run(const ge_edit* e, ge_err* err) {
  const ge_model* m = e->model(e->host);
  for (uint32_t fn = 1; fn < m->n_fn; ++fn) {
    const ge_graph* g = e->graph(e->host, fn);
    if (g == NULL) return ge_fail(err, GE_OUT_OF_MEMORY, "no picture of a function");
    for (uint32_t i = 0; i < g->n_node; ++i) {
      const ge_node* n = GE_NODE(g, i);
      const uint32_t y = n->domain.n ? 0 : instead(e, fn, g, n);
      if (y == 0) continue;
      e->replace_uses(e->host, fn, n->out[0], y);
      e->erase(e->host, fn, n->id);
      if (FAULT > SUBTRACTS) return GE_OK; /* one of them, and the next in another round */
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
