/* Four operators whose outputs are as large as the data say: Positive, RunLength, FirstRows,
 * CountOf. */
#include <string.h>

#include "tests/plugins/ops/plugin.h"

static ge_rc rows(const ge_infer* c, uint32_t output, int32_t dtype, const char* stem) {
  ge_dim n;
  const ge_rc rc = c->data_dim(c->host, ge_text(stem), &n);
  return rc != GE_OK ? rc : c->output(c->host, output, dtype, 1, &n);
}

static ge_rc infer_positive(const ge_infer* c, ge_err* err) {
  return rows(c, 0, GE_F32, "positive");
}

static ge_rc positive(const ge_kernel_call* c, ge_err* err) {
  const float* x = c->in[0].ptr;
  const uint64_t count = c->in[0].bytes / sizeof *x;
  int64_t n = 0;
  for (uint64_t i = 0; i < count; ++i) n += x[i] > 0;
  const ge_rc rc = c->resize(c->host, 0, 1, &n);
  if (rc != GE_OK) return rc;
  float* y = c->out[0].ptr;
  for (uint64_t i = 0; i < count; ++i)
    if (x[i] > 0) *y++ = x[i];
  return GE_OK;
}

static ge_rc infer_run_length(const ge_infer* c, ge_err* err) {
  ge_dim n;
  ge_rc rc = c->data_dim(c->host, ge_text("runs"), &n);
  if (rc == GE_OK) rc = c->output(c->host, 0, GE_I64, 1, &n);
  return rc == GE_OK ? c->output(c->host, 1, GE_I64, 1, &n) : rc;
}

static ge_rc run_length(const ge_kernel_call* c, ge_err* err) {
  const int64_t *x = c->in[0].ptr, count = c->in[0].dims[0];
  int64_t n = 0, at = -1;
  for (int64_t i = 0; i < count; ++i) n += i == 0 || x[i] != x[i - 1];
  ge_rc rc = c->resize(c->host, 0, 1, &n);
  if (rc == GE_OK) rc = c->resize(c->host, 1, 1, &n);
  if (rc != GE_OK) return rc;
  int64_t *value = c->out[0].ptr, *length = c->out[1].ptr;
  for (int64_t i = 0; i < count; ++i) {
    if (i == 0 || x[i] != x[i - 1]) {
      value[++at] = x[i];
      length[at] = 0;
    }
    ++length[at];
  }
  return GE_OK;
}

/* The first k rows, k being what input 1 holds. */
static ge_rc infer_first_rows(const ge_infer* c, ge_err* err) {
  const ge_value* x = ge_input(c->graph, 0);
  ge_dim dims[2];
  if (x->type.rank != 2) {
    if (err) {
      err->msg_len = 24;
      memcpy(err->msg, "x has to be of rank two.", 24);
    }
    return GE_INVALID_ARGUMENT;
  }
  const ge_rc rc = c->data_dim(c->host, ge_text("rows"), &dims[0]);
  dims[1] = x->dim[1];
  return rc == GE_OK ? c->output(c->host, 0, x->type.dtype, 2, dims) : rc;
}

static ge_rc first_rows(const ge_kernel_call* c, ge_err* err) {
  const int64_t k = *(const int64_t*)c->in[1].ptr;
  const int64_t dims[2] = {k < c->in[0].dims[0] ? k : c->in[0].dims[0], c->in[0].dims[1]};
  if (k < 0) {
    if (err) {
      err->msg_len = 16;
      memcpy(err->msg, "k is below zero.", 16);
    }
    return GE_INVALID_ARGUMENT;
  }
  const ge_rc rc = c->resize(c->host, 0, 2, dims);
  if (rc == GE_OK) memcpy(c->out[0].ptr, c->in[0].ptr, c->out[0].bytes);
  return rc;
}

/* How often each of 0 .. the greatest occurs. */
static ge_rc infer_count_of(const ge_infer* c, ge_err* err) { return rows(c, 0, GE_I64, "bins"); }

static ge_rc count_of(const ge_kernel_call* c, ge_err* err) {
  const int64_t *x = c->in[0].ptr, count = (int64_t)(c->in[0].bytes / sizeof *x);
  int64_t n = 0;
  for (int64_t i = 0; i < count; ++i) n = x[i] >= n ? x[i] + 1 : n;
  const ge_rc rc = c->resize(c->host, 0, 1, &n);
  if (rc != GE_OK) return rc;
  int64_t* y = c->out[0].ptr;
  memset(y, 0, c->out[0].bytes);
  for (int64_t i = 0; i < count; ++i) y[x[i]] += x[i] >= 0;
  return GE_OK;
}

static const ge_port floats[] = {ACME_PORT("x", ACME_F32), ACME_PORT("k", ACME_I64)};
static const ge_port ints[] = {ACME_PORT("a", ACME_I64), ACME_PORT("b", ACME_I64)};
#define ACME_OP(name_, in_, n_in_, out_, n_out_, infer_, kernel_)                                \
  {                                                                                              \
    GE_HDR(ge_op_def, GE_TAG_OP_DEF), .domain = {"acme", 4}, .name = {name_, sizeof(name_) - 1}, \
                                      .version = 1, .flags = GE_OP_DATA_SIZED, .input = in_,     \
                                      .n_input = n_in_, .output = out_, .n_output = n_out_,      \
                                      .infer = infer_, .kernel = kernel_                         \
  }
static const ge_op_def ops[] = {
    ACME_OP("Positive", floats, 1, floats, 1, infer_positive, positive),
    ACME_OP("RunLength", ints, 1, ints, 2, infer_run_length, run_length),
    ACME_OP("FirstRows", floats, 2, floats, 1, infer_first_rows, first_rows),
    ACME_OP("CountOf", ints, 1, ints, 1, infer_count_of, count_of)};

ACME_PLUGIN("data_sized", ops)
