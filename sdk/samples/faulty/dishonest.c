/* An engine that is legal in form and wrong in substance in one way: -DFAULT=FAULT_x. No single
 * call shows it; ge-conform has to find it out. Everything else is right and priced as it was
 * measured. */
#define _POSIX_C_SOURCE 199309L /* nanosleep */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "adder.h"

enum {
  FAULT_HONEST, /* none */
  /* L0: loading */
  FAULT_SECOND_EXPORT,
  FAULT_OTHER_SANITIZER,
  FAULT_LEAKS_ENGINE,
  FAULT_NULL_OPTIONS, /* reads options that are not there */
  /* L1: other versions */
  FAULT_SIZE_EQUALITY,   /* a struct that has grown is an error to it */
  FAULT_REFUSES_UNKNOWN, /* any extension is */
  FAULT_IGNORES_MUST,    /* no extension is */
  FAULT_NULL_ERROR,      /* writes its text into an error that the caller did not give */
  FAULT_IGNORES_STRIDE,  /* walks nodes and values by their size */
  /* L2: honesty */
  FAULT_FORGETS_NODES, /* neither offers nor declines every second node */
  FAULT_QUERY_DIFFERS, /* asks another price each time */
  FAULT_READS_COPIED,  /* says that a constant was copied, and reads it at each launch */
  FAULT_FALSE_ALIAS,   /* lets its output lie on an input that it reads after writing */
  FAULT_OUT_BYTES,     /* says that its output has half its bytes */
  FAULT_OFFERS_ALL,    /* offers what it cannot compile */
  FAULT_STEPS_NOWHERE, /* tells of a value in a place that the launch has not */
  FAULT_STEPS_SILENT,  /* tells its steps, and says nothing behind them */
  /* L3: numerics */
  FAULT_SKIPS_TAIL,   /* works in fours and leaves the rest */
  FAULT_NAN_IS_ZERO,  /* loses NaN */
  FAULT_EMPTY_CRASH,  /* reads the first element of a tensor without any */
  FAULT_WRONG_LARGE,  /* is off by one behind element 1000 */
  FAULT_HALF_PRECISE, /* adds with 11 bits */
  /* L4: memory, order, threads */
  FAULT_ACCUMULATES,       /* takes its output to begin with zeros */
  FAULT_READS_WORKSPACE,   /* takes its workspace to do so */
  FAULT_WRITES_WORKSPACE,  /* writes behind it */
  FAULT_WRITES_INTERNAL,   /* writes behind an internal value, into the next one */
  FAULT_INTERNAL_OVERLAPS, /* says that a value dies before it is last read */
  FAULT_WRITES_PACK,       /* writes into a pack that others share */
  FAULT_STATIC_SCRATCH,    /* one scratch for all threads, without GE_COMPILED_SERIAL */
  FAULT_LEAKS_EXEC,
  FAULT_LEAKS_LAUNCH,
  FAULT_KEEPS_GRAPH,   /* reads at compile the graph that query was given */
  FAULT_KEEPS_SEGMENT, /* reads at enqueue the segment of compile */
  FAULT_KEEPS_LAUNCH,  /* reads the launch before */
  /* L5: prices */
  FAULT_PRICE_ONE,        /* everything takes a nanosecond */
  FAULT_PRICE_UPSIDE,     /* the larger the cheaper */
  FAULT_PRICE_CHEAP,      /* a ten-thousandth of the truth */
  FAULT_WORKSPACE_SECRET, /* a megabyte more than it offered */
  /* L6: overhead */
  FAULT_ALLOCATES, /* in enqueue */
  FAULT_OWN_THREADS,
  /* L7: failures */
  FAULT_SILENT_FAILURE, /* fails without code or text */
  FAULT_LONG_TEXT,      /* more text than there is room for */
  FAULT_OK_AND_FAILED,  /* GE_OK with an error filled in and nothing done */
  /* L8: whole graphs */
  FAULT_WRONG_IN_CROWD /* forgets an operand where the graph has more than 8 nodes */
};

