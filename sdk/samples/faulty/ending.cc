// An engine that ends badly in one call: -DENDING=CRASH, HANG, THROW or EXIT, -DCALL=IN_QUERY and
// so on. Up to there, and in every other call, it is right.
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "adder.h"

enum Ending { CRASH, HANG, THROW, EXIT };
enum Call {
  IN_LOAD,
  IN_CREATE,
  IN_QUERY,
  IN_COMPILE,
  IN_ENQUEUE,
  IN_FILL,
  IN_SHAPE,
  IN_EXEC_DESTROY,
  IN_ENGINE_DESTROY
};

struct ge_engine {
  int unused;
};
struct ge_exec {
  adder add;
};

namespace {

// Not inlined, and through a pointer that the compiler cannot see through, so that the fault is
// what happens and not what the optimiser makes of it.
__attribute__((noinline)) void End() {
  static int* volatile nowhere = nullptr;
  switch (ENDING) {
    case CRASH:
      *nowhere = 1;
      return;
    case HANG:
      for (;;) pause();
    case THROW:
      throw std::runtime_error("faulty: an exception on request");
    case EXIT:
      std::exit(7);
  }
}
void EndIf(Call call) {
  if (call == CALL) End();
}

ge_rc Create(const ge_create_args* args, ge_engine** out, ge_err* err) {
  const ge_hdr* x = adder_must(&args->h, 0);
  if (x == nullptr) x = adder_must(&args->host->h, 0);
  if (x != nullptr) return adder_refuse(err, x, "create");
  EndIf(IN_CREATE);
  *out = static_cast<ge_engine*>(std::calloc(1, sizeof(ge_engine)));
  return *out ? GE_OK : GE_OUT_OF_MEMORY;
}

void Destroy(ge_engine* e) {
  EndIf(IN_ENGINE_DESTROY);
  std::free(e);
}

ge_rc Query(ge_engine*, const ge_graph* g, const ge_sink* s, ge_err* err) {
  const ge_hdr* x = adder_must(&s->h, 0);
  if (x == nullptr) x = adder_graph(g, adder_must);
  if (x != nullptr) return adder_refuse(err, x, "query");
  EndIf(IN_QUERY);
  for (uint32_t i = 0; i < g->n_node; ++i) {
    const int64_t count = adder_takes(g, GE_NODE(g, i));
    ge_rc rc = GE_OK;
    if (count < 0) {
      ge_decline no = {};
      no.h = GE_HDR(ge_decline, GE_TAG_DECLINE);
      no.node = i;
      no.why = GE_WHY_OP;
      rc = s->decline(s->host, &no);
    } else {
      ge_cost cost = {};
      cost.h = GE_HDR(ge_cost, GE_TAG_COST);
      cost.marginal_ns = adder_ns(count);
      cost.source = GE_PRICE_ANALYTIC;
      ge_offer offer = {};
      offer.h = GE_HDR(ge_offer, GE_TAG_OFFER);
      offer.node = &i;
      offer.n_node = 1;
      offer.cost = &cost;
      rc = s->offer(s->host, &offer);
    }
    if (rc != GE_OK) return rc;
  }
  return GE_OK;
}

ge_rc One(const ge_segment* s, ge_compiled* c) {
  const ge_hdr* x = adder_must(&s->h, 0);
  if (x == nullptr) x = adder_graph(s->graph, adder_must);
  if (x != nullptr) return c->rc = adder_refuse(c->err, x, "compile");
  if (adder_takes(s->graph, GE_NODE(s->graph, s->taken[0].node[0])) < 0) {
    return c->rc = adder_fail(c->err, GE_UNIMPLEMENTED, "faulty: compile: not an Add");
  }
  c->exec = static_cast<ge_exec*>(std::calloc(1, sizeof(ge_exec)));
  if (c->exec == nullptr) return c->rc = GE_OUT_OF_MEMORY;
  adder_prepare(s, &c->exec->add, c);
  return GE_OK;
}

ge_rc Compile(ge_engine*, const ge_segment* segment, uint32_t n, uint32_t stride, ge_compiled* out,
              uint32_t out_stride, ge_err*) {
  EndIf(IN_COMPILE);
  for (uint32_t i = 0; i < n; ++i) {
    One(reinterpret_cast<const ge_segment*>(reinterpret_cast<const char*>(segment) +
                                            uint64_t{i} * stride),
        reinterpret_cast<ge_compiled*>(reinterpret_cast<char*>(out) + uint64_t{i} * out_stride));
  }
  return GE_OK;
}

ge_rc Shape(ge_exec*, const ge_segment* segment, ge_compiled* out, ge_err*) {
  EndIf(IN_SHAPE);
  One(segment, out);
  return GE_OK;
}

ge_rc Enqueue(ge_exec* x, const ge_launch* l, ge_err* err) {
  if (const ge_hdr* strange = adder_must(&l->h, 0)) return adder_refuse(err, strange, "enqueue");
  EndIf(IN_ENQUEUE);
  const float *a = adder_operand(&x->add, l, 0), *b = adder_operand(&x->add, l, 1);
  float* y = static_cast<float*>(l->out[0].ptr);
  for (uint64_t i = 0; i < l->out[0].bytes / sizeof *y; ++i) {
    y[i] = a[i % x->add.count[0]] + b[i % x->add.count[1]];
  }
  return GE_OK;
}

void ExecDestroy(ge_exec* x) {
  EndIf(IN_EXEC_DESTROY);
  std::free(x);
}

ge_rc Fill(ge_engine* e, const ge_pack* pack, const ge_buf* from, const ge_buf* to, ge_err* err) {
  EndIf(IN_FILL);
  return adder_fill(e, pack, from, to, err);
}

}  // namespace

extern "C" const ge_plugin_desc* ge_plugin_query(ge_query_args* args) {
  static ge_engine_api api;
  static ge_plugin_desc desc;
  EndIf(IN_LOAD);
  if (args->host_major != GE_ABI_MAJOR) {
    std::snprintf(args->refusal, sizeof args->refusal, "faulty speaks another major version");
    return nullptr;
  }
  api.h = GE_HDR(ge_engine_api, GE_TAG_ENGINE_API);
  api.query = Query;
  api.compile = Compile;
  api.enqueue = Enqueue;
  api.exec_destroy = ExecDestroy;
  api.fill = Fill;
  api.shape = Shape;
  desc.h = GE_HDR(ge_plugin_desc, GE_TAG_PLUGIN);
  desc.magic = GE_PLUGIN_MAGIC;
  desc.abi_major = GE_ABI_MAJOR;
  desc.abi_minor = GE_ABI_MINOR;
  desc.header_hash = GE_HEADER_HASH;
  desc.name = {FAULT_NAME, sizeof FAULT_NAME - 1};
  desc.version = {"1.0", 3};
  desc.vendor = {"sample", 6};
  desc.kinds = GE_KIND_ENGINE;
  desc.sanitizer = GE_SANITIZER_HERE;
  desc.engine_create = Create;
  desc.engine_destroy = Destroy;
  desc.engine = &api;
  return &desc;
}
