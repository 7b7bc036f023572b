/* Four operators made of others alone: Mish, SquaredDifference, RmsNorm, Lerp. */
#include "tests/plugins/ops/plugin.h"

static ge_rc like_first(const ge_infer* c, ge_err* err) { return ge_infer_like(c, 0, 0); }

static ge_rc mish(const ge_builder* b, uint32_t* out, ge_err* err) {
  const uint32_t x = b->graph->node->in[0];
  const uint32_t tanh = ge_build(b, "Tanh", ge_build(b, "Softplus", x, 0, 0), 0, 0);
  out[0] = ge_build(b, "Mul", x, tanh, 0);
  return GE_OK;
}

static ge_rc squared_difference(const ge_builder* b, uint32_t* out, ge_err* err) {
  const uint32_t* in = b->graph->node->in;
  const uint32_t apart = ge_build(b, "Sub", in[0], in[1], 0);
  out[0] = ge_build(b, "Mul", apart, apart, 0);
  return GE_OK;
}

/* x / sqrt(mean of x^2 along the last axis + epsilon) * scale */
static ge_rc rms_norm(const ge_builder* b, uint32_t* out, ge_err* err) {
  const ge_node* n = b->graph->node;
  const uint32_t x = n->in[0];
  const int64_t last = -1, one = 1;
  const ge_type axes = {GE_I64, 1, &one, 64, 0, {0, 0}};
  uint32_t axis = 0, mean = 0;
  b->constant(b->host, &axes, &last, sizeof last, &axis);
  const uint32_t in[2] = {ge_build(b, "Mul", x, x, 0), axis};
  const ge_attr keep = {.name = {"keepdims", 8}, .kind = GE_ATTR_INT, .i = 1};
  const ge_new_node reduce = {.h = GE_HDR(ge_new_node, GE_TAG_NEW_NODE),
                              .op = {"ReduceMean", 10},
                              .in = in,
                              .attr = &keep,
                              .n_in = 2,
                              .n_attr = 1};
  b->node(b->host, &reduce, &mean);
  const uint32_t epsilon = ge_build_scalar(b, x, ge_find_attr(n, "epsilon")->f);
  const uint32_t root = ge_build(b, "Sqrt", ge_build(b, "Add", mean, epsilon, 0), 0, 0);
  out[0] = ge_build(b, "Mul", ge_build(b, "Div", x, root, 0), n->in[1], 0);
  return GE_OK;
}

static ge_rc lerp(const ge_builder* b, uint32_t* out, ge_err* err) {
  const uint32_t* in = b->graph->node->in;
  const uint32_t step = ge_build(b, "Mul", in[2], ge_build(b, "Sub", in[1], in[0], 0), 0);
  out[0] = ge_build(b, "Add", in[0], step, 0);
  return GE_OK;
}

static const ge_port ports[] = {ACME_PORT("a", ACME_FLOATS), ACME_PORT("b", ACME_FLOATS),
                                ACME_PORT("c", ACME_FLOATS)};
static const ge_attr_def epsilon = {{{"epsilon", 7}, GE_ATTR_FLOAT, .f = 1e-5},
                                    GE_ATTR_HAS_DEFAULT};
static const ge_op_def ops[] = {
    {GE_HDR(ge_op_def, GE_TAG_OP_DEF), .domain = {"acme", 4}, .name = {"Mish", 4}, .version = 1,
     .input = ports, .n_input = 1, .output = ports, .n_output = 1, .infer = like_first,
     .decompose = mish},
    {GE_HDR(ge_op_def, GE_TAG_OP_DEF), .domain = {"acme", 4}, .name = {"SquaredDifference", 17},
     .version = 1, .input = ports, .n_input = 2, .output = ports, .n_output = 1,
     .infer = like_first, .decompose = squared_difference},
    {GE_HDR(ge_op_def, GE_TAG_OP_DEF), .domain = {"acme", 4}, .name = {"RmsNorm", 7}, .version = 1,
     .input = ports, .n_input = 2, .output = ports, .n_output = 1, .attr = &epsilon, .n_attr = 1,
     .infer = like_first, .decompose = rms_norm},
    {GE_HDR(ge_op_def, GE_TAG_OP_DEF), .domain = {"acme", 4}, .name = {"Lerp", 4}, .version = 1,
     .input = ports, .n_input = 3, .output = ports, .n_output = 1, .infer = like_first,
     .decompose = lerp}};

ACME_PLUGIN("decomposed", ops)
