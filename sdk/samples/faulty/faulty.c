/* An engine that misbehaves in one way, chosen when it is compiled: -DFAULT=FAULT_x. For tests of
 * the host's refusals; everything but the chosen fault is legal. It takes Add of float32 without
 * broadcasting at 1 ns, so that whoever asks for the least price gets it. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ge/ge_plugin.h"

enum {
  FAULT_NONE,
  /* seen at load */
  FAULT_MAGIC,       /* the descriptor begins with something else */
  FAULT_MAJOR,       /* built for the next major version */
  FAULT_NULL_DESC,   /* answers NULL without a reason */
  FAULT_REFUSE,      /* answers NULL with a reason */
  FAULT_SHORT_DESC,  /* the descriptor says that it is 8 bytes long */
  FAULT_BAD_NAME,    /* the name is not [a-z0-9_]+ */
  FAULT_NO_KIND,     /* offers no kind of thing */
  FAULT_NULL_TABLE,  /* no function table */
  FAULT_ZERO_TABLE,  /* a function table of zeros */
  FAULT_NULL_QUERY,  /* a required function is missing */
  FAULT_HALF_STAMPS, /* two of four slots that belong together */
  FAULT_NO_SYMBOL,   /* exports nothing */
  FAULT_MUST_DESC,   /* the descriptor has an extension that must be understood */
  FAULT_MUST_TABLE,  /* so has the function table */
  FAULT_CREATE_ERROR,
  FAULT_CREATE_NULL, /* says that it made an engine, but gives none */
  FAULT_DEVICES_ERROR,
  FAULT_MUST_DEVICE,  /* a device with such an extension */
  FAULT_SHORT_DEVICE, /* and one shorter than any that was ever published */
  /* seen at query */
  FAULT_QUERY_ERROR,
  FAULT_LONG_MESSAGE, /* an error whose length is beyond its buffer */
  FAULT_SILENT,       /* neither offers nor declines */
  FAULT_OFFER_BAD_INDEX,
  FAULT_OFFER_TWICE,      /* a node twice in one offer */
  FAULT_OFFER_UNSORTED,   /* a pattern in descending order */
  FAULT_OFFER_EMPTY,      /* no node, and no conversion either */
  FAULT_OFFER_NO_COST,    /* cost is NULL */
  FAULT_OFFER_BAD_LAYOUT, /* names a layout that was never declared */
  FAULT_OFFER_BAD_DEVICE, /* names a device that it does not have */
  FAULT_OFFER_APART,      /* a pattern of two nodes, whether connected or not */
  FAULT_OFFER_NOT_CONVEX, /* a pattern of the first and the last node */
  FAULT_DECLINE_BAD_INDEX,
  FAULT_MUST_OFFER,   /* an offer with an extension that must be understood */
  FAULT_ENDLESS_NEXT, /* an offer whose extensions have no end */
  FAULT_SHORT_OFFER,  /* an offer of fewer bytes than were published */
  /* seen at compile */
  FAULT_COMPILE_ERROR,  /* of the whole call */
  FAULT_SEGMENT_ERROR,  /* of each segment */
  FAULT_NULL_EXEC,      /* success without an exec */
  FAULT_INTERNAL_STEPS, /* an internal value that ends before it begins */
  FAULT_INTERNAL_ALIAS, /* an internal value that overlays a later one */
  FAULT_HUGE_WORKSPACE, /* 2^63 bytes */
  FAULT_ALIAS_BAD,      /* an alias pair of positions that do not exist */
  FAULT_MUST_COMPILED,  /* the answer has an extension that must be understood */
  FAULT_PACK_NO_FILL,   /* asks for a pack, but cannot write one */
  FAULT_PACK_BAD_VALUE, /* a pack of a value that is no constant */
  FAULT_PACK_NO_VALUE,  /* a pack of nothing */
  FAULT_PACK_HUGE,      /* of 2^62 bytes */
  FAULT_PACK_ALIGN,     /* at a multiple of 3 */
  FAULT_PACK_SHORT,     /* a pack of fewer bytes than were published */
  FAULT_PACK_NULL,      /* packs at NULL */
  FAULT_FILL_ERROR,
  FAULT_SHAPE_ERROR,
  FAULT_SHAPE_NULL_EXEC,
  /* seen at run */
  FAULT_ENQUEUE_ERROR,
  FAULT_WRONG_RESULT, /* every element is off by one */
  /* seen by red zones alone (GE_RED_ZONES=1) */
  FAULT_WRITES_BEHIND,  /* one element behind its output */
  FAULT_WRITES_BEFORE,  /* one element before its output */
  FAULT_CHANGES_INPUT,  /* the first element of its first input */
  FAULT_WRITES_TOO_FEW, /* leaves the last element of its output as it was */
  /* no faults: other versions of the header, which have to work */
  FAULT_POISONED_TAILS, /* every struct as short as when it was published, rubbish behind it */
  FAULT_GROWN,          /* every struct longer than the host knows, with rubbish in what is new */
  FAULT_MAY_SKIP        /* extensions that nobody must understand */
};

