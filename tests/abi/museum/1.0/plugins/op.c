/* An operator: sample.Swish, x * sigmoid(beta * x), made of others and so run by every engine:
 *   cc -shared -fPIC -I sdk/include op.c -o op.so && ge run MODEL.onnx --plugins ./op.so */
#include "ge/ge_plugin_op.h"

static ge_rc infer(const ge_infer* c, ge_err* err) { return ge_infer_like(c, 0, 0); }

static ge_rc decompose(const ge_builder* b, uint32_t* out, ge_err* err) {
  const uint32_t x = b->graph->node->in[0];
  const uint32_t beta = ge_build_scalar(b, x, ge_find_attr(b->graph->node, "beta")->f);
  out[0] = ge_build(b, "Mul", x, ge_build(b, "Sigmoid", ge_build(b, "Mul", x, beta, 0), 0, 0), 0);
  return GE_OK;
}

static const ge_port x = {{"x", 1}, 1 << GE_F32 | 1 << GE_F64, {"T", 1}, 0, 0, {0, 0}};
static const ge_attr_def beta = {{{"beta", 4}, GE_ATTR_FLOAT, .f = 1}, GE_ATTR_HAS_DEFAULT};
static const ge_op_def swish = {GE_HDR(ge_op_def, GE_TAG_OP_DEF),
                                .domain = {"sample", 6},
                                .name = {"Swish", 5},
                                .version = 1,
                                .input = &x,
                                .output = &x,
                                .attr = &beta,
                                .n_input = 1,
                                .n_output = 1,
                                .n_attr = 1,
                                .infer = infer,
                                .decompose = decompose};
static const ge_plugin_desc desc = {GE_PLUGIN_HEAD,
                                    .name = {"op", 2},
                                    .version = {"1.0", 3},
                                    .vendor = {"sample", 6},
                                    .kinds = GE_KIND_OPS,
                                    .sanitizer = GE_SANITIZER_HERE,
                                    .op = &swish,
                                    .n_op = 1,
                                    .op_stride = sizeof swish};

const ge_plugin_desc* ge_plugin_query(ge_query_args* args) { return &desc; }
