/* test.Pause(x) = x: its kernel first calls what states_client has set. */
#include <string.h>

#include "ge/ge_plugin_op.h"

__attribute__((visibility("default"))) void (*states_op_hook)(void);

static ge_rc infer(const ge_infer* c, ge_err* err) {
  (void)err;
  return ge_infer_like(c, 0, 0);
}

static ge_rc kernel(const ge_kernel_call* c, ge_err* err) {
  (void)err;
  if (states_op_hook) states_op_hook();
  memcpy(c->out[0].ptr, c->in[0].ptr, c->in[0].bytes);
  return GE_OK;
}

static ge_rc work(const ge_graph* g, double* flops, double* bytes, ge_err* err) {
  (void)err;
  *flops = 0;
  *bytes = 8.0 * (double)ge_input(g, 0)->type.dims[0];
  return GE_OK;
}

static const ge_port port = {.name = {"x", 1}, .dtypes = 1u << GE_F32, .type_var = {"T", 1}};
static const ge_op_def pause_op = {.h = GE_HDR(ge_op_def, GE_TAG_OP_DEF),
                                   .domain = {"test", 4},
                                   .name = {"Pause", 5},
                                   .version = 1,
                                   .input = &port,
                                   .output = &port,
                                   .n_input = 1,
                                   .n_output = 1,
                                   .infer = infer,
                                   .work = work,
                                   .kernel = kernel};
static const ge_plugin_desc desc = {GE_PLUGIN_HEAD,
                                    .name = {"states_op", 9},
                                    .version = {"1.0", 3},
                                    .vendor = {"test", 4},
                                    .kinds = GE_KIND_OPS,
                                    .sanitizer = GE_SANITIZER_HERE,
                                    .op = &pause_op,
                                    .n_op = 1,
                                    .op_stride = sizeof pause_op};

const ge_plugin_desc* ge_plugin_query(ge_query_args* args) {
  (void)args;
  return &desc;
}
