// Query: offers of single nodes, and of patterns, for each device, at prices from its rates; and,
// where an engine has layouts, the same in them. Inside a segment images keep the layouts in which
// units leave them, so that a growable offer pays where it asks for another one at its border, and
// the unit gets a second offer, alone and plain.
#include <algorithm>
#include <map>

#include "plugins/device/engine.h"
#include "plugins/units/tagged_layout.h"

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

ge_cost CostOf(const Rates& rates) {
  ge_cost cost = {};
  cost.h = GE_HDR(ge_cost, GE_TAG_COST);
  cost.launch_ns = static_cast<uint64_t>(rates.launch_ns);
  cost.confidence = rates.guessed ? 0 : rates.measured ? 800 : 400;
  cost.source = rates.guessed    ? GE_PRICE_GUESS
                : rates.measured ? GE_PRICE_MEASURED
                                 : GE_PRICE_ANALYTIC;
  return cost;
}

// Serves one query.
class Offers {
 public:
  Offers(const Engine& engine, const Parser& parser, const ge_sink& sink)
      : e_(engine), p_(parser), sink_(sink), lies_(parser.graph().n_value) {}

  // Takes note of a node's unit, in the order of the graph: later ones ask how its images lie.
  void Announce(const Unit& unit);
  // Offers a unit on each device.
  ge_rc Add(const Unit& unit, const Ids& nodes);
  // Offers the same of a unit cut down to its first nodes, since the rest may be better done
  // elsewhere.
  ge_rc AddPrefix(const Unit& unit, const Ids& prefix);
  // Offers conversions between the layouts that were offered.
  ge_rc AddConversions();

 private:
  // A unit's images at a border: as they lie inside, or plain.
  struct Choice {
    std::vector<ge_value_layout> values;
    double ns = 0;
  };
  // What a unit does with layouts.
  struct Ways {
    LayoutTag in, out;  // of its images inside a segment
    bool prefers = false;
    bool turns = false;  // it reads plain what lies in blocks inside
    bool plain() const { return in.plain() && out.plain(); }
  };
  Ways WaysOf(const Unit& unit) const;
  uint32_t IdOf(const LayoutTag& tag, size_t rank);
  double TurnNs(uint32_t value, const LayoutTag& tag, const Rates& rates) const;
  double TurnInNs(const Unit& unit, const LayoutTag& tag, const Rates& rates) const;
  Choice Choose(const Unit& unit, const LayoutTag& in, const LayoutTag& out, double ns);
  ge_rc AddTo(const Device& device, const Unit& unit, const Ids& nodes, const Work& work);
  struct Priced {
    double ns = 0, saving = 0;
    bool growable = true;
  };
  ge_rc Send(const Device& device, const Unit& unit, const Ids& nodes, const Work& work,
             const Priced& priced, const std::vector<Choice>& choices) const;
  ge_rc SendConversion(const Device& device, uint32_t from, uint32_t to) const;

  const Engine& e_;
  const Parser& p_;
  const ge_sink& sink_;
  std::vector<LayoutTag> lies_;                           // by value: how it lies inside a segment
  std::map<std::pair<LayoutTag, size_t>, uint32_t> ids_;  // by rank
};

Offers::Ways Offers::WaysOf(const Unit& unit) const {
  Ways w;
  if (e_.Layouts().empty()) return w;
  const TagOfValue lies = [this](uint32_t v) { return lies_[v]; };
  const LayoutTag work = LayoutOfWork(e_, unit, p_, lies);
  w.prefers = e_.Prefers(unit, p_).has_value();
  w.in = w.prefers ? work : LayoutRead(unit, p_, lies);
  w.out = IsImage(p_, unit.out[0]) ? work : LayoutTag{};
  w.turns = !w.in.plain() && work.plain();
  return w;
}

void Offers::Announce(const Unit& unit) {
  const LayoutTag out = WaysOf(unit).out;
  for (uint32_t v : unit.out) {
    if (v != 0) lies_[v] = out;
  }
}

