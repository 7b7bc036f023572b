/* test.Stray, x / 2, whose kernel also writes COUNT floats from AT on (negative: before its output,
 * from n on: behind it), or of which one function, HANG, never returns. */
#include "ge/ge_plugin_op.h"

enum { HANG_NONE, HANG_INFER, HANG_DECOMPOSE, HANG_WORK, HANG_KERNEL };
#ifndef HANG
#define HANG HANG_NONE
#endif
#ifndef COUNT
#define COUNT 0
#endif
#ifndef AT
#define AT 0
#endif

static void maybe_hang(int here) {
  for (volatile int go_on = here == HANG; go_on;) {
  }
}

static ge_rc infer(const ge_infer* c, ge_err* err) {
  (void)err;
  maybe_hang(HANG_INFER);
  return ge_infer_like(c, 0, 0);
}

static ge_rc decompose(const ge_builder* b, uint32_t* out, ge_err* err) {
  const uint32_t x = b->graph->node->in[0];
  (void)err;
  maybe_hang(HANG_DECOMPOSE);
  out[0] = ge_build(b, "Mul", x, ge_build_scalar(b, x, 0.5), 0);
  return GE_OK;
}

static ge_rc work(const ge_graph* g, double* flops, double* bytes, ge_err* err) {
  (void)g;
  (void)err;
  maybe_hang(HANG_WORK);
  *flops = 1;
  *bytes = 1;
  return GE_OK;
}

static ge_rc kernel(const ge_kernel_call* c, ge_err* err) {
  float *x = (float*)c->in[0].ptr, *y = (float*)c->out[0].ptr;
  const int64_t n = (int64_t)(c->out[0].bytes / sizeof *y);
  (void)err;
  maybe_hang(HANG_KERNEL);
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] * 0.5f;
  for (int64_t i = 0; i < COUNT; ++i) ((volatile float*)y)[AT + i] = 1.1f; /* no byte is 0 */
  return GE_OK;
}

static const ge_port port = {{"x", 1}, 1u << GE_F32, {"T", 1}, 0, 0, {0, 0}};
static const ge_op_def stray = {.h = GE_HDR(ge_op_def, GE_TAG_OP_DEF),
                                .domain = {"test", 4},
                                .name = {"Stray", 5},
                                .version = 1,
                                .input = &port,
                                .output = &port,
                                .n_input = 1,
                                .n_output = 1,
                                .infer = infer,
                                .decompose = HANG == HANG_DECOMPOSE ? decompose : 0,
                                .kernel = HANG == HANG_DECOMPOSE ? 0 : kernel,
                                .work = work};
static const ge_plugin_desc desc = {GE_PLUGIN_HEAD,
                                    .name = {"stray", 5},
                                    .version = {"1.0", 3},
                                    .vendor = {"test", 4},
                                    .kinds = GE_KIND_OPS,
                                    .sanitizer = GE_SANITIZER_HERE,
                                    .op = &stray,
                                    .n_op = 1,
                                    .op_stride = sizeof stray};

const ge_plugin_desc* ge_plugin_query(ge_query_args* args) {
  (void)args;
  return &desc;
}