#ifndef FAULT
#define FAULT FAULT_NONE
#define FAULT_NAME "faulty_none"
#endif

struct ge_engine {
  int unused;
};

/* Extensions that this header does not have. */
static const ge_hdr must = {sizeof(ge_hdr), 0x8001, GE_HDR_MUST_UNDERSTAND, 0};
static const ge_hdr may = {sizeof(ge_hdr), 0x8002, 0, 0};
static const ge_hdr endless = {sizeof(ge_hdr), 0x8003, 0, &endless};

/* A struct with room behind it, as an array has that is walked by a larger stride. */
#define WITH_TAIL(type)     \
  struct {                  \
    type x;                 \
    unsigned char tail[64]; \
  }
/* As a struct of another version says of itself: longer by its tail, or with an extension. */
static void bend_header(ge_hdr* h) {
  if (FAULT == FAULT_GROWN) h->size += 64;
  if (FAULT == FAULT_MAY_SKIP) h->next = &may;
}
struct ge_exec {
  uint32_t first;
  uint32_t alias[2];
  ge_internal internal[2];
  ge_pack pack;
  uint32_t packed;
};

static int is(ge_str s, const char* text) {
  return s.n == strlen(text) && (s.n == 0 || memcmp(s.p, text, s.n) == 0);
}

static ge_rc fail(ge_err* err, ge_rc rc, const char* text) {
  if (err == NULL) return rc;
  err->code = rc;
  err->node = UINT32_MAX;
  err->msg_len = (uint32_t)strlen(text);
  memcpy(err->msg, text, err->msg_len);
  return rc;
}

static int takes(const ge_graph* g, const ge_node* n) {
  if (!is(n->domain, "") || !is(n->op, "Add")) return 0;
  const ge_type* y = &GE_VALUE(g, n->out[0])->type;
  if (y->dtype != GE_F32 || y->rank < 0) return 0;
  for (uint32_t i = 0; i < 2; ++i) {
    const ge_value* x = GE_VALUE(g, n->in[i]);
    if ((x->flags & GE_VALUE_CONSTANT) || x->type.rank != y->rank) return 0;
    for (int32_t d = 0; d < y->rank; ++d)
      if (y->dims[d] < 0 || x->type.dims[d] != y->dims[d]) return 0;
  }
  return 1;
}

