#include "ge/place/overlap.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <tuple>

#include "ge/plan/first_fed.h"

namespace ge {
namespace {

// A split is worth so much of the time, and so many ns: prices are not better than the first, and
// a signal, a wait and a colder cache cost about the second.
constexpr double kLeastShare = 0.01, kLeastNs = 500;
// Offers looked at in all simulations of one problem; some milliseconds.
constexpr uint64_t kEffort = 4'000'000;

using Groups = std::vector<PlaceGroup>;
using Offers = std::set<uint32_t>;

// What groups make and read: an index of one list of groups.
class Index {
 public:
  Index(const PlaceProblem& problem, const Groups& groups) : p_(problem), groups_(groups) {
    group_of_.assign(p_.n_node, 0);
    offer_of_.assign(p_.n_node, 0);
    for (uint32_t g = 0; g < groups.size(); ++g) {
      for (const uint32_t o : groups[g].offers) {
        for (const uint32_t n : p_.offers[o].nodes) {
          group_of_[n] = g;
          offer_of_[n] = o;
        }
      }
    }
    reads_.resize(groups.size());
    cost_.resize(groups.size());
    for (uint32_t v = 0; v < p_.values.size(); ++v) Touch(v);
    for (uint32_t g = 0; g < groups.size(); ++g) {
      double setup = 0, launch = 0;
      for (const uint32_t o : groups[g].offers) {
        setup = std::max(setup, p_.offers[o].setup);
        launch = std::max(launch, p_.offers[o].launch);
        cost_[g] += p_.offers[o].marginal;
      }
      cost_[g] += setup + launch;
    }
  }

  uint32_t group_of(uint32_t node) const { return group_of_[node]; }
  uint32_t offer_of(uint32_t node) const { return offer_of_[node]; }
  double cost(uint32_t g) const { return cost_[g]; }
  // Values that it reads from outside, each once with the layout wanted.
  const std::vector<std::pair<uint32_t, uint32_t>>& reads(uint32_t g) const { return reads_[g]; }
  uint32_t LayoutAt(uint32_t offer, uint32_t value) const {
    for (const auto& [v, layout] : p_.offers[offer].layout) {
      if (v == value) return layout;
    }
    return 0;
  }

 private:
  void Touch(uint32_t v) {
    const PlaceValue& value = p_.values[v];
    const bool made = value.producer >= 0;
    const uint32_t maker = made ? static_cast<uint32_t>(value.producer) : 0;
    bool saved = false;
    for (const uint32_t n : value.users) {
      const uint32_t g = group_of_[n];
      if (made && group_of_[maker] == g) {
        saved = saved || offer_of_[maker] != offer_of_[n];
        continue;
      }
      const std::pair read(v, value.order ? 0 : LayoutAt(offer_of_[n], v));
      if (std::find(reads_[g].begin(), reads_[g].end(), read) == reads_[g].end()) {
        reads_[g].push_back(read);
      }
    }
    if (saved && !value.order) cost_[group_of_[maker]] -= p_.offers[offer_of_[maker]].edge_saving;
  }

  const PlaceProblem& p_;
  const Groups& groups_;
  std::vector<uint32_t> group_of_, offer_of_;                      // by node
  std::vector<std::vector<std::pair<uint32_t, uint32_t>>> reads_;  // by group
  std::vector<double> cost_;                                       // by group, ns
};

// Plays host, devices and copies as STREAMS does: the host goes on with groups in their order, or
// with what the first of the devices' groups stands on.
class Clock {
 public:
  Clock(const PlaceProblem& problem, const std::vector<bool>& async, const Groups& groups)
      : p_(problem), async_(async), groups_(groups), index_(problem, groups) {
    before_.resize(groups.size());
    after_.resize(groups.size());
    std::vector<bool> of_device(groups.size());
    for (uint32_t g = 0; g < groups.size(); ++g) {
      std::set<uint32_t> makers;
      for (const auto& [v, layout] : index_.reads(g)) {
        if (p_.values[v].producer >= 0) makers.insert(MakerOf(v));
      }
      before_[g].assign(makers.begin(), makers.end());
      for (const uint32_t b : makers) after_[b].push_back(g);
      of_device[g] = Async(g);
    }
    fed_ = FirstFed(before_, of_device);
  }

  // The less of the two orders.
  double Run() { return std::min(Play(false), Play(true)); }

