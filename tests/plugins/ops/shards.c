/* Operators that state how ranks may split them. Each gives half of its input; they differ in what
 * `shard` says: Half the truth; Rows that rows make columns, which is not so; Ninth an axis that is
 * not there; Fails nothing, and fails. */
#include "ge/ge_plugin_op.h"

static ge_rc infer(const ge_infer* c, ge_err* err) { return ge_infer_like(c, 0, 0); }

static ge_rc decompose(const ge_builder* b, uint32_t* out, ge_err* err) {
  const uint32_t x = b->graph->node->in[0];
  out[0] = ge_build(b, "Mul", x, ge_build_scalar(b, x, 0.5), 0);
  return GE_OK;
}

/* With a rule of its own a step keeps the operator; else it has its parts. */
static ge_rc grad(const ge_builder* b, const uint32_t* out_grad, uint32_t* in_grad, ge_err* err) {
  const uint32_t ct = out_grad[0];
  in_grad[0] = ct == 0 ? 0 : ge_build(b, "Mul", ct, ge_build_scalar(b, ct, 0.5), 0);
  return GE_OK;
}

static ge_rc state(void* host, ge_rc (*way)(void*, const ge_shard*), int32_t in, int32_t out) {
  const ge_shard s = {GE_HDR(ge_shard, GE_TAG_SHARD), &in, &out, 1, 1, 0, 0};
  return way(host, &s);
}

static ge_rc half(const ge_graph* g, void* host, ge_rc (*way)(void*, const ge_shard*),
                  ge_err* err) {
  const int32_t rank = GE_VALUE(g, g->node->in[0])->type.rank;
  for (int32_t axis = 0; axis < rank; ++axis) {
    const ge_rc rc = state(host, way, axis, axis);
    if (rc != GE_OK) return rc;
  }
  return GE_OK;
}

static ge_rc rows(const ge_graph* g, void* host, ge_rc (*way)(void*, const ge_shard*),
                  ge_err* err) {
  return state(host, way, 0, 1);
}

static ge_rc ninth(const ge_graph* g, void* host, ge_rc (*way)(void*, const ge_shard*),
                   ge_err* err) {
  return state(host, way, 9, 0);
}

static ge_rc fails(const ge_graph* g, void* host, ge_rc (*way)(void*, const ge_shard*),
                   ge_err* err) {
  return ge_fail(err, GE_INTERNAL, "no way comes to mind");
}

static const ge_port x = {{"x", 1}, 1 << GE_F32 | 1 << GE_F64, {"T", 1}, 0, 0, {0, 0}};
#define OP(text, says)                                                                        \
  {                                                                                           \
    GE_HDR(ge_op_def, GE_TAG_OP_DEF), .domain = {"acme", 4}, .name = {text, sizeof text - 1}, \
                                      .version = 1, .input = &x, .output = &x, .n_input = 1,  \
                                      .n_output = 1, .infer = infer, .decompose = decompose,  \
                                      .grad = grad, .shard = says                             \
  }
static const ge_op_def ops[] = {OP("Half", half), OP("Rows", rows), OP("Ninth", ninth),
                                OP("Fails", fails)};
static const ge_plugin_desc desc = {GE_PLUGIN_HEAD,
                                    .name = {"shards", 6},
                                    .version = {"1.0", 3},
                                    .vendor = {"acme", 4},
                                    .kinds = GE_KIND_OPS,
                                    .sanitizer = GE_SANITIZER_HERE,
                                    .op = ops,
                                    .n_op = sizeof ops / sizeof *ops,
                                    .op_stride = sizeof *ops};

const ge_plugin_desc* ge_plugin_query(ge_query_args* args) { return &desc; }