/* Bends an offer of node `*node`; two[] is room for a pattern. */
static void bend(ge_offer* offer, const ge_graph* g, uint32_t* two, ge_value_layout* layout,
                 ge_layout_choice* choice) {
  const uint32_t node = offer->node[0], last = g->n_node - 1;
  two[0] = node;
  two[1] = node;
  switch (FAULT) {
    case FAULT_OFFER_BAD_INDEX:
      two[0] = g->n_node;
      offer->node = two;
      break;
    case FAULT_OFFER_TWICE:
      offer->node = two;
      offer->n_node = 2;
      break;
    case FAULT_OFFER_UNSORTED:
      two[0] = node == 0 ? last : node;
      two[1] = 0;
      offer->node = two;
      offer->n_node = 2;
      break;
    case FAULT_OFFER_APART:
    case FAULT_OFFER_NOT_CONVEX:
      two[0] = FAULT == FAULT_OFFER_NOT_CONVEX || node == last ? 0 : node;
      two[1] = FAULT == FAULT_OFFER_NOT_CONVEX || node == last ? last : node + 1;
      offer->node = two;
      offer->n_node = 2;
      break;
    case FAULT_OFFER_EMPTY:
      offer->n_node = 0;
      break;
    case FAULT_OFFER_NO_COST:
      offer->cost = NULL;
      break;
    case FAULT_OFFER_BAD_DEVICE:
      offer->device = 7;
      break;
    case FAULT_OFFER_BAD_LAYOUT:
      layout->value = GE_NODE(g, node)->in[0];
      layout->layout = 4242;
      choice->v = layout;
      choice->n = 1;
      choice->marginal_ns = 1;
      offer->choice = choice;
      offer->n_choice = 1;
      break;
    default:
      break;
  }
}

static ge_rc query(ge_engine* e, const ge_graph* g, const ge_sink* s, ge_err* err) {
  (void)e;
  if (FAULT == FAULT_QUERY_ERROR) return fail(err, GE_INTERNAL, "faulty: query fails on request");
  if (FAULT == FAULT_LONG_MESSAGE) {
    if (err != NULL) {
      memset(err->msg, 'x', sizeof err->msg);
      err->msg_len = 100000;
    }
    return GE_INTERNAL;
  }
  for (uint32_t i = 0; i < g->n_node && FAULT != FAULT_SILENT; ++i) {
    uint32_t two[2];
    ge_value_layout layout = {0};
    ge_layout_choice choice = {0};
    ge_decline no = {GE_HDR(ge_decline, GE_TAG_DECLINE), i, GE_WHY_OP, {"not Add", 7}};
    ge_cost cost = {GE_HDR(ge_cost, GE_TAG_COST), .marginal_ns = 1};
    ge_offer offer = {GE_HDR(ge_offer, GE_TAG_OFFER), .node = &i, .n_node = 1, .cost = &cost};
    WITH_TAIL(ge_offer) o;
    WITH_TAIL(ge_cost) p;
    WITH_TAIL(ge_decline) d;
    const int take = takes(g, GE_NODE(g, i));
    if (take) bend(&offer, g, two, &layout, &choice);
    if (FAULT == FAULT_DECLINE_BAD_INDEX) no.node = g->n_node + 1;
    bend_header(&offer.h);
    bend_header(&cost.h);
    bend_header(&no.h);
    if (FAULT == FAULT_MUST_OFFER) offer.h.next = &must;
    if (FAULT == FAULT_ENDLESS_NEXT) offer.h.next = &endless;
    if (FAULT == FAULT_SHORT_OFFER) offer.h.size = sizeof(ge_hdr) + 8;
    memset(&o, 0xab, sizeof o);
    memset(&p, 0xab, sizeof p);
    memset(&d, 0xab, sizeof d);
    p.x = cost;
    if (offer.cost != NULL) offer.cost = &p.x;
    o.x = offer;
    d.x = no;
    const ge_rc rc = take ? s->offer(s->host, &o.x) : s->decline(s->host, &d.x);
    if (rc != GE_OK) return rc;
  }
  return GE_OK;
}

