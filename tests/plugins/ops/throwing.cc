// An engine for Relu that throws in the call that its option names, at=create, devices, query,
// compile or enqueue, and a pass `throw` that does; tests/e2e/cli/words.py says what the host makes
// of it.
#include <cstring>
#include <stdexcept>
#include <string>

#include "ge/ge_plugin.hpp"
#include "ge/ge_plugin_pass.h"

struct ge_engine {
  std::string at;
};
struct ge_exec {
  bool throws = false;
};

namespace {

void ThrowAt(const std::string& at, const char* call) {
  if (at == call) throw std::runtime_error("oops in " + at);
}

ge_rc Create(const ge_create_args* args, ge_engine** out, ge_err*) {
  const std::string options(args->options.p, args->options.n);
  const std::string at = options.substr(options.find('=') + 1);
  ThrowAt(at, "create");
  *out = new ge_engine{at};
  return GE_OK;
}
void Destroy(ge_engine* e) { delete e; }

ge_rc Devices(ge_engine* e, const ge_device** device, uint32_t* n, uint32_t* stride, ge_err*) {
  ThrowAt(e->at, "devices");
  static const ge_device cpu = [] {
    ge_device d{};
    d.h = GE_HDR(ge_device, GE_TAG_DEVICE);
    d.name = ge_text("cpu");
    d.max_streams = 1;
    return d;
  }();
  *device = &cpu;
  *n = 1;
  *stride = sizeof cpu;
  return GE_OK;
}

ge_rc Query(ge_engine* e, const ge_graph* g, const ge_sink* s, ge_err*) {
  ThrowAt(e->at, "query");
  for (uint32_t i = 0; i < g->n_node; ++i) {
    const ge_str op = GE_NODE(g, i)->op;
    if (std::string(op.p, op.n) != "Relu") continue;
    ge_cost cost{};
    cost.h = GE_HDR(ge_cost, GE_TAG_COST);
    cost.source = GE_PRICE_ANALYTIC;
    ge_offer offer{};
    offer.h = GE_HDR(ge_offer, GE_TAG_OFFER);
    offer.node = &i;
    offer.n_node = 1;
    offer.cost = &cost;
    s->offer(s->host, &offer);
  }
  return GE_OK;
}

ge_rc Compile(ge_engine* e, const ge_segment*, uint32_t n, uint32_t, ge_compiled* out,
              uint32_t stride, ge_err*) {
  ThrowAt(e->at, "compile");
  for (uint32_t i = 0; i < n; ++i) {
    char* at = reinterpret_cast<char*>(out) + uint64_t{i} * stride;
    reinterpret_cast<ge_compiled*>(at)->exec = new ge_exec{e->at == "enqueue"};
  }
  return GE_OK;
}

ge_rc Enqueue(ge_exec* x, const ge_launch* l, ge_err*) {
  if (x->throws) throw std::runtime_error("oops in enqueue");
  const auto* from = static_cast<const float*>(l->in[0].ptr);
  auto* to = static_cast<float*>(l->out[0].ptr);
  for (uint64_t i = 0; i < l->out[0].bytes / sizeof *to; ++i) to[i] = from[i] > 0 ? from[i] : 0;
  return GE_OK;
}
void DestroyExec(ge_exec* x) { delete x; }

ge_rc RunPass(const ge_edit*, ge_err*) { throw std::runtime_error("oops in a pass"); }

}  // namespace

extern "C" const ge_plugin_desc* ge_plugin_query(ge_query_args*) {
  static const ge_engine_api api = [] {
    ge_engine_api a{};
    a.h = GE_HDR(ge_engine_api, GE_TAG_ENGINE_API);
    a.query = Query;
    a.compile = Compile;
    a.enqueue = Enqueue;
    a.devices = Devices;
    a.exec_destroy = DestroyExec;
    return a;
  }();
  static const ge_pass_def pass = [] {
    ge_pass_def p{};
    p.h = GE_HDR(ge_pass_def, GE_TAG_PASS_DEF);
    p.name = ge_text("throw");
    p.summary = ge_text("throws");
    p.kind = GE_PASS_DERIVE;
    p.phases = GE_PHASE_LOAD | GE_PHASE_ASKED;
    p.run = RunPass;
    return p;
  }();
  static const ge_plugin_desc desc = [] {
    ge_plugin_desc d = {GE_PLUGIN_HEAD};
    d.name = ge_text("throwing");
    d.version = ge_text("1.0");
    d.vendor = ge_text("acme");
    d.kinds = GE_KIND_ENGINE | GE_KIND_PASSES;
    d.sanitizer = GE_SANITIZER_HERE;
    d.engine_create = Create;
    d.engine_destroy = Destroy;
    d.engine = &api;
    d.pass = &pass;
    d.n_pass = 1;
    d.pass_stride = sizeof pass;
    return d;
  }();
  return &desc;
}
