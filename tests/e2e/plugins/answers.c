/* An engine that says on stderr what the host does with it, one JSON object a line, so that the
 * answers of docs/plugin-guide.md are answers and no guesses. It computes Add, Mul and Relu of
 * float32 tensors of one shape, one step a node.
 * Option mode=single|grow|pattern|overlap|declined|none says what it offers. Not thread-safe. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ge/ge_plugin.h"

enum { MOST = 64 };
enum { FROM_IN, FROM_OUT, FROM_INTERNAL };
typedef struct Place {
  int from;
  uint32_t at;
} Place;
typedef struct Step {
  char op; /* 'A', 'M', 'R' */
  Place in[2], out;
} Step;

struct ge_engine {
  char mode[16];
};
struct ge_exec {
  uint32_t n_step, n_internal;
  Step step[MOST];
  ge_internal internal[MOST];
};

static int is(ge_str s, const char* text) {
  return s.n == strlen(text) && (s.n == 0 || memcmp(s.p, text, s.n) == 0);
}

static void say_names(const char* key, const ge_graph* g, const uint32_t* value, uint32_t n) {
  fprintf(stderr, "\"%s\": [", key);
  for (uint32_t i = 0; i < n; ++i) {
    const ge_str name = GE_VALUE(g, value[i])->name;
    fprintf(stderr, "%s\"%.*s\"", i ? ", " : "", (int)name.n, name.p);
  }
  fprintf(stderr, "]");
}

static int takes(const ge_graph* g, uint32_t i) {
  const ge_node* n = GE_NODE(g, i);
  if (!is(n->op, "Add") && !is(n->op, "Mul") && !is(n->op, "Relu")) return 0;
  const ge_type* y = &GE_VALUE(g, n->out[0])->type;
  for (uint32_t k = 0; k < n->n_in; ++k) {
    const ge_value* x = GE_VALUE(g, n->in[k]);
    if (x->type.dtype != GE_F32 || x->type.rank != y->rank) return 0;
    if (x->flags & GE_VALUE_CONSTANT) return 0;
    if (y->rank && memcmp(x->type.dims, y->dims, sizeof(int64_t) * (size_t)y->rank)) return 0;
  }
  return 1;
}

static void offer(const ge_sink* s, uint32_t first, uint32_t n, uint64_t ns, uint32_t flags) {
  uint32_t node[MOST];
  for (uint32_t i = 0; i < n; ++i) node[i] = first + i;
  const ge_cost cost = {GE_HDR(ge_cost, GE_TAG_COST), .marginal_ns = ns,
                        .source = GE_PRICE_ANALYTIC};
  const ge_offer o = {
      GE_HDR(ge_offer, GE_TAG_OFFER), .node = node, .n_node = n, .flags = flags, .cost = &cost,
      .edge_saving_ns = flags ? 1 : 0};
  s->offer(s->host, &o);
}

static void decline(const ge_sink* s, uint32_t node, const char* text) {
  const ge_decline d = {GE_HDR(ge_decline, GE_TAG_DECLINE), node, GE_WHY_OP, {text, strlen(text)}};
  s->decline(s->host, &d);
}

static ge_rc query(ge_engine* e, const ge_graph* g, const ge_sink* s, ge_err* err) {
  (void)err;
  fprintf(stderr, "{\"query\": [");
  for (uint32_t i = 0; i < g->n_node; ++i) {
    const ge_node* n = GE_NODE(g, i);
    fprintf(stderr, "%s[\"%.*s\", \"%.*s\", %u]", i ? ", " : "", (int)n->domain.n, n->domain.p,
            (int)n->op.n, n->op.p, n->version);
  }
  fprintf(stderr, "]}\n");
  uint32_t all = g->n_node <= MOST;
  for (uint32_t i = 0; i < g->n_node && all; ++i) all = (uint32_t)takes(g, i);
  const int whole = !strcmp(e->mode, "pattern"), apart = !strcmp(e->mode, "declined");
  if (all && (whole || apart)) offer(s, 0, g->n_node, 0, 0);
  for (uint32_t i = 0; i < g->n_node; ++i) {
    const int one = takes(g, i), two = i + 1 < g->n_node && one && takes(g, i + 1);
    if (!one || apart) decline(s, i, "not by itself");
    if (one && !strcmp(e->mode, "single")) offer(s, i, 1, 0, 0);
    if (one && !strcmp(e->mode, "grow")) offer(s, i, 1, 0, GE_OFFER_GROWABLE);
    if (one && !strcmp(e->mode, "overlap")) offer(s, i, 1, 8, 0);
    if (two && !strcmp(e->mode, "overlap")) offer(s, i, 2, 2, 0);
  }
  return GE_OK;
}