#ifndef FAULT
#define FAULT FAULT_HONEST
#define FAULT_NAME "faulty_honest"
#endif
#define IS(fault) (FAULT == FAULT_##fault)

struct ge_engine {
  const ge_graph* kept_graph;
  uint64_t queries;
};
struct ge_exec {
  int crowd; /* of many nodes in one graph */
  const ge_segment* kept_segment;
  const ge_launch* kept_launch;
  const void* copied; /* payload of a constant that was declared copied */
  ge_internal internal[2];
  uint64_t out_bytes;
  uint32_t alias[2];
  ge_step step[2]; /* the second one makes the output */
  ge_made made;
  uint32_t node;
  struct adder add;
};

static float scratch[1 << 16];
/* What is written here the compiler cannot leave out. */
static volatile uintptr_t witness;

static const ge_hdr* strange(const ge_hdr* h, uint32_t size) {
  if (IS(IGNORES_MUST)) return NULL;
  if (IS(REFUSES_UNKNOWN) && h->next != NULL) return h->next;
  if (IS(SIZE_EQUALITY) && h->size != size) return h;
  return ge_not_understood(h, NULL, 0);
}
#define STRANGE(s) strange(&(s)->h, sizeof *(s))

static ge_rc fail(ge_err* err, ge_rc rc, const char* text) {
  if (IS(NULL_ERROR)) {
    err->code = rc;
    err->msg_len = (uint32_t)strlen(text);
    memcpy(err->msg, text, err->msg_len);
    return rc;
  }
  if (IS(SILENT_FAILURE)) return rc;
  if (IS(LONG_TEXT) && err != NULL) {
    err->code = rc;
    err->msg_len = 100000;
    return rc;
  }
  if (IS(OK_AND_FAILED)) {
    adder_fail(err, rc, text);
    return GE_OK;
  }
  return adder_fail(err, rc, text);
}

static ge_rc refuse(ge_err* err, const ge_hdr* x, const char* call) {
  char text[96];
  adder_say(x, call, text);
  return fail(err, GE_UNIMPLEMENTED, text);
}

/* ---- query ------------------------------------------------------------------------------------
 */

static uint64_t price(ge_engine* e, int64_t count) {
  const uint64_t ns = adder_ns(count);
  if (IS(PRICE_ONE)) return 1;
  if (IS(PRICE_UPSIDE)) return UINT64_C(1000000000) / (uint64_t)(count + 1);
  if (IS(PRICE_CHEAP)) return 1 + ns / 10000;
  if (IS(QUERY_DIFFERS)) return ns + e->queries % 2 * 1000;
  return ns;
}

static ge_rc answer(ge_engine* e, const ge_sink* s, uint32_t i, int64_t count) {
  if (count < 0 && !IS(OFFERS_ALL)) {
    const ge_decline no = {GE_HDR(ge_decline, GE_TAG_DECLINE), i, GE_WHY_OP, {"not this Add", 12}};
    return s->decline(s->host, &no);
  }
  const ge_cost cost = {
      GE_HDR(ge_cost, GE_TAG_COST), .marginal_ns = price(e, count < 0 ? 1 : count),
      .workspace = count < 0 ? 0 : (uint64_t)count * sizeof(float), .source = GE_PRICE_ANALYTIC};
  const ge_offer offer = {GE_HDR(ge_offer, GE_TAG_OFFER), .node = &i, .n_node = 1, .cost = &cost};
  return s->offer(s->host, &offer);
}

