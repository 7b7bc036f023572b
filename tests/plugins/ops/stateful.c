/* Two operators with states: RunningMean, by a kernel, and StepCount, made of others. */
#include "tests/plugins/ops/plugin.h"

/* y = x - mean, mean' = mean + rate * (x - mean); x and mean have `size` elements. */
static ge_rc states_of_mean(const ge_infer* c, ge_err* err) {
  const ge_dim n = acme_size(ge_find_attr(c->graph->node, "size")->i);
  return c->output(c->host, 0, GE_F32, 1, &n);
}

static ge_rc infer_mean(const ge_infer* c, ge_err* err) {
  const ge_rc rc = ge_infer_like(c, 0, 0);
  return rc == GE_OK ? ge_infer_like(c, 1, 1) : rc;
}

static ge_rc running_mean(const ge_kernel_call* c, ge_err* err) {
  const float *x = c->in[0].ptr, *mean = c->in[1].ptr;
  const float rate = (float)ge_find_attr(c->node, "rate")->f;
  float *y = c->out[0].ptr, *next = c->out[1].ptr;
  for (int64_t i = 0; i < c->in[0].dims[0]; ++i) {
    const float apart = x[i] - mean[i];
    if (y) y[i] = apart;
    next[i] = mean[i] + rate * apart;
  }
  return GE_OK;
}

static ge_rc states_of_count(const ge_infer* c, ge_err* err) {
  return c->output(c->host, 0, GE_F32, 0, NULL);
}

/* How often it ran, and x times that. */
static ge_rc infer_count(const ge_infer* c, ge_err* err) {
  ge_rc rc = ge_infer_like(c, 0, 0);
  return rc == GE_OK ? c->output(c->host, 1, GE_F32, 0, NULL) : rc;
}

static ge_rc step_count(const ge_builder* b, uint32_t* out, ge_err* err) {
  const uint32_t* in = b->graph->node->in;
  out[1] = ge_build(b, "Add", in[1], ge_build_scalar(b, in[1], 1), 0);
  out[0] = ge_build(b, "Mul", in[0], out[1], 0);
  return GE_OK;
}

static const ge_port mean[] = {ACME_PORT("x", ACME_F32), ACME_STATE("mean", ACME_F32)};
static const ge_port count[] = {ACME_PORT("x", ACME_F32), ACME_STATE("steps", ACME_F32)};
static const ge_attr_def attrs[] = {{{{"size", 4}, GE_ATTR_INT}, GE_ATTR_REQUIRED},
                                    {{{"rate", 4}, GE_ATTR_FLOAT, .f = 0.5}, GE_ATTR_HAS_DEFAULT}};
static const ge_op_def ops[] = {
    {GE_HDR(ge_op_def, GE_TAG_OP_DEF), .domain = {"acme", 4}, .name = {"RunningMean", 11},
     .version = 1, .input = mean, .n_input = 2, .output = mean, .n_output = 2, .attr = attrs,
     .n_attr = 2, .infer = infer_mean, .kernel = running_mean, .states = states_of_mean},
    {GE_HDR(ge_op_def, GE_TAG_OP_DEF), .domain = {"acme", 4}, .name = {"StepCount", 9},
     .version = 1, .input = count, .n_input = 2, .output = count, .n_output = 2,
     .infer = infer_count, .decompose = step_count, .states = states_of_count}};

ACME_PLUGIN("stateful", ops)
