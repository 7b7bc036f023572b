/* Passes that ask operators for their rules. `apart` takes every node apart that has a
 * decomposition and costs anything, whoever brought its operator. `derivatives` adds entries that
 * give the gradient and the tangent of the first entry, whose one node is a Square of this
 * plugin's. */
#include <stddef.h>

#include "ge/ge_plugin_pass.h"

static ge_rc take_apart(const ge_edit* e, ge_err* err) {
  const ge_model* m = e->model(e->host);
  for (uint32_t fn = 1; fn < m->n_fn; ++fn) {
    const ge_graph* g = e->graph(e->host, fn);
    for (uint32_t i = 0; i < g->n_node; ++i) {
      const ge_node* n = GE_NODE(g, i);
      uint32_t made[8];
      ge_rule rule = {GE_HDR(ge_rule, GE_TAG_RULE), fn, n->id, GE_RULE_DECOMPOSE};
      double flops = 0, bytes = 0;
      if (e->rule(e->host, &rule) != GE_OK || n->n_out > 8) continue;
      if (e->work(e->host, fn, n->id, &flops, &bytes) != GE_OK || flops <= 0) continue;
      rule.before = n->id;
      rule.made = made;
      rule.n_made = n->n_out;
      if (e->rule(e->host, &rule) != GE_OK) continue;
      for (uint32_t k = 0; k < n->n_out; ++k) e->replace_uses(e->host, fn, n->out[k], made[k]);
      e->erase(e->host, fn, n->id);
    }
  }
  return GE_OK;
}

static ge_rc infer(const ge_infer* c, ge_err* err) { return ge_infer_like(c, 0, 0); }
static ge_rc decompose(const ge_builder* b, uint32_t* out, ge_err* err) {
  out[0] = ge_build(b, "Mul", 1, 1, 0);
  return GE_OK;
}
/* 2 x times what is given, for the derivatives of both kinds. */
static ge_rc derivative(const ge_builder* b, const uint32_t* given, uint32_t* made, ge_err* err) {
  const uint32_t product = given[0] ? ge_build(b, "Mul", 1, given[0], 0) : 0;
  made[0] = product ? ge_build(b, "Add", product, product, 0) : 0;
  return GE_OK;
}
static ge_rc shard(const ge_graph* g, void* host, ge_rc (*way)(void*, const ge_shard*),
                   ge_err* err) {
  const int32_t axis = 0;
  const ge_shard s = {GE_HDR(ge_shard, GE_TAG_SHARD), &axis, &axis, 1, 1, 0, 0};
  return way(host, &s);
}

static ge_rc count_way(void* to, const ge_shard* s) {
  *(uint32_t*)to += s->n_in == 1 && s->in_axis[0] == 0;
  return GE_OK;
}

/* An entry that takes what the first one takes, and the gradient of its output or the tangent of
 * its input, and answers what the rule makes of that. */
static ge_rc derive(const ge_edit* e, const char* name, uint32_t kind) {
  const ge_model* m = e->model(e->host);
  const uint32_t main = GE_ENTRY(m, 0)->fn;
  const ge_function record = {.h = GE_HDR(ge_function, GE_TAG_FUNCTION),
                              .name = ge_text(name),
                              .derived_kind = ge_text(name),
                              .derived_of = main};
  const ge_graph* g = e->graph(e->host, main);
  const ge_value* v = GE_VALUE(g, g->in[0]);
  ge_param param = {.name = v->name, v->type.dtype, v->type.rank, v->dim};
  uint32_t fn = 0, x = 0, given = 0, made = 0;
  e->function(e->host, &record, &fn);
  e->param(e->host, fn, &param, &x);
  param.name = ge_text("given");
  e->param(e->host, fn, &param, &given);
  const ge_rule rule = {.h = GE_HDR(ge_rule, GE_TAG_RULE),
                        .fn = main,
                        .node = g->node->id,
                        .kind = kind,
                        .to_fn = fn,
                        .n_given = 1,
                        .in_value = &x,
                        .given = &given,
                        .made = &made,
                        .n_made = 1};
  const ge_rc rc = e->rule(e->host, &rule);
  const ge_str out = ge_text("made");
  if (rc != GE_OK) return rc;
  e->results(e->host, fn, &made, &out, 1);
  return e->entry(e->host, ge_text(name), fn, GE_ROLE_INFER);
}

static ge_rc derive_both(const ge_edit* e, ge_err* err) {
  uint32_t ways = 0;
  if (derive(e, "grad", GE_RULE_GRAD) != GE_OK || derive(e, "jvp", GE_RULE_JVP) != GE_OK)
    return ge_fail(err, GE_UNIMPLEMENTED, "the first node has no rule for derivatives");
  if (e->shard(e->host, GE_ENTRY(e->model(e->host), 0)->fn, 1, &ways, count_way) != GE_OK ||
      ways != 1)
    return ge_fail(err, GE_INTERNAL, "the first node has no one way to split");
  return GE_OK;
}

static const ge_port x = {{"x", 1}, 1u << GE_F32, {"T", 1}, 0, 0, {0, 0}};
static const ge_op_def square = {GE_HDR(ge_op_def, GE_TAG_OP_DEF),
                                 .domain = {"acme", 4},
                                 .name = {"Square", 6},
                                 .version = 1,
                                 .input = &x,
                                 .output = &x,
                                 .n_input = 1,
                                 .n_output = 1,
                                 .infer = infer,
                                 .decompose = decompose,
                                 .grad = derivative,
                                 .jvp = derivative,
                                 .shard = shard};
static const ge_str fold = {"fold-constants",
                            14}; /* ahead of the rounds, so that nothing is gone */
static const ge_pass_def passes[] = {{GE_HDR(ge_pass_def, GE_TAG_PASS_DEF),
                                      {"apart", 5},
                                      {"every node becomes its parts", 28},
                                      GE_PASS_LOWER,
                                      GE_PHASE_BIND | GE_PHASE_ASKED,
                                      .run = take_apart},
                                     {GE_HDR(ge_pass_def, GE_TAG_PASS_DEF),
                                      {"derivatives", 11},
                                      {"entries grad and jvp beside the first one", 41},
                                      GE_PASS_DERIVE,
                                      GE_PHASE_LOAD | GE_PHASE_ASKED,
                                      .before = &fold,
                                      .n_before = 1,
                                      .run = derive_both}};
static const ge_plugin_desc desc = {GE_PLUGIN_HEAD,
                                    .name = {"rules", 5},
                                    .version = {"1.0", 3},
                                    .vendor = {"acme", 4},
                                    .kinds = GE_KIND_OPS | GE_KIND_PASSES,
                                    .sanitizer = GE_SANITIZER_HERE,
                                    .op = &square,
                                    .pass = passes,
                                    .n_op = 1,
                                    .op_stride = sizeof square,
                                    .n_pass = sizeof passes / sizeof *passes,
                                    .pass_stride = sizeof *passes};

const ge_plugin_desc* ge_plugin_query(ge_query_args* args) { return &desc; }
