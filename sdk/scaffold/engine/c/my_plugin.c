/* my_plugin: an engine that runs Relu of float32. Make it yours from here: `elements` says which
 * nodes it takes, `price` what they cost, `compile` what enqueue has to know, `enqueue` computes.
 * ge/ge_plugin.h is the whole contract; its other functions stay NULL until you need them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ge/ge_plugin.h"

static const char kName[] = "my_plugin"; /* what --engines takes: [a-z0-9_]+ */

struct ge_engine { /* one a session */
  const ge_host_api* host;
};
struct ge_exec { /* one a compiled segment; several threads may run it, so enqueue only reads it */
  uint64_t count;
};

static ge_rc fail(ge_err* err, ge_rc rc, const char* text) {
  if (err == NULL) return rc;
  err->code = rc;
  err->scope = GE_SCOPE_CALL;
  err->node = UINT32_MAX;
  err->msg_len = (uint32_t)snprintf(err->msg, sizeof err->msg, "%s: %s", kName, text);
  if (err->msg_len >= sizeof err->msg) err->msg_len = sizeof err->msg - 1; /* it was cut */
  return rc;
}

/* Rule 3 of ge_plugin.h: what a struct says beyond what this plugin knows may not be passed over.
 */
static ge_rc understand(const ge_hdr* h, ge_err* err) {
  const ge_hdr* x = ge_not_understood(h, NULL, 0);
  char text[64];
  if (x == NULL) return GE_OK;
  snprintf(text, sizeof text, "extension 0x%x is not known here", x->tag);
  return fail(err, GE_UNIMPLEMENTED, text);
}

static int is(ge_str s, const char* text) {
  return s.n == strlen(text) && (s.n == 0 || memcmp(s.p, text, s.n) == 0);
}

/* Elements of the node's result; -1, and why, for a node that this engine does not run. */
static int64_t elements(const ge_graph* g, const ge_node* n, ge_decline* no) {
  no->why = GE_WHY_OP;
  if (!is(n->domain, "") || !is(n->op, "Relu") || n->n_body != 0) return -1;
  const ge_value *x = GE_VALUE(g, n->in[0]), *y = GE_VALUE(g, n->out[0]);
  no->why = GE_WHY_OTHER; /* rule 3 holds for each of them */
  if (understand(&n->h, NULL) || understand(&x->h, NULL) || understand(&y->h, NULL)) return -1;
  no->why = GE_WHY_DTYPE;
  if (x->type.dtype != GE_F32) return -1;
  no->why = GE_WHY_OTHER; /* such nodes are folded before; this engine keeps no constants */
  if (x->flags & GE_VALUE_CONSTANT) return -1;
  no->why = GE_WHY_DYNAMIC;
  int64_t count = 1;
  for (int32_t d = 0; d < y->type.rank; ++d) {
    const int64_t dim = y->type.dims[d];
    if (dim < 0 || (dim != 0 && count > INT64_MAX / 8 / dim)) return -1;
    count *= dim;
  }
  return y->type.rank < 0 ? -1 : count;
}

/* In ns, at these shapes, by what the host measured of this machine: bytes read and written. */
static ge_cost price(const ge_host_api* host, int64_t count) {
  ge_cost cost = {GE_HDR(ge_cost, GE_TAG_COST)};
  const double speed = host->copy_bytes_per_ns[1] > 0 ? host->copy_bytes_per_ns[1] : 1;
  cost.marginal_ns = (uint64_t)(2.0 * sizeof(float) * (double)count / speed);
  cost.launch_ns = (uint64_t)host->call_ns;
  cost.source = GE_PRICE_ANALYTIC;
  return cost;
}

static ge_rc query(ge_engine* e, const ge_graph* g, const ge_sink* sink, ge_err* err) {
  if (understand(&g->h, err) || understand(&sink->h, err)) return GE_UNIMPLEMENTED;
  for (uint32_t i = 0; i < g->n_node; ++i) {
    ge_decline no = {GE_HDR(ge_decline, GE_TAG_DECLINE)};
    ge_offer offer = {GE_HDR(ge_offer, GE_TAG_OFFER)};
    const int64_t count = elements(g, GE_NODE(g, i), &no);
    const ge_cost cost = price(e->host, count < 0 ? 0 : count);
    no.node = i;
    offer.node = &i;
    offer.n_node = 1;
    offer.cost = &cost;
    offer.cookie = (uint64_t)count;
    const ge_rc rc = count < 0 ? sink->decline(sink->host, &no) : sink->offer(sink->host, &offer);
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
    c->rc = understand(&s->h, c->err);
    if (c->rc == GE_OK) c->rc = understand(&s->graph->h, c->err);
    if (c->rc != GE_OK) continue;
    c->exec = malloc(sizeof *c->exec);
    if (c->exec == NULL) {
      c->rc = fail(c->err, GE_OUT_OF_MEMORY, "out of memory");
    } else {
      c->exec->count = s->taken[0].cookie;
    }
  }
  return GE_OK;
}

static void exec_destroy(ge_exec* exec) { free(exec); }

static ge_rc enqueue(ge_exec* exec, const ge_launch* l, ge_err* err) {
  enum { kBlock = 1 << 20 }; /* elements between two looks at `stop`: under a millisecond */
  const float* x = l->in[0].ptr;
  float* y = l->out[0].ptr;
  if (understand(&l->h, err)) return GE_UNIMPLEMENTED;
  for (uint64_t i = 0; i < exec->count; ++i) {
    if (i % kBlock == 0 && l->stop != NULL && __atomic_load_n(l->stop, __ATOMIC_RELAXED) != 0)
      return fail(err, GE_CANCELLED, "cancelled");
    y[i] = x[i] < 0 ? 0 : x[i]; /* a NaN stays one */
  }
  return GE_OK;
}

static ge_rc engine_create(const ge_create_args* args, ge_engine** out, ge_err* err) {
  if (understand(&args->h, err) || understand(&args->host->h, err)) return GE_UNIMPLEMENTED;
  if (args->options.n != 0) return fail(err, GE_INVALID_ARGUMENT, "there are no options");
  *out = calloc(1, sizeof **out);
  if (*out == NULL) return fail(err, GE_OUT_OF_MEMORY, "out of memory");
  (*out)->host = args->host;
  return GE_OK;
}

static void engine_destroy(ge_engine* e) { free(e); }

static const ge_engine_api api = {
    .h = GE_HDR(ge_engine_api, GE_TAG_ENGINE_API),
    .query = query,
    .compile = compile,
    .enqueue = enqueue,
    .exec_destroy = exec_destroy,
};

static const ge_plugin_desc desc = {
    GE_PLUGIN_HEAD,
    .name = {kName, sizeof kName - 1},
    .version = {"0.1", 3},
    .vendor = {"me", 2},
    .kinds = GE_KIND_ENGINE,
    .sanitizer = GE_SANITIZER_HERE,
    .engine_create = engine_create,
    .engine_destroy = engine_destroy,
    .engine = &api,
};

const ge_plugin_desc* ge_plugin_query(ge_query_args* args) {
  if (args->host_major == GE_ABI_MAJOR) return &desc;
  snprintf(args->refusal, sizeof args->refusal, "%s speaks plugin ABI %u, the host %u", kName,
           GE_ABI_MAJOR, args->host_major);
  return NULL;
}
