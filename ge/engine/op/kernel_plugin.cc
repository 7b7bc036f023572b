#include "ge/engine/op/kernel_plugin.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "ge/engine/op/kernel_exec.h"
#include "ge/engine/op/op_plugin.h"
#include "ge/engine/plugin/record.h"
#include "ge/ge_plugin.hpp"

struct ge_engine {
  std::vector<std::shared_ptr<const ge::PluginOp>> ops;  // those with a kernel
};
struct ge_exec {
  ge::KernelExec exec;
};

namespace ge {
namespace {

using plugin::Fail;
using plugin::View;

ge_rc Create(const ge_create_args* args, ge_engine** out, ge_err* err) {
  if (!args->h.next || args->h.next->tag != kTagKernelsOf) {
    return Fail(err, GE_INVALID_ARGUMENT, UINT32_MAX, "kernels: made by the host alone");
  }
  const Plugin& of = *reinterpret_cast<const KernelsOf*>(args->h.next)->plugin;
  auto engine = std::make_unique<ge_engine>();
  for (uint32_t i = 0; i < of.desc->n_op; ++i) {
    auto op = ReadPluginOp(of, i);
    if (!op.ok()) return Fail(err, GE_INTERNAL, UINT32_MAX, "%s", op.status().message().c_str());
    if ((*op)->def.kernel) engine->ops.push_back(std::move(*op));
  }
  *out = engine.release();
  return GE_OK;
}

void Destroy(ge_engine* engine) { delete engine; }

// The place among the engine's operators of a node that it can run, or why it cannot.
struct Verdict {
  size_t op = 0;
  uint32_t why = 0;  // GE_WHY_*, 0 = it can
  const char* text = "";
};

bool IsSized(const ge_value& v) {
  if (v.type.rank < 0 || v.type.dtype == GE_STRING) return false;
  return std::all_of(v.type.dims, v.type.dims + v.type.rank, [](int64_t d) { return d >= 0; });
}

Verdict Judge(const ge_engine& engine, const ge_graph* g, const ge_node& n) {
  Verdict out;
  const auto is = [&](const auto& op) {
    return View(op->def.domain) == View(n.domain) && View(op->def.name) == View(n.op);
  };
  const auto at = std::find_if(engine.ops.begin(), engine.ops.end(), is);
  if (at == engine.ops.end()) return {0, GE_WHY_OP, "the plugin has no kernel for it"};
  if ((*at)->def.flags & GE_OP_DATA_SIZED) return {0, GE_WHY_DYNAMIC, "the host runs it"};
  out.op = static_cast<size_t>(at - engine.ops.begin());
  if (n.n_in > KernelExec::kMostPorts || n.n_out > KernelExec::kMostPorts) {
    return {0, GE_WHY_RESOURCE, "more than 64 inputs or outputs"};
  }
  for (uint32_t i = 0; i < n.n_in; ++i) {
    if (n.in[i] && !IsSized(*GE_VALUE(g, n.in[i]))) return {0, GE_WHY_DYNAMIC, "a size is unknown"};
  }
  for (uint32_t i = 0; i < n.n_out; ++i) {
    if (n.out[i] && !IsSized(*GE_VALUE(g, n.out[i]))) {
      return {0, GE_WHY_DYNAMIC, "a size is unknown"};
    }
  }
  return out;
}

ge_rc Query(ge_engine* engine, const ge_graph* g, const ge_sink* sink, ge_err*) {
  for (uint32_t i = 0; i < g->n_node; ++i) {
    const Verdict v = Judge(*engine, g, *GE_NODE(g, i));
    if (v.why != 0) {
      const ge_decline no{GE_HDR(ge_decline, GE_TAG_DECLINE), i, v.why, plugin::Str(v.text)};
      sink->decline(sink->host, &no);
      continue;
    }
    ge_cost cost{};
    cost.h = GE_HDR(ge_cost, GE_TAG_COST);
    cost.marginal_ns = GE_UNKNOWN_NS;
    cost.source = GE_PRICE_GUESS;
    ge_offer offer{};
    offer.h = GE_HDR(ge_offer, GE_TAG_OFFER);
    offer.node = &i;
    offer.n_node = 1;
    offer.cookie = v.op;
    offer.cost = &cost;
    sink->offer(sink->host, &offer);
  }
  return GE_OK;
}

// Whether a query would offer what is taken, by this cookie. Else *c says why not.
bool WouldOffer(const ge_engine& engine, const ge_segment& s, ge_compiled* c) {
  const bool one = s.n_taken == 1 && s.taken[0].n_node == 1;
  const Verdict v = one ? Judge(engine, s.graph, *GE_NODE(s.graph, s.taken[0].node[0]))
                        : Verdict{0, GE_WHY_OTHER, "it takes one node at a time"};
  if (v.why == 0 && s.taken[0].cookie == v.op) return true;
  c->rc = Fail(c->err, GE_UNIMPLEMENTED, one ? s.taken[0].node[0] : UINT32_MAX, "%s",
               v.why != 0 ? v.text : "the cookie names another operator");
  return false;
}

ge_rc Compile(ge_engine* engine, const ge_segment* segment, uint32_t n, uint32_t segment_stride,
              ge_compiled* out, uint32_t out_stride, ge_err*) {
  for (uint32_t i = 0; i < n; ++i) {
    const auto& s = *reinterpret_cast<const ge_segment*>(reinterpret_cast<const char*>(segment) +
                                                         uint64_t{i} * segment_stride);
    auto& c =
        *reinterpret_cast<ge_compiled*>(reinterpret_cast<char*>(out) + uint64_t{i} * out_stride);
    if ((s.flags & GE_SEGMENT_UNASKED) != 0 && !WouldOffer(*engine, s, &c)) continue;
    auto exec = std::make_unique<ge_exec>();
    c.rc = exec->exec.Compile(engine->ops[s.taken[0].cookie], s, c.err);
    if (c.rc != GE_OK) continue;
    c.internal = exec->exec.internals().data();
    c.n_internal = static_cast<uint32_t>(exec->exec.internals().size());
    c.exec = exec.release();
  }
  return GE_OK;
}

ge_rc Enqueue(ge_exec* exec, const ge_launch* launch, ge_err* err) {
  return exec->exec.Run(*launch, err);
}

void DestroyExec(ge_exec* exec) { delete exec; }

constexpr ge_engine_api MakeTable() {
  ge_engine_api api{};
  api.h = GE_HDR(ge_engine_api, GE_TAG_ENGINE_API);
  api.query = Query;
  api.compile = Compile;
  api.enqueue = Enqueue;
  api.exec_destroy = DestroyExec;
  api.promises = GE_ENGINE_UNASKED;
  return api;
}
constexpr ge_engine_api kTable = MakeTable();

}  // namespace

Result<std::shared_ptr<const Plugin>> KernelPlugin(const std::shared_ptr<const Plugin>& of) {
  struct Made {
    ge_plugin_desc desc{};
    Plugin plugin;
  };
  static std::mutex mutex;
  static std::map<const Plugin*, std::shared_ptr<Made>> made;
  bool any = false;
  for (uint32_t i = 0; i < of->desc->n_op; ++i) {
    GE_ASSIGN_OR_RETURN(const auto op, ReadPluginOp(*of, i));
    any |= op->def.kernel && !(op->def.flags & GE_OP_DATA_SIZED);
  }
  if (!any) return std::shared_ptr<const Plugin>();
  const std::lock_guard<std::mutex> lock(mutex);
  std::shared_ptr<Made>& m = made[of.get()];
  if (!m) {
    m = std::make_shared<Made>();
    m->plugin = *of;
    m->plugin.path += "#kernels";
    m->plugin.kernels_of = of;
    if (of->desc->kinds & GE_KIND_ENGINE) m->plugin.name += "_ops";
    m->desc = *of->desc;
    m->desc.kinds = GE_KIND_ENGINE;
    m->desc.engine = &kTable;
    m->desc.engine_create = Create;
    m->desc.engine_destroy = Destroy;
    m->plugin.desc = &m->desc;
  }
  return std::shared_ptr<const Plugin>(m, &m->plugin);
}

}  // namespace ge