static ge_rc query(ge_engine* e, const ge_graph* g, const ge_sink* s, ge_err* err) {
  const ge_hdr* x = STRANGE(s);
  if (x == NULL && !IS(IGNORES_STRIDE)) x = adder_graph(g, strange);
  if (x != NULL) return refuse(err, x, "query");
  ++e->queries;
  e->kept_graph = g;
  for (uint32_t i = 0; i < g->n_node; ++i) {
    const ge_node* node = IS(IGNORES_STRIDE) ? &g->node[i] : GE_NODE(g, i);
    if (IS(FORGETS_NODES) && i % 2 == 1) continue;
    const ge_rc rc = answer(e, s, i, adder_takes(g, node));
    if (rc != GE_OK) return rc;
  }
  return GE_OK;
}

/* ---- compile ----------------------------------------------------------------------------------
 */

/* Faults of what compile says about memory. */
static void bend(const ge_segment* s, ge_exec* x, ge_compiled* c, uint64_t bytes) {
  const ge_node* n = GE_NODE(s->graph, s->taken[0].node[0]);
  c->n_step = 2;
  if (IS(READS_WORKSPACE) || IS(WRITES_WORKSPACE)) c->workspace = bytes;
  if (IS(WORKSPACE_SECRET)) c->workspace = bytes + (1 << 20);
  if (IS(WRITES_INTERNAL) || IS(INTERNAL_OVERLAPS)) {
    /* Both are read in step 1. */
    const int overlaps = IS(INTERNAL_OVERLAPS);
    x->internal[0] = (ge_internal){bytes, 64, 0, overlaps ? 0 : 1, UINT32_MAX, 0, {0}};
    x->internal[1] = (ge_internal){bytes, 64, overlaps ? 1 : 0, 1, UINT32_MAX, 0, {0}};
    c->internal = x->internal;
    c->n_internal = 2;
  }
  if (IS(OUT_BYTES)) {
    x->out_bytes = bytes / 2;
    c->out_bytes = &x->out_bytes;
  }
  if (IS(FALSE_ALIAS) && s->n_in == 2) {
    x->alias[0] = 0;
    x->alias[1] = x->add.from[1];
    c->alias = x->alias;
    c->alias_count = 1;
  }
  if (IS(READS_COPIED)) {
    for (uint32_t k = 0; k < 2; ++k) {
      const ge_value* v = GE_VALUE(s->graph, n->in[k]);
      if (!(v->flags & GE_VALUE_CONSTANT)) continue;
      x->copied = v->data;
      x->add.use[x->add.from[k]].disposition = GE_CONST_COPIED;
      c->n_pack = 0;
      c->pack = NULL;
    }
  }
}

static void tell_steps(const ge_segment* s, ge_exec* x, ge_compiled* c) {
  x->node = s->taken[0].node[0];
  x->made.value = s->out[0];
  x->made.place = IS(STEPS_NOWHERE) ? GE_PLACE_INTERNAL : GE_PLACE_OUT;
  for (int k = 0; k < 2; ++k) {
    x->step[k].h = (ge_hdr)GE_HDR(ge_step, GE_TAG_STEP);
    x->step[k].node = &x->node;
    x->step[k].n_node = 1;
  }
  x->step[1].made = &x->made;
  x->step[1].n_made = 1;
  c->step = x->step;
  c->step_stride = sizeof *x->step;
}

static ge_rc one(ge_engine* e, const ge_segment* s, ge_compiled* c) {
  const ge_node* n = GE_NODE(s->graph, s->taken[0].node[0]);
  const int64_t count = adder_takes(s->graph, n);
  const ge_hdr* x = STRANGE(s);
  if (x == NULL && !IS(IGNORES_STRIDE)) x = adder_graph(s->graph, strange);
  if (x != NULL) return c->rc = refuse(c->err, x, "compile");
  if (count < 0) return c->rc = fail(c->err, GE_UNIMPLEMENTED, "faulty: compile: not an Add");
  if (IS(KEEPS_GRAPH) && e->kept_graph != NULL) witness = e->kept_graph->n_node;
  c->exec = calloc(1, sizeof *c->exec);
  if (c->exec == NULL) return c->rc = fail(c->err, GE_OUT_OF_MEMORY, "faulty: out of memory");
  adder_prepare(s, &c->exec->add, c);
  bend(s, c->exec, c, (uint64_t)count * sizeof(float));
  if (IS(HONEST) || IS(STEPS_NOWHERE) || IS(STEPS_SILENT)) tell_steps(s, c->exec, c);
  c->exec->kept_segment = s;
  c->exec->crowd = s->graph->n_node > 8;
  return GE_OK;
}