uint32_t Offers::IdOf(const LayoutTag& tag, size_t rank) {
  if (tag.plain()) return 0;
  const auto [it, fresh] = ids_.try_emplace({tag, rank}, 0);
  if (!fresh) return it->second;
  const ge_layout* layout = TaggedLayout(tag, rank);
  if (layout == nullptr || sink_.layout(sink_.host, layout, &it->second) != GE_OK) it->second = 0;
  return it->second;
}

// Between plain and `tag`.
double Offers::TurnNs(uint32_t value, const LayoutTag& tag, const Rates& rates) const {
  const Layout there = tag.On(p_.dims(value), p_.size(value));
  return ConversionNsOf(BytesOf(p_, value) + static_cast<double>(there.bytes()), rates);
}

double Offers::TurnInNs(const Unit& unit, const LayoutTag& tag, const Rates& rates) const {
  double ns = 0;
  const auto add = [&](uint32_t v) {
    if (!tag.plain() && IsLaidOut(unit, p_, v)) ns += TurnNs(v, tag, rates);
  };
  for (uint32_t v : unit.in) add(v);
  for (const PostOp& q : unit.post_ops) add(q.operand);
  return ns;
}

Offers::Choice Offers::Choose(const Unit& unit, const LayoutTag& in, const LayoutTag& out,
                              double ns) {
  Choice c{{}, ns};
  const auto add = [&](uint32_t v, const LayoutTag& tag) {
    const bool known = std::any_of(c.values.begin(), c.values.end(),
                                   [v](const ge_value_layout& l) { return l.value == v; });
    if (known || tag.plain() || !IsLaidOut(unit, p_, v)) return;
    const uint32_t id = IdOf(tag, p_.dims(v).size());
    if (id != 0) c.values.push_back({v, id, 0});
  };
  for (uint32_t v : unit.in) add(v, in);
  for (const PostOp& q : unit.post_ops) add(q.operand, in);
  for (uint32_t v : unit.out) add(v, out);
  return c;
}

ge_rc Offers::Send(const Device& device, const Unit& unit, const Ids& nodes, const Work& work,
                   const Priced& priced, const std::vector<Choice>& choices) const {
  ge_cost cost = CostOf(device.rates());
  cost.marginal_ns = static_cast<uint64_t>(priced.ns);
  cost.workspace = work.workspace;
  cost.persistent = work.packed;
  std::vector<ge_layout_choice> records;
  for (const Choice& c : choices) {
    records.push_back({c.values.data(),
                       static_cast<uint32_t>(c.values.size()),
                       0,
                       static_cast<uint64_t>(c.ns),
                       {}});
  }
  ge_offer o = {};
  o.h = GE_HDR(ge_offer, GE_TAG_OFFER);
  o.node = nodes.data();
  o.n_node = static_cast<uint32_t>(nodes.size());
  o.flags = (priced.growable ? GE_OFFER_GROWABLE : 0) | (e_.Rounds(unit, p_) ? GE_OFFER_ROUNDS : 0);
  o.device = device.index();
  o.const_align = 1;
  o.cost = &cost;
  o.edge_saving_ns = static_cast<uint64_t>(priced.saving);
  o.choice = records.data();
  o.n_choice = static_cast<uint32_t>(records.size());
  return sink_.offer(sink_.host, &o);
}

ge_rc Offers::AddTo(const Device& device, const Unit& unit, const Ids& nodes, const Work& work) {
  const Rates& rates = device.rates();
  const double busy = NsOf(work, rates), border = BorderNsOf(work, rates);
  const Ways w = WaysOf(unit);
  if (w.plain()) return Send(device, unit, nodes, work, {busy + border, border, true}, {});
  const double in_ns = TurnInNs(unit, w.in, rates);
  const double out_ns = w.out.plain() ? 0 : TurnNs(unit.out[0], w.out, rates);
  // What reads plain images has them converted, whether they come from the segment or its border.
  const double ns = busy + (w.turns ? std::max(border, in_ns) : border);
  const double saving = w.turns ? 0 : border, more_ns = w.turns ? 0 : in_ns;
  std::vector<Choice> choices = {Choose(unit, w.in, w.out, ns)};
  if (!w.out.plain()) choices.push_back(Choose(unit, w.in, {}, ns + out_ns));
  if (!w.in.plain()) choices.push_back(Choose(unit, {}, w.out, ns + more_ns));
  if (!w.in.plain() && !w.out.plain()) {
    choices.push_back(Choose(unit, {}, {}, ns + more_ns + out_ns));
  }
  const ge_rc rc = Send(device, unit, nodes, work, {ns, saving, true}, choices);
  if (rc != GE_OK || w.prefers) return rc;
  return Send(device, unit, nodes, work, {busy + border, 0, false}, {});
}