static void bend_compiled(ge_compiled* c) {
  const ge_internal fine = {64, 64, 0, 0, UINT32_MAX, 0, {0}};
  c->n_step = 2;
  c->exec->internal[0] = c->exec->internal[1] = fine;
  switch (FAULT) {
    case FAULT_INTERNAL_STEPS:
      c->exec->internal[0].first_step = 1;
      c->internal = c->exec->internal;
      c->n_internal = 1;
      break;
    case FAULT_INTERNAL_ALIAS:
      c->exec->internal[0].alias_of = 1;
      c->internal = c->exec->internal;
      c->n_internal = 2;
      break;
    case FAULT_HUGE_WORKSPACE:
      c->workspace = UINT64_C(1) << 63;
      break;
    case FAULT_ALIAS_BAD:
      c->exec->alias[0] = 9;
      c->exec->alias[1] = 9;
      c->alias = c->exec->alias;
      c->alias_count = 1;
      break;
    default:
      break;
  }
}

/* A value of the segment: a constant where there is one and it is wanted. */
static uint32_t some_value(const ge_segment* s, int constant) {
  for (uint32_t v = 1; v < s->graph->n_value; ++v) {
    if (((GE_VALUE(s->graph, v)->flags & GE_VALUE_CONSTANT) != 0) == constant) return v;
  }
  return 1;
}

static void bend_packs(const ge_segment* s, ge_compiled* c) {
  ge_pack* pack = &c->exec->pack;
  if (FAULT < FAULT_PACK_NO_FILL || FAULT > FAULT_FILL_ERROR) return;
  c->exec->packed = some_value(s, FAULT != FAULT_PACK_BAD_VALUE);
  *pack = (ge_pack){GE_HDR(ge_pack, GE_TAG_PACK), .value = &c->exec->packed, .n_value = 1,
                    .key = {"faulty", 6}, .bytes = 64};
  if (FAULT == FAULT_PACK_NO_VALUE) {
    pack->value = NULL;
    pack->n_value = 0;
  }
  if (FAULT == FAULT_PACK_HUGE) pack->bytes = UINT64_C(1) << 62;
  if (FAULT == FAULT_PACK_ALIGN) pack->align = 3;
  if (FAULT == FAULT_PACK_SHORT) pack->h.size = sizeof(ge_hdr);
  c->pack = FAULT == FAULT_PACK_NULL ? NULL : pack;
  c->n_pack = 1;
  c->pack_stride = sizeof *pack;
}

static ge_rc fill(ge_engine* e, const ge_pack* pack, const ge_buf* from, const ge_buf* to,
                  ge_err* err) {
  (void)e;
  (void)from;
  if (FAULT == FAULT_FILL_ERROR) return fail(err, GE_INTERNAL, "faulty: fill fails on request");
  memset(to->ptr, 0, pack->bytes);
  return GE_OK;
}

static ge_rc shape(ge_exec* like, const ge_segment* s, ge_compiled* out, ge_err* err) {
  (void)like;
  (void)s;
  (void)out;
  return FAULT == FAULT_SHAPE_ERROR ? fail(err, GE_INTERNAL, "faulty: shape fails on request")
                                    : GE_OK;
}

static ge_rc compile(ge_engine* e, const ge_segment* segment, uint32_t n, uint32_t segment_stride,
                     ge_compiled* out, uint32_t out_stride, ge_err* err) {
  (void)e;
  if (FAULT == FAULT_COMPILE_ERROR) {
    return fail(err, GE_INTERNAL, "faulty: compile fails on request");
  }
  for (uint32_t i = 0; i < n; ++i) {
    const ge_segment* s = (const void*)((const char*)segment + (uint64_t)i * segment_stride);
    ge_compiled* c = (void*)((char*)out + (uint64_t)i * out_stride);
    if (FAULT == FAULT_SEGMENT_ERROR) {
      c->rc = fail(c->err, GE_UNIMPLEMENTED, "faulty: this segment fails on request");
      continue;
    }
    if (FAULT == FAULT_NULL_EXEC) continue;
    c->exec = calloc(1, sizeof *c->exec);
    if (c->exec == NULL) return fail(err, GE_OUT_OF_MEMORY, "faulty: out of memory");
    c->exec->first = s->n_in > 0 && s->in[0] != GE_NODE(s->graph, s->taken[0].node[0])->in[0];
    if (FAULT == FAULT_MUST_COMPILED) c->h.next = &must;
    if (FAULT == FAULT_MAY_SKIP) c->h.next = &may;
    bend_compiled(c);
    bend_packs(s, c);
  }
  return GE_OK;
}

