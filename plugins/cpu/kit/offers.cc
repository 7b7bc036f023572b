#include "plugins/cpu/kit/offers.h"

#include <algorithm>

#include "plugins/cpu/kit/price.h"
#include "plugins/units/tagged_layout.h"

namespace ge_engines::cpu {
namespace {

// Bytes a ns of bringing an image into another order, ours and oneDNN's: 3.5 to 13, least where
// channels become the last axis.
constexpr double kReorderRate = 5.5;

// Whether its result lies as what it reads.
bool Follows(const Unit& u) { return u.kind().follows; }

// Weights that a run makes: whoever convolves brings them from plain into an order of its own.
bool IsFilter(const Unit& u, uint32_t v) {
  const size_t at = u.kind().filter != nullptr ? u.kind().filter(u) : 0;
  return at > 0 && v == u.in[at];
}

}  // namespace

bool Offers::Image(uint32_t value) const {
  if (value == 0 || p_.constant(value) || p_.dtype(value) != GE_F32) return false;
  const Dims d = p_.dims(value);
  return d.size() >= 3 && d.size() <= 5 && d[1] > 1 && Product(Dims(d.begin() + 2, d.end())) > 1;
}

LayoutTag Offers::LayoutInside(const Unit& unit) const {
  if (const auto liked = e_.PreferredLayouts(unit, p_)) return liked->first;
  auto form = [&](uint32_t v) { return Image(v) ? natural_[v] : LayoutTag{}; };
  for (uint32_t v : unit.in) {
    if (!form(v).plain()) return form(v);
  }
  for (const PostOp& q : unit.post_ops) {
    if (!form(q.operand).plain()) return form(q.operand);
  }
  return {};
}

LayoutTag Offers::LayoutBehind(const Unit& unit) const {
  if (!Image(unit.out[0])) return {};
  if (const auto liked = e_.PreferredLayouts(unit, p_)) return liked->second;
  return Follows(unit) && e_.KeepsLayout(unit) ? LayoutInside(unit) : LayoutTag{};
}

void Offers::Announce(const Unit& unit) {
  const LayoutTag form = LayoutBehind(unit);
  for (uint32_t v : unit.out) {
    if (v != 0) natural_[v] = form;
  }
}

double Offers::ReorderNs(uint32_t value) const {
  return kLoopNs + BytesOf(p_, value) / (kReorderRate * e_.machine().stream[0]);
}

double Offers::ReorderInNs(const Unit& unit) const {
  double ns = 0;
  for (uint32_t v : unit.in) ns += Image(v) && !IsFilter(unit, v) ? ReorderNs(v) : 0;
  return ns;
}

uint32_t Offers::IdOf(const LayoutTag& form, size_t rank) {
  if (form.plain()) return 0;
  auto [it, fresh] = ids_.try_emplace({form, rank}, 0);
  if (!fresh) return it->second;
  const ge_layout* l = TaggedLayout(form, rank);
  if (l == nullptr || sink_.layout(sink_.host, l, &it->second) != GE_OK) it->second = 0;
  return it->second;
}

void Offers::Choose(const Unit& unit, const LayoutTag& in, const LayoutTag& out, double ns) {
  Choice c{{}, ns};
  auto add = [&](uint32_t v, const LayoutTag& form) {
    if (!Image(v) || form.plain()) return;
    for (const ge_value_layout& l : c.values) {
      if (l.value == v) return;
    }
    const uint32_t id = IdOf(form, p_.dims(v).size());
    if (id != 0) c.values.push_back({v, id, 0});
  };
  for (uint32_t v : unit.in) add(v, IsFilter(unit, v) ? LayoutTag{} : in);
  const Dims d = unit.dims;
  for (const PostOp& q : unit.post_ops) {
    if (q.operand != 0 && p_.dims(q.operand) == d)
      add(q.operand, e_.PreferredLayouts(unit, p_) ? out : in);
  }
  for (uint32_t v : unit.out) add(v, out);
  choices_.push_back(std::move(c));
}

ge_rc Offers::Send(const Ids& nodes, const Price& price, double ns, double saving, bool growable) {
  ge_cost cost = {};
  cost.h = GE_HDR(ge_cost, GE_TAG_COST);
  cost.marginal_ns = static_cast<uint64_t>(ns);
  cost.launch_ns = e_.LaunchNs() + static_cast<uint64_t>(price.launch_ns);
  cost.shape_ns = static_cast<uint64_t>(price.shape_ns);
  cost.workspace = price.workspace;
  cost.persistent = price.packed;
  cost.confidence = 600;
  cost.source = GE_PRICE_ANALYTIC;
  std::vector<ge_layout_choice> choices;
  for (const Choice& c : choices_) {
    choices.push_back({c.values.data(),
                       static_cast<uint32_t>(c.values.size()),
                       0,
                       static_cast<uint64_t>(c.ns),
                       {}});
  }
  ge_offer o = {};
  o.h = GE_HDR(ge_offer, GE_TAG_OFFER);
  o.node = nodes.data();
  o.n_node = static_cast<uint32_t>(nodes.size());
  o.flags = (growable ? GE_OFFER_GROWABLE : 0) | (rounds_ ? GE_OFFER_ROUNDS : 0);
  o.const_align = 1;
  o.cost = &cost;
  o.edge_saving_ns = static_cast<uint64_t>(saving);
  o.choice = choices.data();
  o.n_choice = static_cast<uint32_t>(choices.size());
  const ge_rc rc = sink_.offer(sink_.host, &o);
  choices_.clear();
  return rc;
}

ge_rc Offers::Add(const Unit& unit, const Ids& nodes) {
  Price price = e_.PriceOf(unit, p_);
  rounds_ = e_.Rounds(unit, p_);
  // Beside the weights: biases and other vectors of constants are laid out, too.
  const auto lay_out = [&](uint32_t v) {
    if (v == 0 || !p_.constant(v)) return;
    price.packed += (static_cast<uint64_t>(BytesOf(p_, v)) + 63) / 64 * 64;
  };
  for (size_t i = 1; i < unit.in.size(); ++i) {
    if (i > 1 || p_.dims(unit.in[i]).size() < 2) lay_out(unit.in[i]);
  }
  for (uint32_t v : unit.bias) lay_out(v);
  for (const PostOp& q : unit.post_ops) {
    lay_out(q.operand);
    if (q.channel != nullptr) price.packed += (4 * q.channel->size() + 63) / 64 * 64;
  }
  const LayoutTag in = LayoutInside(unit), out = LayoutBehind(unit);
  const bool likes = e_.PreferredLayouts(unit, p_).has_value();
  const bool leaves = likes && e_.PlainOutput(unit, p_);
  const double in_ns = ReorderInNs(unit),
               out_ns = out.plain() || leaves ? 0 : ReorderNs(unit.out[0]);
  // What cannot work in the form that its images have inside brings them into order first.
  const double turn_ns = !likes && !in.plain() && out.plain() && !Follows(unit) ? in_ns : 0;
  const double ns = price.work_ns + std::max(price.border_ns, turn_ns);
  const double saving = turn_ns > 0 ? 0 : price.border_ns;
  if (const ge_rc rc = AddMeetings(unit, nodes, price); rc != GE_OK) return rc;
  if (in.plain() && out.plain()) return Send(nodes, price, ns, saving, true);
  std::vector<LayoutTag> liked = {in};
  if (likes && e_.AnyLayout(unit, p_)) {
    for (const LayoutTag& form : e_.ForeignLayouts()) {
      if (form != in) liked.push_back(form);
    }
  }
  const bool turns = likes && !in.plain();
  for (const LayoutTag& form : liked) {
    const LayoutTag made = form == in || out.plain() ? out : form;
    Choose(unit, form, made, ns);
    if (!out.plain()) Choose(unit, form, {}, ns + out_ns);
    if (turns) Choose(unit, {}, made, ns + in_ns);
  }
  if (turns && !out.plain()) Choose(unit, {}, {}, ns + in_ns + out_ns);
  const ge_rc rc = Send(nodes, price, ns, saving, true);
  if (rc != GE_OK || likes) return rc;
  return Send(nodes, price, price.work_ns + price.border_ns, 0, false);
}

ge_rc Offers::AddMeetings(const Unit& unit, const Ids& nodes, const Price& price) {
  if (!Follows(unit) || !e_.KeepsLayout(unit) || e_.PreferredLayouts(unit, p_)) return GE_OK;
  const bool image =
      std::any_of(unit.in.begin(), unit.in.end(), [&](uint32_t v) { return Image(v); });
  if (!image) return GE_OK;
  for (const LayoutTag& form : e_.ForeignLayouts()) {
    Choose(unit, form, Image(unit.out[0]) ? form : LayoutTag{}, price.work_ns + price.border_ns);
  }
  return choices_.empty() ? GE_OK : Send(nodes, price, price.work_ns + price.border_ns, 0, false);
}

ge_rc Offers::AddConversions() {
  std::vector<std::pair<uint32_t, uint32_t>> pairs;
  for (const auto& [key, id] : ids_) {
    if (id == 0) continue;
    pairs.emplace_back(0, id);
    pairs.emplace_back(id, 0);
    for (const auto& [other, other_id] : ids_) {
      if (other_id != 0 && other_id != id && other.second == key.second) {
        pairs.emplace_back(id, other_id);
      }
    }
  }
  for (const auto& [from, to] : pairs) {
    ge_cost cost = {};
    cost.h = GE_HDR(ge_cost, GE_TAG_COST);
    cost.launch_ns = e_.LaunchNs() + static_cast<uint64_t>(kLoopNs);
    cost.confidence = 600;
    cost.source = GE_PRICE_ANALYTIC;
    ge_offer o = {};
    o.h = GE_HDR(ge_offer, GE_TAG_OFFER);
    o.flags = GE_OFFER_CONVERT;
    o.cost = &cost;
    o.convert_from = from;
    o.convert_to = to;
    o.convert_ns_per_byte = 1 / (kReorderRate * e_.machine().stream[0]);
    if (const ge_rc rc = sink_.offer(sink_.host, &o); rc != GE_OK) return rc;
  }
  return GE_OK;
}

}  // namespace ge_engines::cpu