 private:
  double Play(bool feeds) {
    host_ = 0;
    finish_.assign(groups_.size(), 0);
    free_.assign(p_.n_device, 0);
    lane_.assign(p_.n_device, 0);
    brought_.clear();
    std::vector<uint32_t> open(groups_.size());
    std::set<uint32_t> ready;
    for (uint32_t g = 0; g < groups_.size(); ++g) {
      open[g] = static_cast<uint32_t>(before_[g].size());
      if (open[g] == 0) ready.insert(g);
    }
    while (!ready.empty()) {
      const uint32_t g = Next(ready, feeds);
      ready.erase(g);
      Do(g);
      for (const uint32_t n : after_[g]) {
        if (--open[n] == 0) ready.insert(n);
      }
    }
    return End();
  }

  uint32_t MakerOf(uint32_t v) const {
    return index_.group_of(static_cast<uint32_t>(p_.values[v].producer));
  }
  bool Async(uint32_t g) const { return async_[groups_[g].device]; }

  // What can be queued, else the most urgent that the host can begin now, else what it can begin
  // first.
  uint32_t Next(const std::set<uint32_t>& ready, bool feeds) const {
    std::tuple<double, uint32_t, uint32_t> first;
    bool any = false;
    for (const uint32_t g : ready) {
      if (Async(g)) return g;
      double at = 0;
      for (const uint32_t b : before_[g]) at = std::max(at, finish_[b]);
      const std::tuple begins(std::max(at, host_), feeds ? fed_[g] : 0, g);
      if (!any || begins < first) first = begins;
      any = true;
    }
    return std::get<2>(first);
  }

  void Do(uint32_t g) {
    const uint32_t device = groups_[g].device;
    double at = host_;
    for (const auto& [v, layout] : index_.reads(g)) at = std::max(at, Arrival(v, device, layout));
    if (Async(g)) {
      finish_[g] = free_[device] = std::max(at, free_[device]) + index_.cost(g);
    } else {
      finish_[g] = host_ = std::max(at, host_) + index_.cost(g);
    }
  }

  // When the value is there. The first who asks has it brought.
  double Arrival(uint32_t v, uint32_t device, uint32_t layout) {
    const PlaceValue& value = p_.values[v];
    double made = 0;
    uint32_t from = 0, from_layout = 0;
    if (value.producer >= 0) {
      const uint32_t g = MakerOf(v);
      made = finish_[g];
      from = groups_[g].device;
      if (!value.order) {
        from_layout = index_.LayoutAt(index_.offer_of(static_cast<uint32_t>(value.producer)), v);
      }
    }
    if (value.order) return made;
    const double cost = p_.boundary->CostOf(value, from, from_layout, device, layout);
    if (cost <= 0) return made;
    const auto [at, fresh] = brought_.emplace(std::tuple(v, device, layout), 0);
    if (!fresh) return at->second;
    const uint32_t through = async_[device] ? device : from;
    double& lane = async_[through] ? lane_[through] : host_;
    return at->second = lane = std::max(lane, made) + cost;
  }

  double End() {
    double end = host_;
    for (const double at : finish_) end = std::max(end, at);
    for (uint32_t v = 0; v < p_.values.size(); ++v) {
      if (p_.values[v].is_output) end = std::max(end, Arrival(v, 0, 0));
    }
    return std::max(end, host_);
  }

  const PlaceProblem& p_;
  const std::vector<bool>& async_;
  const Groups& groups_;
  const Index index_;
  std::vector<std::vector<uint32_t>> before_, after_;  // by group
  std::vector<uint32_t> fed_;                          // by group
  double host_ = 0;
  std::vector<double> finish_;       // by group
  std::vector<double> free_, lane_;  // by device: its work's end, its copies'
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, double> brought_;
};

class Splitter {
 public:
  Splitter(const PlaceProblem& problem, const std::vector<bool>& async, Groups groups)
      : p_(problem), async_(async), groups_(std::move(groups)) {
    made_.resize(p_.offers.size());
    makers_.resize(p_.offers.size());
    now_ = Clock(p_, async_, groups_).Run();
  }

  Groups Run() {
    Renew();
    CutForDevices();
    for (uint32_t g = 0; g < groups_.size() && effort_ < kEffort;) {
      if (!SplitOne(g)) ++g;
    }
    return std::move(groups_);
  }

 private:
  using Firsts = std::map<uint32_t, Offers>;  // by group: the offers of its first part

  void Renew() {
    index_ = std::make_unique<Index>(p_, groups_);
    for (auto& values : made_) values.clear();
    for (auto& makers : makers_) makers.clear();
    for (uint32_t v = 0; v < p_.values.size(); ++v) {
      if (p_.values[v].producer < 0) continue;
      const uint32_t maker = MakerOf(v);
      made_[maker].push_back(v);
      for (const uint32_t n : p_.values[v].users) {
        if (index_->offer_of(n) != maker) makers_[index_->offer_of(n)].push_back(maker);
      }
    }
  }
  uint32_t MakerOf(uint32_t v) const {  // the offer
    return index_->offer_of(static_cast<uint32_t>(p_.values[v].producer));
  }
  uint32_t GroupOf(uint32_t v) const {
    return index_->group_of(static_cast<uint32_t>(p_.values[v].producer));
  }

