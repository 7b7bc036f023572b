#include <algorithm>
#include <vector>

#include "engine.h"
#include "ge/ge_plugin.hpp"

namespace devsim {
namespace {

// Stands between the wrapped engine and the host.
struct Proxy {
  const ge_engine* engine;
  const ge_graph* graph;
  const ge_sink* host;
};

uint64_t Scaled(const ge_engine& engine, uint64_t ns) {
  if (ns == GE_UNKNOWN_NS) return ns;
  return static_cast<uint64_t>(static_cast<double>(ns) * engine.options.price / 100.0);
}

bool Taken(const Proxy& p, uint32_t node) {
  const Options& o = p.engine->options;
  if (!o.ops.empty() && !Named(o.ops, ge::plugin::View(GE_NODE(p.graph, node)->op))) return false;
  return Mix(o.take_seed, node) % 100 < o.take;
}

ge_rc Decline(const Proxy& p, uint32_t node) {
  ge_decline d = {};
  d.h = GE_HDR(ge_decline, GE_TAG_DECLINE);
  d.node = node;
  d.why = GE_WHY_POLICY;
  d.text = ge::plugin::Str("option take or ops leaves this node out");
  return p.host->decline(p.host->host, &d);
}

ge_rc TakeOffer(void* host, const ge_offer* given) {
  const Proxy& p = *static_cast<const Proxy*>(host);
  const ge_engine& engine = *p.engine;
  ge_offer offer = Known(*given);
  for (uint32_t i = 0; i < offer.n_node; ++i) {
    if (Taken(p, offer.node[i])) continue;
    return offer.n_node == 1 ? Decline(p, offer.node[0]) : static_cast<ge_rc>(GE_OK);
  }
  ge_cost cost = {};
  if (given->cost != nullptr) {
    cost = Known(*given->cost);
    cost.setup_ns = Scaled(engine, cost.setup_ns);
    cost.marginal_ns = Scaled(engine, cost.marginal_ns);
    cost.launch_ns = Scaled(engine, cost.launch_ns);
    offer.cost = &cost;
  }
  if (engine.options.grow == 0) offer.flags &= ~uint32_t{GE_OFFER_GROWABLE};
  offer.edge_saving_ns = Scaled(engine, offer.edge_saving_ns);
  offer.convert_ns_per_byte *= static_cast<double>(engine.options.price) / 100.0;
  std::vector<ge_layout_choice> choices(given->choice, given->choice + given->n_choice);
  for (ge_layout_choice& c : choices) c.marginal_ns = Scaled(engine, c.marginal_ns);
  offer.choice = choices.data();
  ge_rc rc = GE_OK;
  for (uint32_t d = 0; rc == GE_OK && d < engine.n_device(); ++d) {
    offer.device = d;
    rc = p.host->offer(p.host->host, &offer);
  }
  return rc;
}

ge_rc TakeDecline(void* host, const ge_decline* d) {
  const Proxy& p = *static_cast<const Proxy*>(host);
  return p.host->decline(p.host->host, d);
}

ge_rc TakeLayout(void* host, const ge_layout* layout, uint32_t* id) {
  const Proxy& p = *static_cast<const Proxy*>(host);
  return p.host->layout(p.host->host, layout, id);
}

}  // namespace

ge_rc Query(ge_engine* engine, const ge_graph* graph, const ge_sink* sink, ge_err* err) {
  Proxy proxy = {engine, graph, sink};
  ge_sink mine = {};
  mine.h = GE_HDR(ge_sink, GE_TAG_SINK);
  mine.host = &proxy;
  mine.offer = TakeOffer;
  mine.decline = TakeDecline;
  mine.layout = TakeLayout;
  return engine->wrapped.api().query(engine->wrapped.engine(), graph, &mine, err);
}

}  // namespace devsim