ge_rc Offers::Add(const Unit& unit, const Ids& nodes) {
  const Work work = e_.WorkFor(unit, p_);
  for (uint32_t d = 0; d < e_.device_count(); ++d) {
    const Device& device = *e_.device(d);
    if (device.faulty()) continue;
    if (const ge_rc rc = AddTo(device, unit, nodes, work)) return rc;
  }
  return GE_OK;
}

ge_rc Offers::AddPrefix(const Unit& unit, const Ids& prefix) {
  if (prefix.size() < 2 || prefix.size() == unit.nodes.size()) return GE_OK;
  const std::vector<Unit> cut = Matcher(p_, {prefix.begin(), prefix.end()}).Cover();
  Why why;
  if (cut.size() != 1 || !e_.Takes(cut[0], p_, &why)) return GE_OK;
  return Add(cut[0], prefix);
}

ge_rc Offers::SendConversion(const Device& device, uint32_t from, uint32_t to) const {
  const Rates& rates = device.rates();
  constexpr double kBoth = 2;  // each byte is read and written
  ge_cost cost = CostOf(rates);
  cost.launch_ns = static_cast<uint64_t>(rates.launch_ns + ConversionNsOf(0, rates));
  ge_offer o = {};
  o.h = GE_HDR(ge_offer, GE_TAG_OFFER);
  o.flags = GE_OFFER_CONVERT;
  o.device = device.index();
  o.cost = &cost;
  o.convert_from = from;
  o.convert_to = to;
  o.convert_ns_per_byte =
      kBoth / (rates.convert_bytes_per_ns > 0 ? rates.convert_bytes_per_ns : rates.bytes_per_ns);
  return sink_.offer(sink_.host, &o);
}

ge_rc Offers::AddConversions() {
  std::vector<std::pair<uint32_t, uint32_t>> pairs;
  for (const auto& [key, id] : ids_) {
    if (id == 0) continue;
    pairs.insert(pairs.end(), {{0, id}, {id, 0}});
    for (const auto& [other, other_id] : ids_) {
      if (other_id != 0 && other_id != id && other.second == key.second) {
        pairs.emplace_back(id, other_id);
      }
    }
  }
  for (uint32_t d = 0; d < e_.device_count(); ++d) {
    const Device& device = *e_.device(d);
    if (device.faulty()) continue;
    for (const auto& [from, to] : pairs) {
      if (const ge_rc rc = SendConversion(device, from, to)) return rc;
    }
  }
  return GE_OK;
}

}  // namespace

ge_rc Offer(const Engine& engine, const ge_graph& graph, const ge_sink& sink) {
  const Parser parser(graph, engine.Kinds(), engine.Halves());
  Offers offers(engine, parser, sink);
  std::vector<uint32_t> allowed;
  for (uint32_t i = 0; i < graph.n_node; ++i) {
    Unit u;
    Why why;
    const bool parsed = parser.Parse(i, &u, &why), takes = parsed && engine.Takes(u, parser, &why);
    if (takes || (parsed && engine.Joins(u, parser))) {
      allowed.push_back(i);
      offers.Announce(u);
    }
    const ge_rc rc = takes ? offers.Add(u, u.nodes) : Decline(sink, i, why);
    if (rc != GE_OK) return rc;
  }
  Matcher matcher(parser, allowed);
  const std::vector<Unit> units = matcher.Cover();
  for (size_t k = 0; k < units.size(); ++k) {
    const Unit& u = units[k];
    Why why;
    if (u.nodes.size() < 2 || !engine.Takes(u, parser, &why)) continue;
    if (const ge_rc rc = offers.Add(u, u.nodes)) return rc;
    if (const ge_rc rc = offers.AddPrefix(u, matcher.prefixes()[k])) return rc;
  }
  return offers.AddConversions();
}

}  // namespace ge_engines::device