static ge_rc enqueue(ge_exec* x, const ge_launch* l, ge_err* err) {
  if (FAULT == FAULT_ENQUEUE_ERROR) {
    return fail(err, GE_INTERNAL, "faulty: enqueue fails on request");
  }
  const float *a = l->in[x->first].ptr, *b = l->in[l->n_in - 1 - x->first].ptr;
  float* y = l->out[0].ptr;
  const uint64_t n = l->out[0].bytes / sizeof *y;
  for (uint64_t i = 0; i < n - (FAULT == FAULT_WRITES_TOO_FEW); ++i) {
    y[i] = a[i] + b[i] + (FAULT == FAULT_WRONG_RESULT ? 1.0f : 0.0f);
  }
  if (FAULT == FAULT_WRITES_BEHIND) y[n] = 1.0f;
  if (FAULT == FAULT_WRITES_BEFORE) y[-1] = 1.0f;
  if (FAULT == FAULT_CHANGES_INPUT) *(float*)l->in[0].ptr += 1.0f;
  return GE_OK;
}

static void exec_destroy(ge_exec* x) { free(x); }

static ge_rc devices(ge_engine* e, const ge_device** out, uint32_t* n, uint32_t* stride,
                     ge_err* err) {
  static WITH_TAIL(ge_device) device[1];
  static WITH_TAIL(ge_domain) domain[1];
  (void)e;
  memset(device, 0xab, sizeof device);
  memset(domain, 0xab, sizeof domain);
  device[0].x =
      (ge_device){GE_HDR(ge_device, GE_TAG_DEVICE), .name = {"cpu", 3}, .domain = &domain[0].x};
  domain[0].x =
      (ge_domain){GE_HDR(ge_domain, GE_TAG_DOMAIN), .flags = GE_MEM_HOST_VISIBLE | GE_MEM_COHERENT};
  device[0].x.n_domain = 1;
  device[0].x.domain_stride = sizeof domain[0];
  bend_header(&device[0].x.h);
  bend_header(&domain[0].x.h);
  if (FAULT == FAULT_MUST_DEVICE) device[0].x.h.next = &must;
  if (FAULT == FAULT_SHORT_DEVICE) device[0].x.h.size = sizeof(ge_hdr) + sizeof(ge_str);
  if (FAULT == FAULT_DEVICES_ERROR) {
    return fail(err, GE_UNAVAILABLE, "faulty: devices fails on request");
  }
  *out = &device[0].x;
  *n = 1;
  *stride = sizeof device[0];
  return GE_OK;
}

static ge_rc engine_create(const ge_create_args* args, ge_engine** out, ge_err* err) {
  (void)args;
  if (FAULT == FAULT_CREATE_ERROR) {
    return fail(err, GE_UNAVAILABLE, "faulty: engine_create fails on request");
  }
  *out = FAULT == FAULT_CREATE_NULL ? NULL : calloc(1, sizeof **out);
  return GE_OK;
}

static void engine_destroy(ge_engine* e) { free(e); }

/* Never called: an engine with half of the group is refused. */
static ge_rc stamps_create(ge_engine* e, uint32_t device, uint32_t n, ge_stamps** out,
                           ge_err* err) {
  (void)e;
  (void)device;
  (void)n;
  (void)out;
  (void)err;
  return GE_UNIMPLEMENTED;
}
static void stamps_destroy(ge_stamps* s) { (void)s; }

/* Of the three functions that were the first to be published; what follows is rubbish. */
struct short_table {
  ge_hdr h;
  void* function[3];
  unsigned char tail[sizeof(ge_engine_api)];
};
static struct short_table poisoned;

