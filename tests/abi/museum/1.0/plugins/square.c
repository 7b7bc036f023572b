/* A pass in plain C: Pow(x, 2) becomes Mul(x, x) wherever the session's engines ask less for it.
 *   cc -shared -fPIC -I sdk/include square.c -o square.so
 *   ge run MODEL --plugins ./square.so */
#include <string.h>

#include "ge/ge_plugin_pass.h"

static int is_two(const ge_value* v) { /* a constant of one float, which is 2 */
  float number = 0;
  if (v->type.dtype != GE_F32 || v->data == NULL || v->data_bytes != sizeof number) return 0;
  memcpy(&number, v->data, sizeof number);
  return number == 2;
}

static void try_node(const ge_edit* e, uint32_t fn, const ge_graph* g, const ge_node* pow) {
  double now = 0, then = 0;
  uint32_t mul = 0;
  if (pow->domain.n || !ge_is(pow->op, "Pow") || !is_two(GE_VALUE(g, pow->in[1]))) return;
  const uint32_t y = ge_edit_node(e, fn, pow->id, "Mul", pow->in[0], pow->in[0], &mul);
  /* Where there is no price, since sizes are not known, everything stays as it is. */
  const int pays = e->price(e->host, fn, &pow->id, 1, &now) == GE_OK &&
                   e->price(e->host, fn, &mul, 1, &then) == GE_OK && then < now;
  if (pays) e->replace_uses(e->host, fn, pow->out[0], y);
  e->erase(e->host, fn, pays ? pow->id : mul);
}

static ge_rc run(const ge_edit* e, ge_err* err) {
  const ge_model* m = e->model(e->host);
  for (uint32_t fn = 1; fn < m->n_fn; ++fn) {
    const ge_graph* g = e->graph(e->host, fn);
    if (g == NULL) return ge_fail(err, GE_OUT_OF_MEMORY, "no picture of a function");
    for (uint32_t i = 0; i < g->n_node; ++i) try_node(e, fn, g, GE_NODE(g, i));
  }
  return GE_OK;
}

static const ge_pass_def pass = {GE_HDR(ge_pass_def, GE_TAG_PASS_DEF),
                                 {"square", 6},
                                 {"Pow(x, 2) becomes Mul(x, x) where that costs less", 49},
                                 GE_PASS_LOWER,
                                 GE_PHASE_BIND,
                                 .run = run};
static const ge_plugin_desc desc = {GE_PLUGIN_HEAD,
                                    .name = {"square", 6},
                                    .version = {"1.0", 3},
                                    .vendor = {"sample", 6},
                                    .kinds = GE_KIND_PASSES,
                                    .sanitizer = GE_SANITIZER_HERE,
                                    .pass = &pass,
                                    .n_pass = 1,
                                    .pass_stride = sizeof pass};

const ge_plugin_desc* ge_plugin_query(ge_query_args* args) { return &desc; }