static ge_rc compile(ge_engine* e, const ge_segment* segment, uint32_t n, uint32_t segment_stride,
                     ge_compiled* out, uint32_t out_stride, ge_err* err) {
  (void)err;
  for (uint32_t i = 0; i < n; ++i) {
    one(e, (const void*)((const char*)segment + (uint64_t)i * segment_stride),
        (void*)((char*)out + (uint64_t)i * out_stride));
  }
  return GE_OK;
}

/* ---- run --------------------------------------------------------------------------------------
 */

static float sum(float a, float b) {
  float y = a + b;
  if (IS(NAN_IS_ZERO) && isnan(y)) return 0;
  if (IS(HALF_PRECISE)) {
    uint32_t bits;
    memcpy(&bits, &y, sizeof bits);
    bits &= 0xffffe000u;
    memcpy(&y, &bits, sizeof y);
  }
  return y;
}

/* By a way through memory that the host gave, or that it did not. */
static void detour(const ge_exec* x, const ge_launch* l, const float* a, const float* b, float* y,
                   uint64_t n) {
  const uint64_t na = x->add.count[0], nb = x->add.count[1];
  float* room = IS(STATIC_SCRATCH) ? scratch
                : l->n_internal    ? l->internal[0].ptr
                                   : l->workspace.ptr;
  float* other = l->n_internal ? l->internal[1].ptr : NULL;
  if (IS(STATIC_SCRATCH) && n > sizeof scratch / sizeof *scratch)
    n = sizeof scratch / sizeof *scratch;
  for (uint64_t i = 0; i < n; ++i) room[i] = (IS(READS_WORKSPACE) ? room[i] : 0) + a[i % na];
  if (IS(STATIC_SCRATCH)) nanosleep(&(struct timespec){0, 200000}, NULL);
  for (uint64_t i = 0; i < n && other != NULL; ++i) other[i] = b[i % nb];
  if (n != 0 && (IS(WRITES_WORKSPACE) || IS(WRITES_INTERNAL))) room[n] = 1;
  for (uint64_t i = 0; i < n; ++i) y[i] = room[i] + (other != NULL ? other[i] : b[i % nb]);
}

static void* nothing(void* unused) { return unused; }

/* What it does beside the work. */
static void sin_beside(ge_exec* x, const ge_launch* l) {
  pthread_t thread;
  if (IS(LEAKS_LAUNCH)) witness = (uintptr_t)malloc(1024);
  if (IS(ALLOCATES)) {
    void* p = malloc(1024);
    witness = (uintptr_t)p;
    free(p);
  }
  if (IS(OWN_THREADS) && pthread_create(&thread, NULL, nothing, NULL) == 0)
    pthread_join(thread, NULL);
  if (IS(KEEPS_SEGMENT)) witness = x->kept_segment->n_in;
  if (IS(KEEPS_LAUNCH)) {
    if (x->kept_launch != NULL) witness = x->kept_launch->n_in;
    x->kept_launch = l;
  }
  if (IS(WRITES_PACK) && l->n_pack != 0 && l->pack[0].bytes != 0) *(float*)l->pack[0].ptr += 1;
}

static const float* operand(const ge_exec* x, const ge_launch* l, uint32_t k) {
  return x->copied != NULL && x->add.packed[k] ? x->copied : adder_operand(&x->add, l, k);
}

