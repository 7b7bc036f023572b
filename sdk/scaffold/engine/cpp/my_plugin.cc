// my_plugin: an engine that runs Relu of float32. Make it yours from here: `Takes` says which nodes
// it runs, `Price` what they cost, `Compile` what Enqueue has to know, `Enqueue` computes.
// ge/ge_plugin.h is the whole contract, ge/ge_plugin.hpp makes it shorter to write; the functions
// that `kApi` leaves out stay NULL until you need them.
#include <cstdio>
#include <memory>

#include "ge/ge_plugin.hpp"

using ge::plugin::Fail;
using ge::plugin::Guard;
using ge::plugin::Understand;

struct ge_engine {  // one a session
  const ge_host_api* host;
};
struct ge_exec {  // one a compiled segment; several threads may run it, so Enqueue only reads it
  uint64_t count;
};

namespace {

constexpr char kName[] = "my_plugin";  // what --engines takes: [a-z0-9_]+

// Whether this engine runs the node, of `count` elements; *why not, else.
bool Takes(const ge_graph& g, const ge_node& n, int64_t* count, uint32_t* why) {
  *why = GE_WHY_OP;
  if (!ge::plugin::IsOp(n, "Relu") || n.n_body != 0) return false;
  const ge_value *x = ge::plugin::Input(g, n, 0), *y = ge::plugin::Output(g, n, 0);
  *why = GE_WHY_OTHER;  // Rule 3 of ge_plugin.h holds for each of them.
  for (const ge_hdr* h : {&n.h, &x->h, &y->h}) {
    if (Understand(*h, nullptr, kName)) return false;
  }
  *why = GE_WHY_DTYPE;
  if (x->type.dtype != GE_F32) return false;
  *why = GE_WHY_OTHER;  // Such nodes are folded before; this engine keeps no constants.
  if (x->flags & GE_VALUE_CONSTANT) return false;
  *why = GE_WHY_DYNAMIC;
  return ge::plugin::ElementCount(y->type, count);
}

// In ns, at these shapes, by what the host measured of this machine: bytes read and written.
ge_cost Price(const ge_host_api& host, int64_t count) {
  ge_cost cost = {};
  cost.h = GE_HDR(ge_cost, GE_TAG_COST);
  const double speed = host.copy_bytes_per_ns[1] > 0 ? host.copy_bytes_per_ns[1] : 1;
  cost.marginal_ns =
      static_cast<uint64_t>(2.0 * sizeof(float) * static_cast<double>(count) / speed);
  cost.launch_ns = static_cast<uint64_t>(host.call_ns);
  cost.source = GE_PRICE_ANALYTIC;
  return cost;
}

ge_rc Answer(const ge_host_api& host, const ge_graph& g, uint32_t node, const ge_sink& sink) {
  int64_t count = 0;
  ge_decline no = {};
  no.h = GE_HDR(ge_decline, GE_TAG_DECLINE);
  no.node = node;
  if (!Takes(g, *GE_NODE(&g, node), &count, &no.why)) return sink.decline(sink.host, &no);
  const ge_cost cost = Price(host, count);
  ge_offer offer = {};
  offer.h = GE_HDR(ge_offer, GE_TAG_OFFER);
  offer.node = &node;
  offer.n_node = 1;
  offer.cost = &cost;
  offer.cookie = static_cast<uint64_t>(count);
  return sink.offer(sink.host, &offer);
}

ge_rc Query(ge_engine* e, const ge_graph* g, const ge_sink* sink, ge_err* err) {
  if (Understand(g->h, err, kName) || Understand(sink->h, err, kName)) return GE_UNIMPLEMENTED;
  for (uint32_t i = 0; i < g->n_node; ++i) {
    const ge_rc rc = Answer(*e->host, *g, i, *sink);
    if (rc != GE_OK) return rc;
  }
  return GE_OK;
}

ge_rc CompileOne(const ge_segment& s, ge_compiled* c) {
  return Guard(c->err, kName, [&]() -> ge_rc {
    if (Understand(s.h, c->err, kName)) return GE_UNIMPLEMENTED;
    if (Understand(s.graph->h, c->err, kName)) return GE_UNIMPLEMENTED;
    auto exec = std::make_unique<ge_exec>();
    exec->count = s.taken[0].cookie;
    c->exec = exec.release();
    return GE_OK;
  });
}

ge_rc Compile(ge_engine*, const ge_segment* segment, uint32_t n, uint32_t segment_stride,
              ge_compiled* out, uint32_t out_stride, ge_err*) {
  const char* from = reinterpret_cast<const char*>(segment);
  char* to = reinterpret_cast<char*>(out);
  for (uint32_t i = 0; i < n; ++i, from += segment_stride, to += out_stride) {
    auto* c = reinterpret_cast<ge_compiled*>(to);
    c->rc = CompileOne(*reinterpret_cast<const ge_segment*>(from), c);
  }
  return GE_OK;
}

void ExecDestroy(ge_exec* exec) { delete exec; }

ge_rc Enqueue(ge_exec* exec, const ge_launch* l, ge_err* err) {
  constexpr uint64_t kBlock = 1 << 20;  // elements between two looks at `stop`: under a millisecond
  const auto* x = static_cast<const float*>(l->in[0].ptr);
  auto* y = static_cast<float*>(l->out[0].ptr);
  if (Understand(l->h, err, kName)) return GE_UNIMPLEMENTED;
  for (uint64_t i = 0; i < exec->count; ++i) {
    if (i % kBlock == 0 && l->stop != nullptr && __atomic_load_n(l->stop, __ATOMIC_RELAXED) != 0) {
      return Fail(err, GE_CANCELLED, UINT32_MAX, "%s: cancelled", kName);
    }
    y[i] = x[i] < 0 ? 0 : x[i];  // a NaN stays one
  }
  return GE_OK;
}

ge_rc EngineCreate(const ge_create_args* args, ge_engine** out, ge_err* err) {
  return Guard(err, kName, [&]() -> ge_rc {
    if (Understand(args->h, err, kName)) return GE_UNIMPLEMENTED;
    if (Understand(args->host->h, err, kName)) return GE_UNIMPLEMENTED;
    if (args->options.n != 0) {
      return Fail(err, GE_INVALID_ARGUMENT, UINT32_MAX, "%s: there are no options", kName);
    }
    *out = new ge_engine{args->host};
    return GE_OK;
  });
}

void EngineDestroy(ge_engine* e) { delete e; }

const ge_engine_api* Api() {
  static const ge_engine_api api = [] {
    ge_engine_api a = {};
    a.h = GE_HDR(ge_engine_api, GE_TAG_ENGINE_API);
    a.query = &Query;
    a.compile = &Compile;
    a.enqueue = &Enqueue;
    a.exec_destroy = &ExecDestroy;
    return a;
  }();
  return &api;
}

const ge_plugin_desc* Description() {
  static const ge_plugin_desc desc = [] {
    ge_plugin_desc d = {};
    d.magic = GE_PLUGIN_MAGIC;
    d.h = GE_HDR(ge_plugin_desc, GE_TAG_PLUGIN);
    d.abi_major = GE_ABI_MAJOR;
    d.abi_minor = GE_ABI_MINOR;
    d.header_hash = GE_HEADER_HASH;
    d.name = ge::plugin::Str(kName);
    d.version = ge::plugin::Str("0.1");
    d.vendor = ge::plugin::Str("me");
    d.kinds = GE_KIND_ENGINE;
    d.sanitizer = GE_SANITIZER_HERE;
    d.engine_create = &EngineCreate;
    d.engine_destroy = &EngineDestroy;
    d.engine = Api();
    return d;
  }();
  return &desc;
}

}  // namespace

const ge_plugin_desc* ge_plugin_query(ge_query_args* args) {
  if (args->host_major == GE_ABI_MAJOR) return Description();
  std::snprintf(args->refusal, sizeof args->refusal, "%s speaks plugin ABI %u, the host %u", kName,
                GE_ABI_MAJOR, args->host_major);
  return nullptr;
}
