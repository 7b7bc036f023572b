/* Operators with kernels and sizes that are known before: Rotate, AddKept, which keeps a number,
 * and Distances, which others can make as well. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/abi/museum/1.0/plugins/plugin.h"

static ge_rc infer_rotate(const ge_infer* c, ge_err* err) { return ge_infer_like(c, 0, 0); }

/* Elements in flat order, moved on by `by` places. */
static ge_rc rotate(const ge_kernel_call* c, ge_err* err) {
  const int64_t n = (int64_t)(c->in[0].bytes / 4);
  const int64_t by = n ? ge_find_attr(c->node, "by")->i % n : 0;
  const char* x = c->in[0].ptr;
  char* y = c->out[0].ptr;
  memcpy(y, x + 4 * (n - by), (size_t)(4 * by));
  memcpy(y + 4 * by, x, (size_t)(4 * (n - by)));
  return GE_OK;
}

static ge_rc rotate_work(const ge_graph* g, double* flops, double* bytes, ge_err* err) {
  const ge_type* t = &ge_input(g, 0)->type;
  *flops = 0;
  *bytes = 8;
  for (int32_t i = 0; i < t->rank; ++i) *bytes *= (double)t->dims[i];
  return GE_OK;
}

/* Euclidean distances of the rows of a[n, d] and of b[m, d]. */
static ge_rc infer_distances(const ge_infer* c, ge_err* err) {
  const ge_value *a = ge_input(c->graph, 0), *b = ge_input(c->graph, 1);
  if (a->type.rank != 2 || b->type.rank != 2) return GE_INVALID_ARGUMENT;
  const ge_dim dims[2] = {a->dim[0], b->dim[0]};
  return c->output(c->host, 0, GE_F32, 2, dims);
}

static ge_rc distances(const ge_kernel_call* c, ge_err* err) {
  const float *a = c->in[0].ptr, *b = c->in[1].ptr;
  const int64_t n = c->in[0].dims[0], m = c->in[1].dims[0], d = c->in[0].dims[1];
  for (int64_t i = 0; i < n * m; ++i) {
    float sum = 0;
    for (int64_t k = 0; k < d; ++k) {
      const float apart = a[i / m * d + k] - b[i % m * d + k];
      sum += apart * apart;
    }
    ((float*)c->out[0].ptr)[i] = sqrtf(sum);
  }
  return GE_OK;
}

static uint32_t axis_node(const ge_builder* b, const char* op, uint32_t x, int64_t axis,
                          const ge_attr* attr) {
  const int64_t one = 1;
  const ge_type type = {GE_I64, 1, &one, 64, 0, {0, 0}};
  uint32_t in[2] = {x, 0}, out = 0;
  b->constant(b->host, &type, &axis, sizeof axis, &in[1]);
  const ge_new_node n = {GE_HDR(ge_new_node, GE_TAG_NEW_NODE),
                         .op = ge_text(op),
                         .in = in,
                         .attr = attr,
                         .n_in = 2,
                         .n_attr = attr ? 1 : 0};
  b->node(b->host, &n, &out);
  return out;
}

static ge_rc distances_apart(const ge_builder* b, uint32_t* out, ge_err* err) {
  const uint32_t* in = b->graph->node->in;
  const ge_attr drop = {.name = {"keepdims", 8}, .kind = GE_ATTR_INT, .i = 0};
  const uint32_t apart = ge_build(b, "Sub", axis_node(b, "Unsqueeze", in[0], 1, NULL),
                                  axis_node(b, "Unsqueeze", in[1], 0, NULL), 0);
  const uint32_t sum = axis_node(b, "ReduceSum", ge_build(b, "Mul", apart, apart, 0), 2, &drop);
  out[0] = ge_build(b, "Sqrt", sum, 0, 0);
  return GE_OK;
}

static ge_rc distances_work(const ge_graph* g, double* flops, double* bytes, ge_err* err) {
  const int64_t *a = ge_input(g, 0)->type.dims, *b = ge_input(g, 1)->type.dims;
  *flops = 3.0 * (double)(a[0] * b[0] * a[1]);
  *bytes = 4.0 * (double)(a[0] * a[1] + b[0] * b[1] + a[0] * b[0]);
  return GE_OK;
}

/* Adds what `open` has kept: the number `by`, unless that is 13. With $GE_TEST_KEPT a line goes
 * into that file for each open and close. */
static void note(const char* what) {
  const char* path = getenv("GE_TEST_KEPT");
  FILE* f = path ? fopen(path, "a") : NULL;
  if (!f) return;
  fprintf(f, "%s\n", what);
  fclose(f);
}
static ge_rc open_kept(const ge_node* node, const ge_host_api* api, void** kept, ge_err* err) {
  const int64_t by = ge_find_attr(node, "by")->i;
  if (by == 13)
    return ge_fail(err, GE_INVALID_ARGUMENT, "attribute by is 13; any other number will do");
  float* number = malloc(sizeof *number);
  if (!number) return GE_OUT_OF_MEMORY;
  *number = (float)by;
  *kept = number;
  note("open");
  return GE_OK;
}
static void close_kept(void* kept) {
  free(kept);
  note("close");
}
static ge_rc add_kept(const ge_kernel_call* c, ge_err* err) {
  const float* x = c->in[0].ptr;
  float* y = c->out[0].ptr;
  for (uint64_t i = 0; i < c->in[0].bytes / 4; ++i) y[i] = x[i] + *(const float*)c->kept;
  return GE_OK;
}

static const ge_port ports[] = {ACME_PORT("a", ACME_F32), ACME_PORT("b", ACME_F32)};
static const ge_attr_def by = {{{"by", 2}, GE_ATTR_INT, .i = 1}, GE_ATTR_HAS_DEFAULT};
static const ge_op_def ops[] = {
    {GE_HDR(ge_op_def, GE_TAG_OP_DEF), .domain = {"acme", 4}, .name = {"Rotate", 6}, .version = 1,
     .input = ports, .n_input = 1, .output = ports, .n_output = 1, .attr = &by, .n_attr = 1,
     .infer = infer_rotate, .kernel = rotate, .work = rotate_work},
    {GE_HDR(ge_op_def, GE_TAG_OP_DEF), .domain = {"acme", 4}, .name = {"AddKept", 7}, .version = 1,
     .input = ports, .n_input = 1, .output = ports, .n_output = 1, .attr = &by, .n_attr = 1,
     .infer = infer_rotate, .kernel = add_kept, .open = open_kept, .close = close_kept},
    {GE_HDR(ge_op_def, GE_TAG_OP_DEF), .domain = {"acme", 4}, .name = {"Distances", 9},
     .version = 1, .input = ports, .n_input = 2, .output = ports, .n_output = 1,
     .infer = infer_distances, .decompose = distances_apart, .kernel = distances,
     .work = distances_work}};

ACME_PLUGIN("kernels", ops)
