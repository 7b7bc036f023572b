/* An engine for tests/e2e/capsule/faults: Add, Sub and Mul of float32 tensors of one shape, whose
 * constant operands it packs, Relu, Tanh by way of two inner values, and MatMul of two matrices.
 * FAULT, set when it is compiled to one of these names, makes it wrong on purpose. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ge/ge_plugin.h"

enum {
  NONE,
  /* kernels */
  MATMUL_ROW,     /* leaves the last term out of the last row */
  RELU_NEGATIVE,  /* lets its last elements through */
  TANH_COARSE,    /* x - x^3 / 3 */
  ADD_TWICE,      /* reads its first operand for both */
  SUB_NAN,        /* makes one element NaN */
  MUL_TAIL,       /* does not write its last elements */
  COMES_AND_GOES, /* Add: wrong in about half of the launches */
  REMEMBERS,      /* Mul: wrong from the second launch of a process on */
  /* memory */
  WRITES_BEFORE, /* Add: 64 bytes in front of its output */
  CHANGES_INPUT, /* Mul: adds one to its first input */
  LIES_OF_ALIAS, /* Sub: permits its output in the place of an input that it still reads */
  LIES_OF_STEPS, /* Tanh: says that its first inner value ends a step too early */
  LIES_OF_INNER, /* Tanh: permits one inner value in the place of the other */
  /* packs */
  FILLS_LESS, /* leaves out the last element */
  SHORT_KEY,  /* one key for packs of Sub, which are negated, and of Mul, which are not */
  N_FAULT
};

enum { ADD, SUB, MUL, RELU, TANH, MATMUL, N_OP };
static const char* const op_names[N_OP] = {"Add", "Sub", "Mul", "Relu", "Tanh", "MatMul"};

struct ge_engine {
  int unused;
};
struct ge_exec {
  int op;
  uint64_t n;     /* elements of the result */
  int64_t k, col; /* of MatMul */
  uint32_t from[2], packed[2];
  uint32_t value[2];
  ge_pack pack[2];
  ge_const_use use[2];
  ge_internal internal[2];
  uint32_t alias[2];
};

static int is(ge_str s, const char* text) {
  return s.n == strlen(text) && (s.n == 0 || memcmp(s.p, text, s.n) == 0);
}

static int op_of(const ge_node* n) {
  for (int op = 0; op < N_OP && n->domain.n == 0; ++op) {
    if (is(n->op, op_names[op])) return op;
  }
  return -1;
}

static int64_t count(const ge_type* t) {
  int64_t n = 1;
  if (t->dtype != GE_F32 || t->rank < 0) return -1;
  for (int32_t d = 0; d < t->rank; ++d) {
    if (t->dims[d] < 0 || t->dims[d] > 4096) return -1;
    n *= t->dims[d];
  }
  return n;
}

static int takes(const ge_graph* g, const ge_node* n) {
  const int op = op_of(n);
  if (op < 0) return 0;
  const ge_type* y = &GE_VALUE(g, n->out[0])->type;
  uint32_t constants = 0;
  for (uint32_t i = 0; i < n->n_in; ++i) {
    const ge_value* x = GE_VALUE(g, n->in[i]);
    const int constant = (x->flags & GE_VALUE_CONSTANT) != 0;
    if (count(&x->type) < 0 || (op == MATMUL && (constant || x->type.rank != 2))) return 0;
    if (op != MATMUL && (x->type.rank != y->rank || count(&x->type) != count(y))) return 0;
    constants += constant != 0;
  }
  return count(y) > 0 && constants < n->n_in && (n->n_in < 2 || n->in[0] != n->in[1]);
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

/* Where an operand comes from: an input of the launch, or a pack. */
static void take_operand(const ge_segment* s, const ge_node* node, uint32_t i, ge_exec* x,
                         ge_compiled* c) {
  const ge_value* v = GE_VALUE(s->graph, node->in[i]);
  const char* const name = FAULT == SHORT_KEY ? "operand" : op_names[x->op];
  for (uint32_t p = 0; p < s->n_in; ++p) {
    if (s->in[p] == node->in[i]) x->from[i] = p;
  }
  if (!(v->flags & GE_VALUE_CONSTANT)) return;
  x->packed[i] = 1;
  x->from[i] = c->n_pack;
  x->value[i] = node->in[i];
  x->pack[c->n_pack] = (ge_pack){GE_HDR(ge_pack, GE_TAG_PACK), .value = &x->value[i], .n_value = 1,
                                 .key = {name, strlen(name)}, .bytes = x->n * sizeof(float)};
  x->use[c->n_constant++] = (ge_const_use){node->in[i], GE_CONST_PACKED, 0, {0}};
  ++c->n_pack;
}

static void take_inner(ge_exec* x, ge_compiled* c) {
  const uint64_t bytes = x->n * sizeof(float);
  const uint32_t last = FAULT == LIES_OF_STEPS ? 0 : 1, first = FAULT == LIES_OF_INNER ? 0 : 1;
  x->internal[0] = (ge_internal){bytes, 64, 0, last, UINT32_MAX, 0, {0}};
  x->internal[1] =
      (ge_internal){bytes, 64, first, 1, FAULT == LIES_OF_INNER ? 0 : UINT32_MAX, 0, {0}};
  c->internal = x->internal;
  c->n_internal = c->n_step = 2;
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
    x->op = op_of(node);
    x->n = (uint64_t)count(&GE_VALUE(s->graph, node->out[0])->type);
    if (x->op == MATMUL) x->k = GE_VALUE(s->graph, node->in[0])->type.dims[1];
    if (x->op == MATMUL) x->col = GE_VALUE(s->graph, node->in[1])->type.dims[1];
    for (uint32_t k = 0; k < node->n_in && k < 2; ++k) take_operand(s, node, k, x, c);
    c->pack = x->pack;
    c->pack_stride = sizeof x->pack[0];
    c->constant = x->use;
    if (x->op == TANH) take_inner(x, c);
    if (FAULT == LIES_OF_ALIAS && x->op == SUB && !x->packed[0]) {
      x->alias[1] = x->from[0];
      c->alias = x->alias;
      c->alias_count = 1;
    }
    c->exec = x;
  }
  return GE_OK;
}