static ge_rc enqueue(ge_exec* x, const ge_launch* l, ge_err* err) {
  const float *a, *b;
  const uint64_t na = x->add.count[0], nb = x->add.count[1];
  float* y = l->out[0].ptr;
  const uint64_t n = l->out[0].bytes / sizeof *y, most = IS(SKIPS_TAIL) ? n / 4 * 4 : n;
  if (STRANGE(l)) return refuse(err, STRANGE(l), "enqueue");
  sin_beside(x, l);
  a = operand(x, l, 0);
  b = operand(x, l, 1);
  if (IS(EMPTY_CRASH)) y[0] = a[0];
  if (IS(FALSE_ALIAS)) {
    for (uint64_t i = 0; i < n; ++i) y[i] = a[i % na];
    for (uint64_t i = 0; i < n; ++i) y[i] += b[i % nb];
    return GE_OK;
  }
  if (l->n_internal != 0 || l->workspace.bytes != 0 || IS(STATIC_SCRATCH)) {
    detour(x, l, a, b, y, n);
    return GE_OK;
  }
  for (uint64_t i = 0; i < most; ++i) {
    const float old = IS(ACCUMULATES) ? y[i] : 0;
    y[i] = old + sum(a[i % na], IS(WRONG_IN_CROWD) && x->crowd ? 0 : b[i % nb]);
    if (IS(WRONG_LARGE) && i > 1000) y[i] += 1;
  }
  for (uint32_t k = 0; k < 2 && l->after_step != NULL && !IS(STEPS_SILENT); ++k) {
    l->after_step(l->observer, k);
  }
  return GE_OK;
}

static void exec_destroy(ge_exec* x) {
  if (!IS(LEAKS_EXEC)) free(x);
}

/* ---- load -------------------------------------------------------------------------------------
 */

static ge_rc engine_create(const ge_create_args* args, ge_engine** out, ge_err* err) {
  if (STRANGE(args)) return refuse(err, STRANGE(args), "create");
  if (STRANGE(args->host)) return refuse(err, STRANGE(args->host), "create");
  if (IS(NULL_OPTIONS) && args->options.p[0] == '?') return GE_INVALID_ARGUMENT;
  *out = calloc(1, sizeof **out);
  if (*out == NULL) return fail(err, GE_OUT_OF_MEMORY, "faulty: out of memory");
  if (IS(LEAKS_ENGINE)) witness = (uintptr_t)malloc(4096);
  return GE_OK;
}

static void engine_destroy(ge_engine* e) { free(e); }

static const ge_engine_api api = {.h = GE_HDR(ge_engine_api, GE_TAG_ENGINE_API),
                                  .query = query,
                                  .compile = compile,
                                  .enqueue = enqueue,
                                  .exec_destroy = exec_destroy,
                                  .fill = adder_fill};
static const ge_plugin_desc desc = {.magic = GE_PLUGIN_MAGIC,
                                    .h = GE_HDR(ge_plugin_desc, GE_TAG_PLUGIN),
                                    .abi_major = GE_ABI_MAJOR,
                                    .abi_minor = GE_ABI_MINOR,
                                    .header_hash = GE_HEADER_HASH,
                                    .name = {FAULT_NAME, sizeof FAULT_NAME - 1},
                                    .version = {"1.0", 3},
                                    .vendor = {"sample", 6},
                                    .kinds = GE_KIND_ENGINE,
                                    .sanitizer = GE_SANITIZER_HERE + (IS(OTHER_SANITIZER) ? 7 : 0),
                                    .engine_create = engine_create,
                                    .engine_destroy = engine_destroy,
                                    .engine = &api};

const ge_plugin_desc* ge_plugin_query(ge_query_args* q) {
  if (q->host_major == GE_ABI_MAJOR) return &desc;
  snprintf(q->refusal, sizeof q->refusal, "faulty speaks ABI %u, the host %u", GE_ABI_MAJOR,
           q->host_major);
  return NULL;
}

/* The preprocessor does not know the enum, so the build says it apart. */
#ifdef SECOND_EXPORT
GE_EXPORT int faulty_second_export(void);
int faulty_second_export(void) { return 1; }
#endif