  // One group of a device after the other: cuts all groups in what it stands on and the rest, where
  // that saves time. A device that begins often gains little by each; the cuts stay where all
  // together save enough.
  void CutForDevices() {
    std::vector<uint32_t> nodes;  // one of each group of a device
    for (const PlaceGroup& g : groups_) {
      if (async_[g.device]) nodes.push_back(p_.offers[g.offers[0]].nodes[0]);
    }
    const Groups uncut = groups_;
    const double before = now_;
    for (const uint32_t n : nodes) {
      if (effort_ >= kEffort) break;
      const Firsts firsts = StandsOn(index_->group_of(n));
      if (!firsts.empty()) Take(firsts, kLeastNs);
    }
    if (now_ <= before - Worth(before)) return;
    now_ = before;
    groups_ = uncut;
    Renew();
  }

  // Of each other group of which the group needs a part: that part.
  Firsts StandsOn(uint32_t group) const {
    Firsts out;
    std::vector<uint32_t> left = groups_[group].offers;
    std::vector<bool> seen(p_.offers.size());
    for (const uint32_t o : left) seen[o] = true;
    while (!left.empty()) {
      const uint32_t reader = left.back();
      left.pop_back();
      for (const uint32_t o : makers_[reader]) {
        if (seen[o]) continue;
        seen[o] = true;
        left.push_back(o);
        out[index_->group_of(p_.offers[o].nodes[0])].insert(o);
      }
    }
    out.erase(group);
    std::erase_if(out, [&](const auto& first) {
      return first.second.size() == groups_[first.first].offers.size();
    });
    return out;
  }

  // Takes the first good split of the group; its first part then stands in its place.
  bool SplitOne(uint32_t g) {
    if (groups_[g].offers.size() < 2) return false;
    const std::vector<uint32_t> offers = groups_[g].offers;
    for (const uint32_t o : offers) {
      for (const Offers& first : {Until(g, o), Without(g, {o})}) {
        if (first.empty() || first.size() == offers.size()) continue;
        const double worth = Worth(now_);
        if (Take({{g, first}}, worth) || Take(WithReaders(g, first), worth)) return true;
      }
    }
    return false;
  }

  static double Worth(double ns) { return std::max(kLeastNs, kLeastShare * ns); }

  // Where it saves so much.
  bool Take(const Firsts& firsts, double least_ns) {
    Groups groups = Apply(firsts);
    effort_ += p_.values.size() + p_.offers.size();
    const double ns = Clock(p_, async_, groups).Run();
    if (ns > now_ - least_ns || effort_ > kEffort) return false;
    now_ = ns;
    groups_ = std::move(groups);
    Renew();
    return true;
  }

  // Two groups of which one goes on while the other works.
  bool Apart(uint32_t g, uint32_t other) const {
    const uint32_t a = groups_[g].device, b = groups_[other].device;
    return a != b && (async_[a] || async_[b]);
  }

  // The offer and what it stands on in its group, where another device reads it or where it is an
  // output of an asynchronous one; else nothing.
  Offers Until(uint32_t g, uint32_t offer) const {
    bool leaves = false;
    for (const uint32_t v : made_[offer]) {
      const PlaceValue& value = p_.values[v];
      leaves = leaves || (value.is_output && async_[groups_[g].device]);
      for (const uint32_t n : value.users) {
        leaves = leaves || (!value.order && Apart(g, index_->group_of(n)));
      }
    }
    return leaves ? Closure(g, {offer}, true) : Offers();
  }

  // What does not stand on these offers, where one of them reads what another device made.
  Offers Without(uint32_t g, const Offers& offers) const {
    const auto enters = [&](const std::pair<uint32_t, uint32_t>& read) {
      const PlaceValue& value = p_.values[read.first];
      return value.producer >= 0 && !value.order && Apart(g, GroupOf(read.first)) &&
             std::any_of(value.users.begin(), value.users.end(),
                         [&](uint32_t n) { return offers.count(index_->offer_of(n)) != 0; });
    };
    const auto& reads = index_->reads(g);
    if (std::none_of(reads.begin(), reads.end(), enters)) return {};
    const Offers late = Closure(g, offers, false);
    Offers out;
    for (const uint32_t o : groups_[g].offers) {
      if (late.count(o) == 0) out.insert(o);
    }
    return out;
  }

