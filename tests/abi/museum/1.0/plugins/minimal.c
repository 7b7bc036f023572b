/* A complete engine in plain C: Add and Mul of float32, priced. Builds anywhere with
 *   cc -shared -fPIC -I sdk/include minimal.c -o minimal.so
 * Option price=PERCENT scales its prices: 100 asks 1 ns for each element. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ge/ge_plugin.h"

struct ge_engine {
  uint64_t percent;
};
struct ge_exec {
  int mul;
  uint32_t first; /* position of the first operand among the segment's inputs */
};
static struct ge_exec execs[4] = {{0, 0}, {0, 1}, {1, 0}, {1, 1}}; /* never written */

static int is(ge_str s, const char* text) {
  return s.n == strlen(text) && (s.n == 0 || memcmp(s.p, text, s.n) == 0);
}

static ge_rc fail(ge_err* err, ge_rc rc, const char* text) {
  if (err == NULL) return rc;
  err->code = rc;
  err->node = UINT32_MAX;
  err->msg_len = (uint32_t)snprintf(err->msg, sizeof err->msg, "%s", text);
  return rc;
}

/* Rule 3 of the header: what says that it may not be skipped is refused by name. */
static ge_rc strange(const ge_hdr* h, ge_err* err) {
  const ge_hdr* x = ge_not_understood(h, NULL, 0);
  char text[64];
  if (x == NULL) return GE_OK;
  snprintf(text, sizeof text, "minimal: unknown extension 0x%x", x->tag);
  return fail(err, GE_UNIMPLEMENTED, text);
}

/* Elements of the node's result, or -1: no broadcasting, no constants, sizes below 2^31. */
static int64_t elements(const ge_graph* g, const ge_node* n) {
  if (!is(n->domain, "") || !(is(n->op, "Add") || is(n->op, "Mul"))) return -1;
  if (n->n_body || strange(&n->h, NULL) || strange(&GE_VALUE(g, n->out[0])->h, NULL)) return -1;
  const ge_type* y = &GE_VALUE(g, n->out[0])->type;
  int64_t count = 1;
  for (int32_t d = 0; d < y->rank; ++d) {
    if (y->dims[d] < 0 || y->dims[d] > INT32_MAX / (count ? count : 1)) return -1;
    count *= y->dims[d];
  }
  for (uint32_t i = 0; i < 2; ++i) {
    const ge_value* x = GE_VALUE(g, n->in[i]);
    if (strange(&x->h, NULL) || x->type.dtype != GE_F32 || x->flags & GE_VALUE_CONSTANT) return -1;
    if (x->type.rank != y->rank || y->rank < 0) return -1;
    if (y->rank && memcmp(x->type.dims, y->dims, sizeof(int64_t) * (size_t)y->rank)) return -1;
  }
  return count;
}

static ge_rc query(ge_engine* e, const ge_graph* g, const ge_sink* s, ge_err* err) {
  if (strange(&g->h, err) || strange(&s->h, err)) return GE_UNIMPLEMENTED;
  for (uint32_t i = 0; i < g->n_node; ++i) {
    const int64_t count = elements(g, GE_NODE(g, i));
    ge_decline no = {GE_HDR(ge_decline, GE_TAG_DECLINE), i, GE_WHY_OP, {"not Add, Mul", 12}};
    ge_cost cost = {GE_HDR(ge_cost, GE_TAG_COST), .source = GE_PRICE_ANALYTIC};
    ge_offer offer = {GE_HDR(ge_offer, GE_TAG_OFFER), .node = &i, .n_node = 1, .cost = &cost};
    cost.marginal_ns = (uint64_t)(count < 0 ? 0 : count) * e->percent / 100;
    const ge_rc rc = count < 0 ? s->decline(s->host, &no) : s->offer(s->host, &offer);
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
    c->rc = strange(&s->h, c->err) ? GE_UNIMPLEMENTED : strange(&s->graph->h, c->err);
    c->exec = &execs[2 * is(node->op, "Mul") + (s->in[0] != node->in[0])];
  }
  return GE_OK;
}

static ge_rc enqueue(ge_exec* x, const ge_launch* l, ge_err* err) {
  const float *a = l->in[x->first].ptr, *b = l->in[l->n_in - 1 - x->first].ptr;
  float* y = l->out[0].ptr;
  if (strange(&l->h, err)) return GE_UNIMPLEMENTED;
  for (uint64_t i = 0; i < l->out[0].bytes / 4; ++i) y[i] = x->mul ? a[i] * b[i] : a[i] + b[i];
  return GE_OK;
}

static ge_rc engine_create(const ge_create_args* args, ge_engine** out, ge_err* err) {
  char text[32] = "price=100";
  unsigned percent = 0;
  if (strange(&args->h, err) || strange(&args->host->h, err)) return GE_UNIMPLEMENTED;
  if (args->options.n != 0)
    snprintf(text, sizeof text, "%.*s", (int)args->options.n, args->options.p);
  if (sscanf(text, "price=%u", &percent) != 1)
    return fail(err, GE_INVALID_ARGUMENT, "minimal: unknown option; say price=PERCENT");
  *out = malloc(sizeof **out);
  if (*out == NULL) return fail(err, GE_OUT_OF_MEMORY, "minimal: out of memory");
  (*out)->percent = percent;
  return GE_OK;
}

static void engine_destroy(ge_engine* e) { free(e); }
static const ge_engine_api api = {GE_HDR(ge_engine_api, GE_TAG_ENGINE_API), query, compile,
                                  enqueue};
static const ge_plugin_desc desc = {GE_PLUGIN_HEAD, {"minimal", 7}, {"1.0", 3},
                                    {"sample", 6},  GE_KIND_ENGINE, GE_SANITIZER_HERE,
                                    engine_create,  engine_destroy, &api};

const ge_plugin_desc* ge_plugin_query(ge_query_args* q) {
  if (q->host_major == GE_ABI_MAJOR) return &desc;
  snprintf(q->refusal, sizeof q->refusal, "ABI %u, the host has %u", GE_ABI_MAJOR, q->host_major);
  return NULL;
}