/* Packs of Sub are negated, so that its kernel adds. */
static ge_rc fill(ge_engine* e, const ge_pack* pack, const ge_buf* from, const ge_buf* to,
                  ge_err* err) {
  (void)e;
  (void)err;
  const float* x = from[0].ptr;
  float* y = to->ptr;
  /* Where the key says too little it is that of the first who asks, a Mul in the test. */
  const int negated = FAULT == SHORT_KEY ? 0 : is(pack->key, op_names[SUB]);
  const uint64_t n = pack->bytes / sizeof *y;
  for (uint64_t i = 0; i < n; ++i) {
    y[i] = FAULT == FILLS_LESS && i == n - 1 ? 0 : negated ? -x[i] : x[i];
  }
  return GE_OK;
}

static int half_of_the_launches(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (now.tv_nsec / 100) % 2;
}

static void add(ge_exec* x, const ge_launch* l, const float* a, const float* b, float* y) {
  const int wrong = FAULT == COMES_AND_GOES && half_of_the_launches();
  (void)l;
  for (uint64_t i = 0; i < x->n; ++i) y[i] = a[i] + (FAULT == ADD_TWICE ? a[i] : b[i]);
  if (wrong) y[0] += 1;
  if (FAULT == WRITES_BEFORE) memset((char*)l->out[0].ptr - 64, 0, 64);
}

static void subtract(ge_exec* x, const float* a, const float* b, float* y) {
  const float sign = x->packed[1] ? 1 : -1;
  if (FAULT == LIES_OF_ALIAS) {
    for (uint64_t i = 0; i < x->n; ++i) y[i] = sign * b[i];
    for (uint64_t i = 0; i < x->n; ++i) y[i] += a[i];
  } else {
    for (uint64_t i = 0; i < x->n; ++i) y[i] = a[i] + sign * b[i];
  }
  if (FAULT == SUB_NAN) y[x->n / 2] = NAN;
}

static void multiply(ge_exec* x, const float* a, const float* b, float* y) {
  static int launches;
  const float scale = FAULT == REMEMBERS && launches++ > 0 ? 1.5f : 1;
  const uint64_t n = FAULT == MUL_TAIL ? x->n - 3 : x->n;
  for (uint64_t i = 0; i < n; ++i) y[i] = scale * a[i] * b[i];
  if (FAULT == CHANGES_INPUT) ((float*)(uintptr_t)a)[0] += 1;
}

static void tangent(ge_exec* x, const ge_launch* l, const float* a, float* y) {
  float *t = l->internal[0].ptr, *u = l->internal[1].ptr;
  for (uint64_t i = 0; i < x->n; ++i) t[i] = a[i];
  for (uint64_t i = 0; i < x->n; ++i) u[i] = 0.5f;
  for (uint64_t i = 0; i < x->n; ++i) {
    const float v = t[i];
    y[i] = (FAULT == TANH_COARSE ? v - v * v * v / 3 : tanhf(v)) * 2 * u[i];
  }
}

static void product(ge_exec* x, const float* a, const float* b, float* y) {
  const int64_t rows = (int64_t)x->n / x->col;
  for (int64_t i = 0; i < rows; ++i) {
    const int wrong = FAULT == MATMUL_ROW && i == rows - 1;
    for (int64_t j = 0; j < x->col; ++j) {
      double sum = 0;
      for (int64_t k = 0; k < x->k - wrong; ++k) sum += (double)a[i * x->k + k] * b[k * x->col + j];
      y[i * x->col + j] = (float)sum;
    }
  }
}

static ge_rc enqueue(ge_exec* x, const ge_launch* l, ge_err* err) {
  (void)err;
  const float* a = (x->packed[0] ? l->pack : l->in)[x->from[0]].ptr;
  const float* b =
      x->op >= RELU && x->op != MATMUL ? NULL : (x->packed[1] ? l->pack : l->in)[x->from[1]].ptr;
  float* y = l->out[0].ptr;
  if (x->op == ADD) add(x, l, a, b, y);
  if (x->op == SUB) subtract(x, a, b, y);
  if (x->op == MUL) multiply(x, a, b, y);
  if (x->op == TANH) tangent(x, l, a, y);
  if (x->op == MATMUL) product(x, a, b, y);
  for (uint64_t i = 0; x->op == RELU && i < x->n; ++i) {
    y[i] = a[i] > 0 || (FAULT == RELU_NEGATIVE && i > x->n / 2) ? a[i] : 0;
  }
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

static const ge_engine_api api = {GE_HDR(ge_engine_api, GE_TAG_ENGINE_API),
                                  query,
                                  compile,
                                  enqueue,
                                  .exec_destroy = exec_destroy,
                                  .fill = fill};
static const ge_plugin_desc desc = {GE_PLUGIN_MAGIC,
                                    GE_HDR(ge_plugin_desc, GE_TAG_PLUGIN),
                                    GE_ABI_MAJOR,
                                    GE_ABI_MINOR,
                                    GE_HEADER_HASH,
                                    {"worker", 6},
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