static const ge_engine_api api = {
    .h = {FAULT == FAULT_ZERO_TABLE ? 0 : sizeof(ge_engine_api),
          FAULT == FAULT_ZERO_TABLE ? 0 : GE_TAG_ENGINE_API, 0,
          FAULT == FAULT_MUST_TABLE ? &must
          : FAULT == FAULT_MAY_SKIP ? &may
                                    : NULL},
    .query = FAULT == FAULT_ZERO_TABLE || FAULT == FAULT_NULL_QUERY ? NULL : query,
    .compile = FAULT == FAULT_ZERO_TABLE ? NULL : compile,
    .enqueue = FAULT == FAULT_ZERO_TABLE ? NULL : enqueue,
    .exec_destroy = FAULT == FAULT_ZERO_TABLE ? NULL : exec_destroy,
    .devices = FAULT == FAULT_ZERO_TABLE ? NULL : devices,
    .fill = FAULT == FAULT_ZERO_TABLE || FAULT == FAULT_PACK_NO_FILL ? NULL : fill,
    .shape = FAULT == FAULT_SHAPE_ERROR || FAULT == FAULT_SHAPE_NULL_EXEC ? shape : NULL,
    .stamps_create = FAULT == FAULT_HALF_STAMPS ? stamps_create : NULL,
    .stamps_destroy = FAULT == FAULT_HALF_STAMPS ? stamps_destroy : NULL,
};

static const ge_plugin_desc desc = {
    .magic = FAULT == FAULT_MAGIC ? UINT64_C(0x1234) : GE_PLUGIN_MAGIC,
    .h = {FAULT == FAULT_SHORT_DESC ? 8 : sizeof(ge_plugin_desc), GE_TAG_PLUGIN, 0,
          FAULT == FAULT_MUST_DESC  ? &must
          : FAULT == FAULT_MAY_SKIP ? &may
                                    : NULL},
    .abi_major = GE_ABI_MAJOR + (FAULT == FAULT_MAJOR ? 1 : 0),
    .abi_minor = GE_ABI_MINOR,
    .header_hash = GE_HEADER_HASH,
    .name = {FAULT == FAULT_BAD_NAME ? "Faulty, of course" : FAULT_NAME,
             FAULT == FAULT_BAD_NAME ? 17 : sizeof FAULT_NAME - 1},
    .version = {"1.0", 3},
    .vendor = {"sample", 6},
    .kinds = FAULT == FAULT_NO_KIND ? 0 : GE_KIND_ENGINE,
    .sanitizer = GE_SANITIZER_HERE,
    .engine_create = engine_create,
    .engine_destroy = engine_destroy,
    .engine = FAULT == FAULT_NULL_TABLE ? NULL : &api,
};

/* The preprocessor does not know the enum, so the build says NO_SYMBOL apart. */
#ifdef NO_SYMBOL
const ge_plugin_desc* other_name(ge_query_args* args);
const ge_plugin_desc* other_name(ge_query_args* args) {
#else
const ge_plugin_desc* ge_plugin_query(ge_query_args* args) {
#endif
  if (FAULT == FAULT_NULL_DESC) return NULL;
  if (FAULT == FAULT_REFUSE || args->host_major != GE_ABI_MAJOR) {
    snprintf(args->refusal, sizeof args->refusal, "faulty refuses on request");
    return NULL;
  }
  if (FAULT == FAULT_POISONED_TAILS) {
    static WITH_TAIL(ge_plugin_desc) old;
    memset(&poisoned, 0xab, sizeof poisoned);
    memset(&old, 0xab, sizeof old);
    poisoned.h = (ge_hdr){offsetof(ge_engine_api, exec_destroy), GE_TAG_ENGINE_API, 0, 0};
    memcpy(poisoned.function, &api.query, sizeof poisoned.function);
    old.x = desc;
    old.x.engine = (const void*)&poisoned;
    return &old.x;
  }
  return &desc;
}
