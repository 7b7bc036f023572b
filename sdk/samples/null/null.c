/* An engine that takes nothing: the skeleton to start from. It loads, answers every question, and
 * declines every node. Make it yours step by step:
 *   1. Rename it in `desc` ([a-z0-9_]+, what --engines takes).
 *   2. In query, call sink->offer instead of sink->decline for the nodes that you run, with a price
 *      in ns at the shapes of the view (see ../minimal for two operators).
 *   3. In compile, keep what enqueue needs in your own struct ge_exec.
 *   4. In enqueue, compute: inputs and outputs come in the order of the segment that was compiled.
 * The other slots of ge_engine_api (devices, streams, memory) stay NULL until you need them; the
 * comments in ge_plugin.h say what the host does meanwhile. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ge/ge_plugin.h"

struct ge_engine { /* made by engine_create; one a session */
  const ge_host_api* host;
};
struct ge_exec { /* a compiled segment: read-only at run time, so that threads may share it */
  uint32_t unused;
};

static ge_rc fail(ge_err* err, ge_rc rc, const char* text) {
  if (err == NULL) return rc;
  err->code = rc;
  err->node = UINT32_MAX;
  err->msg_len = (uint32_t)strlen(text);
  memcpy(err->msg, text, err->msg_len);
  return rc;
}

/* Rule 3 of ge_plugin.h: what a struct says beyond what this plugin knows may not be passed over.
 */
static ge_rc understand(const ge_hdr* h, ge_err* err) {
  const ge_hdr* strange = ge_not_understood(h, NULL, 0);
  char text[64];
  if (strange == NULL) return GE_OK;
  snprintf(text, sizeof text, "null: extension 0x%x must be understood, and is not", strange->tag);
  return fail(err, GE_UNIMPLEMENTED, text);
}

/* Says for each node whether it is taken, and at what price. */
static ge_rc query(ge_engine* engine, const ge_graph* graph, const ge_sink* sink, ge_err* err) {
  static const char kReason[] = "the null engine takes no node";
  (void)engine;
  if (understand(&graph->h, err) || understand(&sink->h, err)) return GE_UNIMPLEMENTED;
  for (uint32_t i = 0; i < graph->n_node; ++i) {
    const ge_decline decline = {
        GE_HDR(ge_decline, GE_TAG_DECLINE), i, GE_WHY_OP, {kReason, sizeof kReason - 1}};
    const ge_rc rc = sink->decline(sink->host, &decline);
    if (rc != GE_OK) return rc;
  }
  return GE_OK;
}

/* Turns each segment into an exec. A failure of one segment goes into its own record. */
static ge_rc compile(ge_engine* engine, const ge_segment* segment, uint32_t n,
                     uint32_t segment_stride, ge_compiled* out, uint32_t out_stride, ge_err* err) {
  (void)engine;
  (void)err;
  for (uint32_t i = 0; i < n; ++i) {
    const ge_segment* s = (const void*)((const char*)segment + (uint64_t)i * segment_stride);
    ge_compiled* c = (void*)((char*)out + (uint64_t)i * out_stride);
    if (understand(&s->h, c->err) || understand(&s->graph->h, c->err)) {
      c->rc = GE_UNIMPLEMENTED;
      continue;
    }
    c->rc = fail(c->err, GE_UNIMPLEMENTED, "null: compile is not written yet");
  }
  return GE_OK;
}

/* Runs one exec; must not allocate, lock or throw. */
static ge_rc enqueue(ge_exec* exec, const ge_launch* launch, ge_err* err) {
  (void)exec;
  if (understand(&launch->h, err)) return GE_UNIMPLEMENTED;
  return fail(err, GE_UNIMPLEMENTED, "null: enqueue is not written yet");
}

static void exec_destroy(ge_exec* exec) { free(exec); }

static ge_rc engine_create(const ge_create_args* args, ge_engine** out, ge_err* err) {
  if (understand(&args->h, err) || understand(&args->host->h, err)) return GE_UNIMPLEMENTED;
  *out = calloc(1, sizeof **out);
  if (*out == NULL) return fail(err, GE_OUT_OF_MEMORY, "null: out of memory");
  (*out)->host = args->host;
  return GE_OK;
}

static void engine_destroy(ge_engine* engine) { free(engine); }

static const ge_engine_api api = {GE_HDR(ge_engine_api, GE_TAG_ENGINE_API), query, compile, enqueue,
                                  exec_destroy};

static const ge_plugin_desc desc = {
    .magic = GE_PLUGIN_MAGIC,
    .h = GE_HDR(ge_plugin_desc, GE_TAG_PLUGIN),
    .abi_major = GE_ABI_MAJOR,
    .abi_minor = GE_ABI_MINOR,
    .header_hash = GE_HEADER_HASH,
    .name = {"null", 4},
    .version = {"1.0", 3},
    .vendor = {"sample", 6},
    .kinds = GE_KIND_ENGINE,
    .sanitizer = GE_SANITIZER_HERE,
    .engine_create = engine_create,
    .engine_destroy = engine_destroy,
    .engine = &api,
};

const ge_plugin_desc* ge_plugin_query(ge_query_args* args) {
  if (args->host_major == GE_ABI_MAJOR) return &desc;
  snprintf(args->refusal, sizeof args->refusal, "null speaks plugin ABI %u, the host speaks %u",
           GE_ABI_MAJOR, args->host_major);
  return NULL;
}
