/* An operator that is legal in form and wrong in one way, -DFAULT=FAULT_x: sample.Halve, x / 2,
 * with a kernel and with parts. ge-conform has to find it out. */
#include "ge/ge_plugin_op.h"

enum {
  FAULT_OP_HONEST,       /* none */
  FAULT_OP_OVERRUNS,     /* its kernel writes behind its output */
  FAULT_OP_SKIPS_LAST,   /* it leaves the last element as it was */
  FAULT_OP_WRITES_INPUT, /* it changes what it reads */
  FAULT_OP_PARTS_DIFFER, /* its parts compute x / 4; they ask less than the kernel */
  FAULT_OP_INFER_SILENT, /* infer says no type */
  FAULT_OP_INFER_ANY,    /* infer takes dtypes that its parts do not, and has no kernel */
  FAULT_OP_READS_BEHIND  /* infer reads the struct that a newer host would have */
};
#define IS(fault) (FAULT == FAULT_##fault)

static ge_rc infer(const ge_infer* c, ge_err* err) {
  (void)err;
  if (IS(OP_INFER_SILENT)) return GE_OK;
  if (IS(OP_READS_BEHIND)) {
    const volatile char* behind = (const char*)c + sizeof *c + 8192;
    if (*behind == 1) return GE_INTERNAL;
  }
  return ge_infer_like(c, 0, 0);
}

static ge_rc decompose(const ge_builder* b, uint32_t* out, ge_err* err) {
  const uint32_t x = b->graph->node->in[0];
  (void)err;
  out[0] = ge_build(b, "Mul", x, ge_build_scalar(b, x, IS(OP_PARTS_DIFFER) ? 0.25 : 0.5), 0);
  return GE_OK;
}

static ge_rc kernel(const ge_kernel_call* c, ge_err* err) {
  float *x = (float*)c->in[0].ptr, *y = (float*)c->out[0].ptr;
  const uint64_t n = c->out[0].bytes / sizeof *y;
  (void)err;
  for (uint64_t i = 0; i < n - (IS(OP_SKIPS_LAST) && n > 0); ++i) y[i] = x[i] * 0.5f;
  if (IS(OP_OVERRUNS) && n > 0) y[n] = 1;
  if (IS(OP_WRITES_INPUT) && n > 0) x[0] += 1;
  return GE_OK;
}

/* The kernel is far from free, so that models take the parts. */
static ge_rc work(const ge_graph* g, double* flops, double* bytes, ge_err* err) {
  (void)g;
  (void)err;
  *flops = 1e9;
  *bytes = 1e9;
  return GE_OK;
}

static const ge_port port = {
    {"x", 1}, 1u << GE_F32 | (IS(OP_INFER_ANY) ? 1u << GE_BOOL : 0), {"T", 1}, 0, 0, {0, 0}};
static const ge_op_def halve = {.h = GE_HDR(ge_op_def, GE_TAG_OP_DEF),
                                .domain = {"sample", 6},
                                .name = {"Halve", 5},
                                .version = 1,
                                .input = &port,
                                .output = &port,
                                .n_input = 1,
                                .n_output = 1,
                                .infer = infer,
                                .decompose = decompose,
                                .kernel = IS(OP_INFER_ANY) ? 0 : kernel,
                                .work = work};
static const ge_plugin_desc desc = {GE_PLUGIN_HEAD,
                                    .name = {FAULT_NAME, sizeof FAULT_NAME - 1},
                                    .version = {"1.0", 3},
                                    .vendor = {"sample", 6},
                                    .kinds = GE_KIND_OPS,
                                    .sanitizer = GE_SANITIZER_HERE,
                                    .op = &halve,
                                    .n_op = 1,
                                    .op_stride = sizeof halve};

const ge_plugin_desc* ge_plugin_query(ge_query_args* args) {
  (void)args;
  return &desc;
}