  // By offer of the group: those that read it, or that it reads.
  std::map<uint32_t, std::vector<uint32_t>> Edges(uint32_t g, bool up) const {
    std::map<uint32_t, std::vector<uint32_t>> edges;
    for (const uint32_t from : groups_[g].offers) {
      for (const uint32_t v : made_[from]) {
        for (const uint32_t n : p_.values[v].users) {
          const uint32_t to = index_->offer_of(n);
          if (index_->group_of(n) == g && to != from)
            edges[up ? to : from].push_back(up ? from : to);
        }
      }
    }
    return edges;
  }

  // Offers of the group that these stand on (`up`), or that stand on these; with these.
  Offers Closure(uint32_t g, const Offers& seeds, bool up) const {
    auto edges = Edges(g, up);
    Offers out = seeds;
    std::vector<uint32_t> left(seeds.begin(), seeds.end());
    while (!left.empty()) {
      const uint32_t o = left.back();
      left.pop_back();
      for (const uint32_t n : edges[o]) {
        if (out.insert(n).second) left.push_back(n);
      }
    }
    return out;
  }

  // The split of g, and splits of those that read its first part: they begin without what the rest
  // of g makes.
  Firsts WithReaders(uint32_t g, const Offers& first) const {
    Firsts late;  // by reading group: its offers that read the rest
    std::set<uint32_t> readers;
    for (const uint32_t o : groups_[g].offers) {
      for (const uint32_t v : made_[o]) {
        for (const uint32_t n : p_.values[v].users) {
          const uint32_t other = index_->group_of(n);
          if (other == g || p_.values[v].order || !Apart(g, other)) continue;
          if (first.count(o) != 0) readers.insert(other);
          if (first.count(o) == 0) late[other].insert(index_->offer_of(n));
        }
      }
    }
    Firsts out{{g, first}};
    for (const uint32_t r : readers) {
      if (late.count(r) == 0) continue;
      const Offers begin = Without(r, late[r]);
      if (!begin.empty()) out[r] = begin;
    }
    return out;
  }

  // The groups with these in two, each part in its connected pieces.
  Groups Apply(const Firsts& firsts) const {
    Groups out;
    for (uint32_t g = 0; g < groups_.size(); ++g) {
      const auto it = firsts.find(g);
      if (it == firsts.end()) {
        out.push_back(groups_[g]);
        continue;
      }
      for (const bool in_first : {true, false}) {
        std::vector<uint32_t> part;
        for (const uint32_t o : groups_[g].offers) {
          if ((it->second.count(o) != 0) == in_first) part.push_back(o);
        }
        for (auto& piece : Connected(g, part)) {
          out.push_back({groups_[g].device, std::move(piece)});
        }
      }
    }
    return out;
  }

  std::vector<std::vector<uint32_t>> Connected(uint32_t g,
                                               const std::vector<uint32_t>& part) const {
    const auto down = Edges(g, false);
    std::map<uint32_t, uint32_t> root;
    for (const uint32_t o : part) root[o] = o;
    const auto find = [&](uint32_t o) {
      while (root[o] != o) o = root[o] = root[root[o]];
      return o;
    };
    for (const auto& [from, to] : down) {
      for (const uint32_t o : to) {
        if (root.count(from) != 0 && root.count(o) != 0) root[find(o)] = find(from);
      }
    }
    std::vector<std::vector<uint32_t>> out;
    std::map<uint32_t, size_t> piece_of;
    for (const uint32_t o : part) {  // keeps their order, which is a runnable one
      const auto [at, fresh] = piece_of.emplace(find(o), out.size());
      if (fresh) out.emplace_back();
      out[at->second].push_back(o);
    }
    return out;
  }

  const PlaceProblem& p_;
  const std::vector<bool>& async_;
  Groups groups_;
  std::unique_ptr<Index> index_;               // of groups_
  std::vector<std::vector<uint32_t>> made_;    // by offer: the values that it makes
  std::vector<std::vector<uint32_t>> makers_;  // by offer: those that it reads from
  double now_ = 0;                             // time of groups_
  uint64_t effort_ = 0;
};

}  // namespace

double TimeOfGroups(const PlaceProblem& problem, const std::vector<bool>& async,
                    const std::vector<PlaceGroup>& groups) {
  return Clock(problem, async, groups).Run();
}

Status SplitForOverlap(const PlaceProblem& problem, const std::vector<bool>& async,
                       PlaceSolution* solution) {
  const bool any = std::any_of(solution->groups.begin(), solution->groups.end(),
                               [&](const PlaceGroup& g) { return async[g.device]; });
  if (!any || solution->groups.size() < 2) return {};
  Groups groups = Splitter(problem, async, solution->groups).Run();
  if (groups.size() == solution->groups.size()) return {};
  GE_ASSIGN_OR_RETURN(const double cost, CoverCost(problem, groups));
  solution->cost = cost;
  solution->groups = std::move(groups);
  return {};
}

}  // namespace ge
