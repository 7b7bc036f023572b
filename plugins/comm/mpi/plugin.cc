// The engine `mpi`: collectives of domain comm through Open MPI, on host memory. A launch waits
// until all ranks have come.
#include <memory>
#include <new>

#include "ge/ge_plugin.h"
#include "ge/ge_plugin.hpp"
#include "plugins/comm/mpi/collective.h"

struct ge_engine {};
struct ge_exec {
  explicit ge_exec(const ge_segment& segment) : run(segment) {}
  ge_engines::mpi::Collective run;
};

namespace ge_engines::mpi {
namespace {

// By what Open MPI needs on one machine: a message's time, and a copy out and in.
constexpr uint64_t kMessageNs = 20'000, kBytesANs = 2;

ge_rc Query(ge_engine*, const ge_graph* g, const ge_sink* sink, ge_err* err) {
  return ge::plugin::Guard(err, "mpi", [&]() -> ge_rc {
    if (const ge_rc rc = ge::plugin::UnderstandGraph(*g, err, "mpi"); rc != GE_OK) return rc;
    for (uint32_t i = 0; i < g->n_node; ++i) {
      const ge_node& n = *GE_NODE(g, i);
      if (!IsCollective(n))
        continue;  // a session without any pays nothing, and reads nothing of it
      const Refused refused = WhyNot(g, n);
      ge_decline no{};
      no.h = GE_HDR(ge_decline, GE_TAG_DECLINE);
      no.node = i;
      no.why = refused.why;
      no.text = ge::plugin::Str(refused.text);
      ge_cost cost{};
      cost.h = GE_HDR(ge_cost, GE_TAG_COST);
      cost.source = GE_PRICE_ANALYTIC;
      ge_offer offer{};
      offer.h = GE_HDR(ge_offer, GE_TAG_OFFER);
      offer.node = &i;
      offer.n_node = 1;
      offer.cost = &cost;
      if (refused.why == 0) cost.marginal_ns = kMessageNs + BytesOf(g, n) / kBytesANs;
      const ge_rc rc =
          refused.why == 0 ? sink->offer(sink->host, &offer) : sink->decline(sink->host, &no);
      if (rc != GE_OK) return rc;
    }
    return GE_OK;
  });
}

ge_rc Compile(ge_engine*, const ge_segment* segment, uint32_t n, uint32_t segment_stride,
              ge_compiled* out, uint32_t out_stride, ge_err* err) {
  return ge::plugin::Guard(err, "mpi", [&]() -> ge_rc {
    for (uint32_t i = 0; i < n; ++i) {
      const auto& s = *reinterpret_cast<const ge_segment*>(reinterpret_cast<const char*>(segment) +
                                                           uint64_t{i} * segment_stride);
      auto& c =
          *reinterpret_cast<ge_compiled*>(reinterpret_cast<char*>(out) + uint64_t{i} * out_stride);
      const ge_node& node = *GE_NODE(s.graph, s.taken[0].node[0]);
      const Refused refused = WhyNot(s.graph, node);  // the cover may come from a file
      if (refused.why != 0) {
        c.rc =
            ge::plugin::Fail(c.err, GE_UNIMPLEMENTED, UINT32_MAX, "mpi: %s", refused.text.c_str());
        continue;
      }
      auto made = std::make_unique<ge_exec>(s);
      c.workspace = made->run.workspace();
      c.flags = GE_COMPILED_SERIAL;
      c.exec = made.release();
    }
    return GE_OK;
  });
}

ge_rc Enqueue(ge_exec* exec, const ge_launch* launch, ge_err* err) {
  if (const ge_rc rc = ge::plugin::Understand(launch->h, err, "mpi"); rc != GE_OK) return rc;
  return ge::plugin::Guard(err, "mpi", [&] { return exec->run.Run(*launch, err); });
}

void ExecDestroy(ge_exec* exec) { delete exec; }

ge_rc Create(const ge_create_args* args, ge_engine** out, ge_err* err) {
  if (args->options.n != 0) {
    return ge::plugin::Fail(err, GE_INVALID_ARGUMENT, UINT32_MAX,
                            "mpi: it has no options, but '%.*s' was given",
                            static_cast<int>(args->options.n), args->options.p);
  }
  *out = new (std::nothrow) ge_engine;
  return *out != nullptr
             ? static_cast<ge_rc>(GE_OK)
             : ge::plugin::Fail(err, GE_OUT_OF_MEMORY, UINT32_MAX, "mpi: out of memory");
}

void Destroy(ge_engine* engine) { delete engine; }

}  // namespace
}  // namespace ge_engines::mpi

extern "C" const ge_plugin_desc* ge_plugin_query(ge_query_args*) {
  using namespace ge_engines::mpi;
  static const ge_engine_api api = [] {
    ge_engine_api a{};
    a.h = GE_HDR(ge_engine_api, GE_TAG_ENGINE_API);
    a.query = Query;
    a.compile = Compile;
    a.enqueue = Enqueue;
    a.exec_destroy = ExecDestroy;
    return a;
  }();
  static const ge_plugin_desc desc = [] {
    ge_plugin_desc d = {GE_PLUGIN_HEAD};
    d.name = ge::plugin::Str("mpi");
    d.version = ge::plugin::Str("0.1");
    d.vendor = ge::plugin::Str("GraphEngine");
    d.kinds = GE_KIND_ENGINE;
    d.sanitizer = GE_SANITIZER_HERE;
    d.engine_create = Create;
    d.engine_destroy = Destroy;
    d.engine = &api;
    return d;
  }();
  return &desc;
}