/* Where the segment finds the value: among its inputs, its outputs, or what it makes room for. */
static Place place(ge_exec* x, const ge_segment* s, uint32_t value, uint32_t step) {
  for (uint32_t i = 0; i < s->n_out; ++i)
    if (s->out[i] == value) return (Place){FROM_OUT, i};
  for (uint32_t i = 0; i < s->n_in; ++i)
    if (s->in[i] == value) return (Place){FROM_IN, i};
  for (uint32_t i = 0; i < x->n_internal; ++i) {
    if (x->internal[i].value != value) continue;
    x->internal[i].last_step = step;
    return (Place){FROM_INTERNAL, i};
  }
  const ge_type* t = &GE_VALUE(s->graph, value)->type;
  uint64_t bytes = sizeof(float);
  for (int32_t d = 0; d < t->rank; ++d) bytes *= (uint64_t)t->dims[d];
  x->internal[x->n_internal] = (ge_internal){bytes, 0, step, step, UINT32_MAX, value, {0}};
  return (Place){FROM_INTERNAL, x->n_internal++};
}

static void compile_one(const ge_segment* s, ge_compiled* c) {
  ge_exec* x = calloc(1, sizeof *x);
  fprintf(stderr, "{\"compile\": [");
  for (uint32_t t = 0; t < s->n_taken && x != NULL; ++t) {
    fprintf(stderr, "%s[", t ? ", " : "");
    for (uint32_t k = 0; k < s->taken[t].n_node; ++k) {
      const ge_node* n = GE_NODE(s->graph, s->taken[t].node[k]);
      Step* step = &x->step[x->n_step];
      step->op = n->op.p[0];
      for (uint32_t i = 0; i < n->n_in; ++i) step->in[i] = place(x, s, n->in[i], x->n_step);
      step->out = place(x, s, n->out[0], x->n_step++);
      fprintf(stderr, "%s%u", k ? ", " : "", s->taken[t].node[k]);
    }
    fprintf(stderr, "]");
  }
  fprintf(stderr, "], ");
  say_names("in", s->graph, s->in, s->n_in);
  fprintf(stderr, ", ");
  say_names("out", s->graph, s->out, s->n_out);
  fprintf(stderr, "}\n");
  if (x == NULL) c->rc = GE_OUT_OF_MEMORY;
  c->exec = x;
  if (x != NULL) {
    c->internal = x->internal;
    c->n_internal = x->n_internal;
    c->n_step = x->n_step;
  }
}

static ge_rc compile(ge_engine* e, const ge_segment* segment, uint32_t n, uint32_t segment_stride,
                     ge_compiled* out, uint32_t out_stride, ge_err* err) {
  (void)e;
  (void)err;
  for (uint32_t i = 0; i < n; ++i) {
    compile_one((const void*)((const char*)segment + (uint64_t)i * segment_stride),
                (void*)((char*)out + (uint64_t)i * out_stride));
  }
  return GE_OK;
}

static void exec_destroy(ge_exec* x) { free(x); }

static const ge_buf* buf(const ge_launch* l, Place p) {
  return p.from == FROM_IN ? &l->in[p.at] : p.from == FROM_OUT ? &l->out[p.at] : &l->internal[p.at];
}

