/* acme.Twice, y = 2 x and z = 3 x, whose gradient rule answers by the attribute `fault`: 0 right, 1
 * a value that is not there, 2 another shape, 3 GE_UNIMPLEMENTED, 4 a node that is not legal, 5 a
 * failure, 6 another dtype. */
#include "ge/ge_plugin_pass.h"
#include "tests/plugins/ops/plugin.h"

static ge_rc infer(const ge_infer* c, ge_err* err) {
  const ge_rc rc = ge_infer_like(c, 0, 0);
  return rc ? rc : ge_infer_like(c, 1, 0);
}

static ge_rc decompose(const ge_builder* b, uint32_t* out, ge_err* err) {
  const uint32_t x = b->graph->node->in[0];
  out[0] = ge_build(b, "Mul", x, ge_build_scalar(b, x, 2), 0);
  out[1] = ge_build(b, "Mul", x, ge_build_scalar(b, x, 3), 0);
  return GE_OK;
}

static ge_rc grad(const ge_builder* b, const uint32_t* out_grad, uint32_t* in_grad, ge_err* err) {
  const uint32_t x = b->graph->node->in[0];
  const int64_t fault = ge_find_attr(b->graph->node, "fault")->i;
  const uint32_t y = out_grad[0] ? ge_build(b, "Mul", out_grad[0], ge_build_scalar(b, x, 2), 0) : 0;
  const uint32_t z = out_grad[1] ? ge_build(b, "Mul", out_grad[1], ge_build_scalar(b, x, 3), 0) : 0;

  const ge_attr to = {.name = {"to", 2}, .kind = GE_ATTR_INT, .i = GE_BOOL};
  const ge_new_node cast = {.h = GE_HDR(ge_new_node, GE_TAG_NEW_NODE),
                            .op = {"Cast", 4},
                            .in = &x,
                            .attr = &to,
                            .n_in = 1,
                            .n_attr = 1};
  in_grad[0] = y && z ? ge_build(b, "Add", y, z, 0) : y ? y : z;
  if (fault == 1) in_grad[0] = 9999;
  if (fault == 2) in_grad[0] = ge_build(b, "ReduceSum", in_grad[0], 0, 0);
  if (fault == 3) return ge_fail(err, GE_UNIMPLEMENTED, "three halves have no slope");
  if (fault == 4) in_grad[0] = ge_build(b, "MatMul", x, ge_build_scalar(b, x, 2), 0);
  if (fault == 5) return ge_fail(err, GE_INTERNAL, "the rule has lost its way");
  if (fault == 6) b->node(b->host, &cast, in_grad);
  return GE_OK;
}

static const ge_port ports[] = {ACME_PORT("x", ACME_FLOATS), ACME_PORT("z", ACME_FLOATS)};
static const ge_attr_def fault = {{{"fault", 5}, GE_ATTR_INT}, GE_ATTR_HAS_DEFAULT};
static const ge_op_def ops[] = {{GE_HDR(ge_op_def, GE_TAG_OP_DEF), .domain = {"acme", 4},
                                 .name = {"Twice", 5}, .version = 1, .input = ports, .n_input = 1,
                                 .output = ports, .n_output = 2, .attr = &fault, .n_attr = 1,
                                 .infer = infer, .decompose = decompose, .grad = grad}};

ACME_PLUGIN("bad_grad", ops)
