/* An engine that takes one operator and does nothing for it, so that a run costs the host alone.
 * Built under two names (NULL_NAME). Option op=NAME: the operator that it takes. Its results are
 * whatever the memory holds: for timing, never for use. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ge/ge_plugin.h"

struct ge_engine {
  char op[32];
};
struct ge_exec {
  int unused;
};
static struct ge_exec the_exec; /* never written */

static ge_rc fail(ge_err* err, ge_rc rc, const char* text) {
  if (err == NULL) return rc;
  err->code = rc;
  err->node = UINT32_MAX;
  err->msg_len = (uint32_t)strlen(text);
  memcpy(err->msg, text, err->msg_len);
  return rc;
}

static ge_rc query(ge_engine* e, const ge_graph* g, const ge_sink* s, ge_err* err) {
  (void)err;
  for (uint32_t i = 0; i < g->n_node; ++i) {
    const ge_str op = GE_NODE(g, i)->op;
    const ge_cost cost = {GE_HDR(ge_cost, GE_TAG_COST), .source = GE_PRICE_ANALYTIC};
    const ge_offer offer = {GE_HDR(ge_offer, GE_TAG_OFFER), .node = &i, .n_node = 1, .cost = &cost};
    const ge_decline no = {GE_HDR(ge_decline, GE_TAG_DECLINE), i, GE_WHY_OP, {"other op", 8}};
    const int mine = op.n == strlen(e->op) && memcmp(op.p, e->op, op.n) == 0;
    const ge_rc rc = mine ? s->offer(s->host, &offer) : s->decline(s->host, &no);
    if (rc != GE_OK) return rc;
  }
  return GE_OK;
}

static ge_rc compile(ge_engine* e, const ge_segment* segment, uint32_t n, uint32_t segment_stride,
                     ge_compiled* out, uint32_t out_stride, ge_err* err) {
  (void)e;
  (void)segment;
  (void)segment_stride;
  (void)err;
  for (uint32_t i = 0; i < n; ++i) {
    ge_compiled* c = (void*)((char*)out + (uint64_t)i * out_stride);
    c->exec = &the_exec;
  }
  return GE_OK;
}

static ge_rc enqueue(ge_exec* x, const ge_launch* l, ge_err* err) {
  (void)x;
  /* Every engine looks at its buffers, so that is part of what the host costs. */
  if (l->in[0].ptr == NULL || l->out[0].ptr == NULL)
    return fail(err, GE_INTERNAL, "null: no buffer");
  return GE_OK;
}

static ge_rc engine_create(const ge_create_args* args, ge_engine** out, ge_err* err) {
  char text[64] = "";
  *out = calloc(1, sizeof **out);
  if (*out == NULL) return fail(err, GE_OUT_OF_MEMORY, "null: out of memory");
  snprintf(text, sizeof text, "%.*s", (int)args->options.n, args->options.n ? args->options.p : "");
  if (sscanf(text, "op=%31[A-Za-z]", (*out)->op) == 1) return GE_OK;
  free(*out);
  *out = NULL;
  return fail(err, GE_INVALID_ARGUMENT, "null: say op=NAME, the operator to take");
}

static void engine_destroy(ge_engine* e) { free(e); }

static const ge_engine_api api = {GE_HDR(ge_engine_api, GE_TAG_ENGINE_API), query, compile,
                                  enqueue};
static const ge_plugin_desc desc = {GE_PLUGIN_MAGIC,
                                    GE_HDR(ge_plugin_desc, GE_TAG_PLUGIN),
                                    GE_ABI_MAJOR,
                                    GE_ABI_MINOR,
                                    GE_HEADER_HASH,
                                    {NULL_NAME, sizeof NULL_NAME - 1},
                                    {"1.0", 3},
                                    {"bench", 5},
                                    GE_KIND_ENGINE,
                                    GE_SANITIZER_HERE,
                                    engine_create,
                                    engine_destroy,
                                    &api};

const ge_plugin_desc* ge_plugin_query(ge_query_args* q) {
  if (q->host_major == GE_ABI_MAJOR) return &desc;
  snprintf(q->refusal, sizeof q->refusal, "%s speaks ABI %u, the host %u", NULL_NAME, GE_ABI_MAJOR,
           q->host_major);
  return NULL;
}