/* Whether two of the launch's buffers that were not asked to share a place do. */
static int overlap(const ge_exec* x, const ge_launch* l) {
  const ge_buf* all[3 * MOST];
  uint32_t n = 0, found = 0;
  for (uint32_t i = 0; i < l->n_in; ++i) all[n++] = &l->in[i];
  for (uint32_t i = 0; i < l->n_out; ++i) all[n++] = &l->out[i];
  const uint32_t first = n;
  for (uint32_t i = 0; i < l->n_internal; ++i) all[n++] = &l->internal[i];
  for (uint32_t i = 0; i < n; ++i) {
    for (uint32_t k = 0; k < i; ++k) {
      if (i >= first && k >= first) {
        const ge_internal *a = &x->internal[i - first], *b = &x->internal[k - first];
        if (a->first_step > b->last_step || b->first_step > a->last_step) continue;
      }
      const char *a = all[i]->ptr, *b = all[k]->ptr;
      found |= a < b + all[k]->bytes && b < a + all[i]->bytes;
    }
  }
  return (int)found;
}

static ge_rc enqueue(ge_exec* x, const ge_launch* l, ge_err* err) {
  (void)err;
  int null = 0;
  for (uint32_t i = 0; i < l->n_in; ++i) null |= l->in[i].ptr == NULL;
  for (uint32_t i = 0; i < l->n_out; ++i) null |= l->out[i].ptr == NULL;
  for (uint32_t i = 0; i < l->n_internal; ++i) null |= l->internal[i].ptr == NULL;
  fprintf(stderr, "{\"enqueue\": {\"overlap\": %d, \"null\": %d, \"bytes\": %llu, \"rank\": %d}}\n",
          overlap(x, l), null, (unsigned long long)l->out[0].bytes, l->out[0].rank);
  for (uint32_t k = 0; k < x->n_step; ++k) {
    const Step* s = &x->step[k];
    const float* a = buf(l, s->in[0])->ptr;
    const float* b = s->op == 'R' ? a : buf(l, s->in[1])->ptr;
    float* y = buf(l, s->out)->ptr;
    for (uint64_t i = 0; i < buf(l, s->out)->bytes / sizeof *y; ++i)
      y[i] = s->op == 'A' ? a[i] + b[i] : s->op == 'M' ? a[i] * b[i] : a[i] < 0 ? 0 : a[i];
  }
  return GE_OK;
}

static ge_rc engine_create(const ge_create_args* args, ge_engine** out, ge_err* err) {
  (void)err;
  *out = calloc(1, sizeof **out);
  if (*out == NULL) return GE_OUT_OF_MEMORY;
  snprintf((*out)->mode, sizeof(*out)->mode, "%.*s", (int)args->options.n - 5,
           args->options.p + 5); /* behind "mode=" */
  return GE_OK;
}

static void engine_destroy(ge_engine* e) { free(e); }

static const ge_engine_api api = {.h = GE_HDR(ge_engine_api, GE_TAG_ENGINE_API),
                                  .query = query,
                                  .compile = compile,
                                  .enqueue = enqueue,
                                  .exec_destroy = exec_destroy};
static const ge_plugin_desc desc = {.magic = GE_PLUGIN_MAGIC,
                                    .h = GE_HDR(ge_plugin_desc, GE_TAG_PLUGIN),
                                    .abi_major = GE_ABI_MAJOR,
                                    .abi_minor = GE_ABI_MINOR,
                                    .header_hash = GE_HEADER_HASH,
                                    .name = {"answers", 7},
                                    .version = {"1.0", 3},
                                    .vendor = {"tests", 5},
                                    .kinds = GE_KIND_ENGINE,
                                    .sanitizer = GE_SANITIZER_HERE,
                                    .engine_create = engine_create,
                                    .engine_destroy = engine_destroy,
                                    .engine = &api};

const ge_plugin_desc* ge_plugin_query(ge_query_args* args) {
  return args->host_major == GE_ABI_MAJOR ? &desc : NULL;
}
