// Query: offers of single nodes, and of patterns, for each device, at prices from its rates.
#include <algorithm>

#include "plugins/device/engine.h"

namespace ge_engines::device {
namespace {

ge_rc Decline(const ge_sink& sink, uint32_t node, const Why& why) {
  ge_decline d = {};
  d.h = GE_HDR(ge_decline, GE_TAG_DECLINE);
  d.node = node;
  d.why = why.code == 0 ? static_cast<uint32_t>(GE_WHY_OTHER) : why.code;
  d.text = gp::Str(why.text);
  return sink.decline(sink.host, &d);
}

// One unit's offer on one device.
ge_rc Send(const Engine& e, const Device& device, const Unit& unit, const Ids& nodes,
           const Work& work, const Parser& parser, const ge_sink& sink) {
  const Rates& rates = device.rates();
  const double border = BorderNsOf(work, rates);
  ge_cost cost = {};
  cost.h = GE_HDR(ge_cost, GE_TAG_COST);
  cost.marginal_ns = static_cast<uint64_t>(NsOf(work, rates) + border);
  cost.launch_ns = static_cast<uint64_t>(rates.launch_ns);
  cost.workspace = work.workspace;
  cost.persistent = work.packed;
  cost.confidence = rates.guessed ? 0 : rates.measured ? 800 : 400;
  cost.source = rates.guessed    ? GE_PRICE_GUESS
                : rates.measured ? GE_PRICE_MEASURED
                                 : GE_PRICE_ANALYTIC;
  ge_offer o = {};
  o.h = GE_HDR(ge_offer, GE_TAG_OFFER);
  o.node = nodes.data();
  o.n_node = static_cast<uint32_t>(nodes.size());
  o.flags = GE_OFFER_GROWABLE | (e.Rounds(unit, parser) ? GE_OFFER_ROUNDS : 0);
  o.device = device.index();
  o.const_align = 1;
  o.cost = &cost;
  o.edge_saving_ns = static_cast<uint64_t>(border);
  return sink.offer(sink.host, &o);
}

ge_rc SendAll(const Engine& e, const Unit& unit, const Ids& nodes, const Parser& parser,
              const ge_sink& sink) {
  const Work work = e.WorkFor(unit, parser);
  for (uint32_t d = 0; d < e.device_count(); ++d) {
    const Device& device = *e.device(d);
    if (device.faulty()) continue;
    if (const ge_rc rc = Send(e, device, unit, nodes, work, parser, sink)) return rc;
  }
  return GE_OK;
}

// A unit cut down to its first nodes: offered where the rest is better done elsewhere.
ge_rc SendPrefix(const Engine& e, const Unit& unit, const Ids& prefix, const Parser& parser,
                 const ge_sink& sink) {
  if (prefix.size() < 2 || prefix.size() == unit.nodes.size()) return GE_OK;
  const std::vector<Unit> cut = Matcher(parser, {prefix.begin(), prefix.end()}).Cover();
  Why why;
  if (cut.size() != 1 || !e.Takes(cut[0], parser, &why)) return GE_OK;
  return SendAll(e, cut[0], prefix, parser, sink);
}

}  // namespace

ge_rc Offer(const Engine& engine, const ge_graph& graph, const ge_sink& sink) {
  const Parser parser(graph, engine.Kinds(), engine.Halves());
  std::vector<uint32_t> allowed;
  for (uint32_t i = 0; i < graph.n_node; ++i) {
    Unit u;
    Why why;
    const bool parsed = parser.Parse(i, &u, &why), takes = parsed && engine.Takes(u, parser, &why);
    if (takes || (parsed && engine.Joins(u, parser))) allowed.push_back(i);
    const ge_rc rc = takes ? SendAll(engine, u, u.nodes, parser, sink) : Decline(sink, i, why);
    if (rc != GE_OK) return rc;
  }
  Matcher matcher(parser, allowed);
  const std::vector<Unit> units = matcher.Cover();
  for (size_t k = 0; k < units.size(); ++k) {
    const Unit& u = units[k];
    Why why;
    if (u.nodes.size() < 2 || !engine.Takes(u, parser, &why)) continue;
    if (const ge_rc rc = SendAll(engine, u, u.nodes, parser, sink)) return rc;
    if (const ge_rc rc = SendPrefix(engine, u, matcher.prefixes()[k], parser, sink)) return rc;
  }
  return GE_OK;
}

}  // namespace ge_engines::device
