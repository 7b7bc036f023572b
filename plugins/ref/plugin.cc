// ref: the reference engine. Every operator in plain loops, one thread, nothing allocated at run
// time: the oracle that other engines are compared with, and the fallback that takes what they
// decline. Serial and without processor-specific code by intent, so that results are the same on
// every machine.
#include <cstdio>

#include "plugins/ref/exec.h"
#include "plugins/ref/price.h"

struct ge_engine {
  const ge_host_api* host;
};
struct ge_exec {
  ref::Exec exec;
};

namespace ref {
namespace {

using ge::plugin::Fail;
using ge::plugin::Guard;
using ge::plugin::Str;
using ge::plugin::Understand;
using ge::plugin::UnderstandGraph;
using ge::plugin::View;

// Why the node is not taken, or its price and the alignment of its constants.
bool Consider(const ge_graph& graph, uint32_t node, ge_cost* cost, uint32_t* const_align,
              Why* why) {
  const ge_node& n = *GE_NODE(&graph, node);
  const Kernel* kernel = FindKernel(n);
  if (kernel == nullptr) {
    const std::string_view domain = View(n.domain), op = View(n.op);
    return why->Say(GE_WHY_OP, "no kernel for %.*s%s%.*s", static_cast<int>(domain.size()),
                    domain.data(), domain.empty() ? "" : ".", static_cast<int>(op.size()),
                    op.data());
  }
  NodeView view;
  if (!NodeView::Open(graph, node, &view, why)) return false;
  const std::unique_ptr<Prepared> prepared = kernel->prepare(view, why);
  if (prepared == nullptr) return false;
  cost->marginal_ns = MarginalNs(view);
  cost->launch_ns = kLaunchNs;
  cost->workspace = prepared->workspace;
  cost->confidence = 300;
  cost->source = GE_PRICE_ANALYTIC;
  *const_align = prepared->const_align;
  return true;
}

ge_rc Query(ge_engine*, const ge_graph* graph, const ge_sink* sink, ge_err* err) {
  return Guard(err, "ref: query", [&]() -> ge_rc {
    if (const ge_rc rc = UnderstandGraph(*graph, err, "ref: query")) return rc;
    if (const ge_rc rc = Understand(sink->h, err, "ref: query")) return rc;
    for (uint32_t i = 0; i < graph->n_node; ++i) {
      ge_cost cost = {};
      cost.h = GE_HDR(ge_cost, GE_TAG_COST);
      ge_offer offer = {};
      offer.h = GE_HDR(ge_offer, GE_TAG_OFFER);
      Why why;
      ge_rc rc = GE_OK;
      if (Consider(*graph, i, &cost, &offer.const_align, &why)) {
        offer.node = &i;
        offer.n_node = 1;
        offer.flags = GE_OFFER_GROWABLE;
        offer.cost = &cost;
        rc = sink->offer(sink->host, &offer);
      } else {
        ge_decline decline = {};
        decline.h = GE_HDR(ge_decline, GE_TAG_DECLINE);
        decline.node = i;
        decline.why = why.code == 0 ? static_cast<uint32_t>(GE_WHY_OTHER) : why.code;
        decline.text = Str(why.text);
        rc = sink->decline(sink->host, &decline);
      }
      if (rc != GE_OK) return rc;
    }
    return GE_OK;
  });
}

// Whether a query would offer each of the nodes that are taken, with constants that lie as it asks.
// Else *c says why not.
bool WouldOffer(const ge_segment& segment, ge_compiled* c) {
  for (uint32_t t = 0; t < segment.n_taken; ++t) {
    const ge_taken& taken = segment.taken[t];
    for (uint32_t k = 0; k < taken.n_node; ++k) {
      const ge_node& node = *GE_NODE(segment.graph, taken.node[k]);
      ge_cost cost = {};
      uint32_t const_align = 0;
      Why why;
      bool takes = Consider(*segment.graph, taken.node[k], &cost, &const_align, &why);
      for (uint32_t i = 0; takes && const_align > 1 && i < node.n_in; ++i) {
        const void* data = GE_VALUE(segment.graph, node.in[i])->data;
        if (reinterpret_cast<uintptr_t>(data) % const_align == 0) continue;
        takes = why.Say(GE_WHY_LAYOUT, "a constant lies at an address that it does not take");
      }
      if (takes) continue;
      c->rc = Fail(c->err, GE_UNIMPLEMENTED, taken.node[k], "ref: %s", why.text);
      return false;
    }
  }
  return true;
}

ge_rc CompileOne(const ge_segment& segment, ge_compiled* c) {
  auto made = std::make_unique<ge_exec>();
  const ge_rc rc = made->exec.Build(segment, c, c->err);
  if (rc == GE_OK) {
    c->exec = made.release();
    return rc;
  }
  // What Build stated goes with the exec.
  c->internal = nullptr;
  c->alias = nullptr;
  c->step = nullptr;
  c->n_internal = c->alias_count = 0;
  return rc;
}

ge_rc Compile(ge_engine*, const ge_segment* segment, uint32_t n, uint32_t segment_stride,
              ge_compiled* out, uint32_t out_stride, ge_err* err) {
  for (uint32_t i = 0; i < n; ++i) {
    const auto* s = reinterpret_cast<const ge_segment*>(reinterpret_cast<const char*>(segment) +
                                                        uint64_t{i} * segment_stride);
    auto* c =
        reinterpret_cast<ge_compiled*>(reinterpret_cast<char*>(out) + uint64_t{i} * out_stride);
    c->rc = Guard(c->err, "ref: compile", [&]() -> ge_rc {
      for (const ge_hdr* h : {&s->h, &s->graph->h}) {
        if (const ge_rc rc = Understand(*h, c->err, "ref: compile")) return rc;
      }
      if ((s->flags & GE_SEGMENT_UNASKED) != 0 && !WouldOffer(*s, c)) return c->rc;
      return CompileOne(*s, c);
    });
  }
  (void)err;  // every failure is that of one segment
  return GE_OK;
}

ge_rc Shape(ge_exec*, const ge_segment* segment, ge_compiled* c, ge_err* err) {
  return Guard(err, "ref: shape", [&]() -> ge_rc {
    if (const ge_rc rc = Understand(segment->h, err, "ref: shape")) return rc;
    if (!WouldOffer(*segment, c)) return GE_OK;
    c->rc = CompileOne(*segment, c);
    return GE_OK;
  });
}

ge_rc Enqueue(ge_exec* exec, const ge_launch* launch, ge_err* err) {
  return Guard(err, "ref: enqueue", [&] {
    const ge_rc rc = Understand(launch->h, err, "ref: enqueue");
    return rc != GE_OK ? rc : exec->exec.Run(*launch, err);
  });
}

void ExecDestroy(ge_exec* exec) { delete exec; }

ge_rc EngineCreate(const ge_create_args* args, ge_engine** out, ge_err* err) {
  return Guard(err, "ref: create", [&]() -> ge_rc {
    if (const ge_rc rc = Understand(args->h, err, "ref: create")) return rc;
    if (args->host != nullptr) {
      if (const ge_rc rc = Understand(args->host->h, err, "ref: create")) return rc;
    }
    *out = new ge_engine{args->host};
    return GE_OK;
  });
}

void EngineDestroy(ge_engine* engine) { delete engine; }

constexpr ge_engine_api MakeApi() {
  ge_engine_api api = {};
  api.h = GE_HDR(ge_engine_api, GE_TAG_ENGINE_API);
  api.query = Query;
  api.compile = Compile;
  api.enqueue = Enqueue;
  api.exec_destroy = ExecDestroy;
  api.shape = Shape;
  api.promises = GE_ENGINE_UNASKED;
  return api;
}
constexpr ge_engine_api kApi = MakeApi();

constexpr ge_plugin_desc MakeDesc() {
  ge_plugin_desc d = {};
  d.magic = GE_PLUGIN_MAGIC;
  d.h = GE_HDR(ge_plugin_desc, GE_TAG_PLUGIN);
  d.abi_major = GE_ABI_MAJOR;
  d.abi_minor = GE_ABI_MINOR;
  d.header_hash = GE_HEADER_HASH;
  d.name = {"ref", 3};
  d.version = {"0.1.0", 5};
  d.vendor = {"GraphEngine", 11};
  d.kinds = GE_KIND_ENGINE;
  d.sanitizer = GE_SANITIZER_HERE;
  d.engine_create = EngineCreate;
  d.engine_destroy = EngineDestroy;
  d.engine = &kApi;
  return d;
}
constexpr ge_plugin_desc kDesc = MakeDesc();

}  // namespace
}  // namespace ref

extern "C" const ge_plugin_desc* ge_plugin_query(ge_query_args* args) {
  if (args->host_major == GE_ABI_MAJOR) return &ref::kDesc;
  std::snprintf(
      args->refusal, sizeof(args->refusal),
      "ref was built for plugin ABI %u.%u, the host has %u.%u; use those of one major version",
      GE_ABI_MAJOR, GE_ABI_MINOR, args->host_major, args->host_minor);
  return nullptr;
}
