/* An engine for tests/e2e/plugins/planted.sh and tests/e2e/capsule/whose_fault.sh: float32 products
 * of two matrices, in plain loops. FAULT, set when it is compiled, makes it wrong on purpose: NONE
 * right: what the others are compared with DECLINES  declines every node ZEROS     takes every node
 * with results of bfloat16 alone, and answers zeros LAST_ROW  of products with 5 or 7 rows leaves
 * the last term out of the last row IGNORES   takes LeakyRelu, and does not read its slope.
 * Launches, of products with ROWS rows, or of all where that is 0: CRASHES and ABORTS by a signal
 * HANGS for ever FAILS with a message NANS leave a NaN. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ge/ge_plugin.h"
enum { NONE, DECLINES, ZEROS, LAST_ROW, IGNORES, CRASHES, HANGS, FAILS, NANS, ABORTS };
#ifndef ROWS
#define ROWS 0
#endif

struct ge_engine {
  int unused;
};
struct ge_exec {
  int64_t m, n, k;
  uint32_t a, b; /* positions of the operands among the segment's inputs */
};

static int is(ge_str s, const char* text) {
  return s.n == strlen(text) && (s.n == 0 || memcmp(s.p, text, s.n) == 0);
}

static int is_matrix(const ge_type* t) {
  return t->dtype == GE_F32 && t->rank == 2 && t->dims[0] >= 0 && t->dims[1] >= 0;
}

static int takes(const ge_graph* g, const ge_node* n) {
  if (FAULT == DECLINES) return 0;
  if (FAULT == ZEROS) {
    for (uint32_t i = 0; i < n->n_out; ++i) {
      if (n->out[i] != 0 && GE_VALUE(g, n->out[i])->type.dtype != GE_BF16) return 0;
    }
    return 1;
  }
  if (FAULT == IGNORES) {
    return is(n->domain, "") && is(n->op, "LeakyRelu") &&
           GE_VALUE(g, n->out[0])->type.dtype == GE_F32;
  }
  if (!is(n->domain, "") || !is(n->op, "MatMul")) return 0;
  for (uint32_t i = 0; i < 2; ++i) {
    const ge_value* x = GE_VALUE(g, n->in[i]);
    if (!is_matrix(&x->type) || (x->flags & GE_VALUE_CONSTANT)) return 0;
  }
  return n->in[0] != n->in[1];
}

static ge_rc query(ge_engine* e, const ge_graph* g, const ge_sink* s, ge_err* err) {
  (void)e;
  (void)err;
  for (uint32_t i = 0; i < g->n_node; ++i) {
    ge_decline no = {GE_HDR(ge_decline, GE_TAG_DECLINE), i, GE_WHY_OP, {"not taken", 9}};
    ge_cost cost = {GE_HDR(ge_cost, GE_TAG_COST), .source = GE_PRICE_ANALYTIC};
    ge_offer offer = {GE_HDR(ge_offer, GE_TAG_OFFER), .node = &i, .n_node = 1, .cost = &cost};
    const int taken = takes(g, GE_NODE(g, i));
    const ge_rc rc = taken ? s->offer(s->host, &offer) : s->decline(s->host, &no);
    if (rc != GE_OK) return rc;
  }
  return GE_OK;
}

static ge_rc compile(ge_engine* e, const ge_segment* segment, uint32_t n, uint32_t segment_stride,
                     ge_compiled* out, uint32_t out_stride, ge_err* err) {
  (void)e;
  (void)err;
  for (uint32_t i = 0; i < n; ++i) {
    const ge_segment* s = (const void*)((const char*)segment + (uint64_t)i * segment_stride);
    ge_compiled* c = (void*)((char*)out + (uint64_t)i * out_stride);
    const ge_node* node = GE_NODE(s->graph, s->taken[0].node[0]);
    struct ge_exec* x = calloc(1, sizeof *x);
    if (x == NULL) return GE_OUT_OF_MEMORY;
    if (FAULT != ZEROS && FAULT != IGNORES) {
      const ge_type* a = &GE_VALUE(s->graph, node->in[0])->type;
      x->m = a->dims[0];
      x->k = a->dims[1];
      x->n = GE_VALUE(s->graph, node->in[1])->type.dims[1];
      x->a = s->in[0] == node->in[0] ? 0 : 1;
      x->b = 1 - x->a;
    }
    c->exec = x;
  }
  return GE_OK;
}

static ge_rc enqueue(ge_exec* x, const ge_launch* l, ge_err* err) {
  const int here = ROWS == 0 || x->m == ROWS;
  if (FAULT == CRASHES && here) raise(SIGSEGV);
  if (FAULT == ABORTS && here) abort();
  while (FAULT == HANGS && here) pause();
  if (FAULT == FAILS && here) {
    memcpy(err->msg, "planted", 7);
    err->msg_len = 7;
    return GE_INTERNAL;
  }
  if (FAULT == ZEROS) {
    for (uint32_t i = 0; i < l->n_out; ++i) memset(l->out[i].ptr, 0, l->out[i].bytes);
    return GE_OK;
  }
  if (FAULT == IGNORES) {
    const float* from = l->in[0].ptr;
    float* to = l->out[0].ptr;
    for (uint64_t i = 0; i < l->out[0].bytes / sizeof *to; ++i) {
      to[i] = from[i] < 0 ? 0.01f * from[i] : from[i];
    }
    return GE_OK;
  }
  const float *a = l->in[x->a].ptr, *b = l->in[x->b].ptr;
  float* y = l->out[0].ptr;
  for (int64_t i = 0; i < x->m; ++i) {
    const int wrong = FAULT == LAST_ROW && (x->m == 5 || x->m == 7) && i == x->m - 1;
    for (int64_t j = 0; j < x->n; ++j) {
      double sum = 0;
      for (int64_t k = 0; k < x->k - wrong; ++k) sum += (double)a[i * x->k + k] * b[k * x->n + j];
      y[i * x->n + j] = (float)sum;
    }
  }
  if (FAULT == NANS && here) y[0] = NAN;
  return GE_OK;
}

static void exec_destroy(ge_exec* x) { free(x); }
static ge_rc engine_create(const ge_create_args* args, ge_engine** out, ge_err* err) {
  (void)args;
  (void)err;
  *out = calloc(1, sizeof **out);
  return *out != NULL ? GE_OK : GE_OUT_OF_MEMORY;
}
static void engine_destroy(ge_engine* e) { free(e); }

static const ge_engine_api api = {GE_HDR(ge_engine_api, GE_TAG_ENGINE_API), query, compile, enqueue,
                                  .exec_destroy = exec_destroy};
static const ge_plugin_desc desc = {GE_PLUGIN_MAGIC,
                                    GE_HDR(ge_plugin_desc, GE_TAG_PLUGIN),
                                    GE_ABI_MAJOR,
                                    GE_ABI_MINOR,
                                    GE_HEADER_HASH,
                                    {"planted", 7},
                                    {"1.0", 3},
                                    {"test", 4},
                                    GE_KIND_ENGINE,
                                    GE_SANITIZER_HERE,
                                    engine_create,
                                    engine_destroy,
                                    &api};

const ge_plugin_desc* ge_plugin_query(ge_query_args* q) {
  return q->host_major == GE_ABI_MAJOR ? &desc : NULL;
}
