#include "ge/partition/partition.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "ge/ir/walk.h"
#include "ge/plan/routes.h"

namespace ge {
namespace {

class Partitioner {
 public:
  Partitioner(const Graph& graph, const Function& f, Plan* plan,
              std::span<const StateValues> states)
      : graph_(graph),
        f_(f),
        plan_(plan),
        states_(states),
        out_(plan->functions[0]),
        routes_(*plan) {}

  Status Run() {
    out_.values.assign(1, {});
    out_.code.clear();
    const size_t n = f_.values.size();
    maker_.assign(n, -1);
    made_by_.assign(n, 0);
    result_at_.assign(n, -1);
    home_.assign(n, {});
    wanted_.assign(n, {});
    constant_.assign(n, 0);
    seen_.assign(n, kNone);
    IndexNodes();
    FindHomes();
    for (size_t i = f_.results.size(); i-- > 0;) {
      result_at_[f_.results[i]] = static_cast<int32_t>(i);
    }
    GE_RETURN_IF_ERROR(FindBorders());
    FindOrder();
    for (size_t i = 0; i < f_.params.size(); ++i) {
      const Spot at = SpotOf(f_.params[i]);
      PlanValue v = MakeValue(f_.params[i], at);
      v.kind = PlanValueKind::kInput;
      v.index = static_cast<uint32_t>(i);
      v.state = StateAt(f_.params[i]);
      out_.inputs.push_back(Add(v));
      home_[f_.params[i]] = {at, out_.inputs.back()};
    }
    for (SegmentId s = 0; s < placed_; ++s) GE_RETURN_IF_ERROR(EmitSegment(s));
    GE_RETURN_IF_ERROR(EmitOutputs());
    return CheckCost();
  }

 private:
  static constexpr SegmentId kNone = UINT32_MAX;
  struct Home {
    Spot spot;
    PlanValueId value = 0;
  };

  void IndexNodes() {
    placed_ = static_cast<SegmentId>(out_.segments.size());
    const NodePositions positions(f_);
    segment_of_.assign(f_.nodes.size(), 0);
    offer_of_.assign(f_.nodes.size(), 0);
    nodes_of_.resize(placed_);
    for (SegmentId s = 0; s < placed_; ++s) {
      const auto& offers = out_.segments[s].offers;
      for (uint32_t k = 0; k < offers.size(); ++k) {
        for (NodeId n : offers[k].nodes) {
          const uint32_t at = positions.of(n);
          segment_of_[at] = s;
          offer_of_[at] = k;
          nodes_of_[s].push_back(at);
        }
      }
      std::sort(nodes_of_[s].begin(), nodes_of_[s].end());
    }
    for (uint32_t i = 0; i < f_.nodes.size(); ++i) {
      for (ValueId v : f_.nodes[i].outputs) {
        if (v) {
          maker_[v] = static_cast<int32_t>(segment_of_[i]);
          made_by_[v] = offer_of_[i];
        }
      }
    }
  }

  // Where parameters come from and results go: the host, but for states that are at home elsewhere.
  void FindHomes() {
    if (states_.empty() || plan_->domains.size() == 1) return;
    std::vector<DeviceId> device_of;
    for (SegmentId s : segment_of_) device_of.push_back(out_.segments[s].device);
    const std::vector<DeviceId> homes = HomesOfStates(f_, states_, device_of, *plan_);
    for (size_t s = 0; s < homes.size(); ++s) {
      if (homes[s] == 0) continue;
      const StateHome home{plan_->devices[homes[s]].domain, states_[s].state};
      if (states_[s].before != 0) state_homes_[states_[s].before] = home;
      if (states_[s].after != 0) state_homes_[states_[s].after] = home;
    }
  }
  Spot SpotOf(ValueId v) const {
    const auto at = state_homes_.find(v);
    return {at == state_homes_.end() ? 0 : at->second.domain, 0};
  }
  // The state that lies there, in a device's memory; else 0.
  StateId StateAt(ValueId v) const {
    const auto at = state_homes_.find(v);
    return at == state_homes_.end() ? 0 : at->second.state;
  }

  // How the offer that has the node wants or gives a value: offers of one segment may differ.
  LayoutId LayoutAt(uint32_t node, ValueId v) const {
    for (auto [value, layout] : out_.segments[segment_of_[node]].offers[offer_of_[node]].layouts) {
      if (value == v) return layout;
    }
    return 0;
  }

  // Which values enter and leave each segment, and where each value is wanted.
  Status FindBorders() {
    reads_.resize(placed_);
    leaves_.resize(placed_);
    constants_.resize(placed_);
    std::vector<bool> leaving(f_.values.size());
    for (SegmentId s = 0; s < placed_; ++s) {
      std::set<std::pair<ValueId, LayoutId>> laid_out;  // in layouts that are not plain
      for (uint32_t n : nodes_of_[s]) {
        for (ValueId v : f_.nodes[n].inputs) {
          if (v == 0 || maker_[v] == static_cast<int32_t>(s)) continue;
          const LayoutId layout = f_.values[v].constant ? 0 : LayoutAt(n, v);
          const bool seen = layout ? !laid_out.insert({v, layout}).second : seen_[v] == s;
          if (seen) continue;
          if (!layout) seen_[v] = s;
          if (f_.values[v].constant) {
            constants_[s].push_back(v);
          } else {
            reads_[s].emplace_back(v, layout);
            if (maker_[v] >= 0) leaving[v] = true;
            Want(v, {plan_->devices[out_.segments[s].device].domain, layout});
          }
        }
      }
    }
    for (ValueId r : f_.results) {
      if (maker_[r] < 0) continue;
      leaving[r] = true;
      Want(r, SpotOf(r));
    }
    for (SegmentId s = 0; s < placed_; ++s) {
      for (uint32_t n : nodes_of_[s]) {
        for (ValueId v : f_.nodes[n].outputs) {
          if (v && leaving[v]) leaves_[s].emplace_back(v, LayoutAt(n, v));
        }
      }
    }
    return {};
  }

  void Want(ValueId v, Spot spot) {
    auto& spots = wanted_[v];
    const auto at = std::lower_bound(spots.begin(), spots.end(), spot);
    if (at == spots.end() || !(*at == spot)) spots.insert(at, spot);
  }

  // What no value says of the order of segments.
  void FindOrder() {
    for (const auto& [first, then] : OrderEdges(f_)) {
      const SegmentId s = segment_of_[then], before = segment_of_[first];
      auto& after = out_.segments[s].after;
      if (s != before && std::find(after.begin(), after.end(), before) == after.end()) {
        after.push_back(before);
      }
    }
  }

  PlanValue MakeValue(ValueId v, Spot spot) const {
    const Value& value = f_.values[v];
    PlanValue out;
    out.name = value.name.empty() ? fmt::format("v{}", v) : value.name;
    if (spot.domain != 0) out.name += "@" + plan_->domains[spot.domain].name;
    if (spot.layout != 0) out.name += fmt::format(":{}", spot.layout);
    out.graph_value = v;
    out.type = value.type;
    out.bytes = BytesInLayout(value.type, plan_->layouts[spot.layout]).value_or(-1);
    out.domain = spot.domain;
    out.layout = spot.layout;
    out.align = std::max<int64_t>(
        64, plan_->domains[spot.domain].align > 4096 ? 64 : plan_->domains[spot.domain].align);
    return out;
  }

  PlanValueId Add(PlanValue v) {
    out_.values.push_back(std::move(v));
    return static_cast<PlanValueId>(out_.values.size() - 1);
  }

  // First position of a result, or -1.
  int32_t ResultIndex(ValueId v) const { return result_at_[v]; }

  // A new plan value for graph value `v` at `spot`; it is the caller's output buffer when it can.
  PlanValueId AddAt(ValueId v, Spot spot, bool final_spot) {
    PlanValue value = MakeValue(v, spot);
    int32_t index = ResultIndex(v);
    if (index >= 0 && final_spot && spot == SpotOf(v) && maker_[v] >= 0) {
      value.state = StateAt(v);
      value.kind = PlanValueKind::kOutput;
      value.index = static_cast<uint32_t>(index);
    }
    return Add(std::move(value));
  }

  Result<PlanValueId> BringTo(ValueId v, Spot to) {
    const Home& home = home_[v];
    if (home.spot == to) return home.value;
    if (auto it = brought_.find({v, to}); it != brought_.end()) return it->second;
    double bytes = static_cast<double>(ByteCount(f_.values[v].type).value_or(0));
    const bool callers = maker_[v] < 0 || result_at_[v] >= 0;
    Route route = routes_.Find(bytes, home.spot, to, callers);
    if (!route.possible) {
      return Status(
          Code::kInternal,
          fmt::format("value '{}' cannot get from domain {} layout {} to domain {} "
                      "layout {}, but PLACE relied on it",
                      f_.values[v].name, home.spot.domain, home.spot.layout, to.domain, to.layout));
    }
    PlanValueId at = home.value;
    for (size_t i = 0; i < route.hops.size(); ++i) {
      const Hop& hop = route.hops[i];
      PlanValueId next = AddAt(v, hop.to, i + 1 == route.hops.size());
      if (hop.to.domain == 0 && i + 1 < route.hops.size()) out_.values[next].name += "#staged";
      Instruction ins;
      ins.predicted_ns = hop.ns;
      if (hop.conversion < 0) {
        ins.op = PlanOp::kCopy;
        ins.src = at;
        ins.dst = next;
        ins.engine = hop.engine;
      } else {
        PlanSegment seg;
        seg.device = plan_->conversions[hop.conversion].device;
        seg.conversion = hop.conversion;
        seg.inputs = {at};
        seg.outputs = {next};
        seg.predicted_ns = hop.ns;
        out_.segments.push_back(std::move(seg));
        ins.op = PlanOp::kLaunch;
        ins.segment = static_cast<SegmentId>(out_.segments.size() - 1);
      }
      out_.code.push_back(ins);
      at = next;
    }
    brought_[{v, to}] = at;
    return at;
  }

  double SegmentCost(SegmentId s) {
    double setup = 0, launch = 0, marginal = 0;
    const PlanSegment& seg = out_.segments[s];
    for (const PlanOffer& o : seg.offers) {
      setup = std::max(setup, o.setup_ns);
      launch = std::max(launch, o.launch_ns);
      marginal += o.marginal_ns;
    }
    return setup + launch + marginal - Savings(s);
  }

  // Savings of values made by one offer and read by another of the segment.
  double Savings(SegmentId s) {
    const PlanSegment& seg = out_.segments[s];
    if (seg.offers.size() < 2) return 0;
    double total = 0;
    for (uint32_t n : nodes_of_[s]) {
      for (ValueId v : f_.nodes[n].inputs) {
        // A value of this segment entered none before: seen_ tells that it is counted.
        if (v == 0 || maker_[v] != static_cast<int32_t>(s) || made_by_[v] == offer_of_[n]) continue;
        if (seen_[v] != s) total += seg.offers[made_by_[v]].edge_saving_ns;
        seen_[v] = s;
      }
    }
    return total;
  }

  Status EmitSegment(SegmentId s) {
    Spot here{plan_->devices[out_.segments[s].device].domain, 0};
    std::vector<PlanValueId> inputs, outputs, constants;
    for (auto [v, layout] : reads_[s]) {
      GE_ASSIGN_OR_RETURN(PlanValueId at, BringTo(v, {here.domain, layout}));
      inputs.push_back(at);
    }
    for (auto [v, layout] : leaves_[s]) {
      Spot spot{here.domain, layout};
      outputs.push_back(AddAt(v, spot, true));
      home_[v] = {spot, outputs.back()};
    }
    for (ValueId v : constants_[s]) constants.push_back(ConstantValue(v));
    PlanSegment& seg = out_.segments[s];
    seg.inputs = std::move(inputs);
    seg.outputs = std::move(outputs);
    seg.constants = std::move(constants);
    seg.predicted_ns = SegmentCost(s);
    Instruction ins;
    ins.op = PlanOp::kLaunch;
    ins.segment = s;
    ins.predicted_ns = seg.predicted_ns;
    out_.code.push_back(ins);
    // Start the way to every reader at once: an asynchronous copy then overlaps what follows.
    for (auto [v, layout] : leaves_[s]) {
      for (Spot to : wanted_[v]) {
        GE_ASSIGN_OR_RETURN(PlanValueId at, BringTo(v, to));
        (void)at;
      }
    }
    return {};
  }

  PlanValueId ConstantValue(ValueId v) {
    if (constant_[v] == 0) {
      PlanValue value = MakeValue(v, {0, 0});
      value.kind = PlanValueKind::kConstant;
      value.constant = f_.values[v].constant;
      value.align = 1;
      constant_[v] = Add(std::move(value));
    }
    return constant_[v];
  }

  Status EmitOutputs() {
    for (size_t i = 0; i < f_.results.size(); ++i) {
      ValueId r = f_.results[i];
      PlanValueId source = 0;
      if (f_.values[r].constant) {
        source = ConstantValue(r);
      } else {
        GE_ASSIGN_OR_RETURN(source, BringTo(r, SpotOf(r)));
      }
      const PlanValue& at = out_.values[source];
      if (at.kind == PlanValueKind::kOutput && at.index == i) {
        out_.outputs.push_back(source);
        continue;
      }
      // A parameter, a constant or a value that is a result twice: copied by the host.
      PlanValue copy = MakeValue(r, {0, 0});
      copy.kind = PlanValueKind::kOutput;
      copy.index = static_cast<uint32_t>(i);
      copy.name += fmt::format("#out{}", i);
      PlanValueId dst = Add(std::move(copy));
      Instruction ins;
      ins.op = PlanOp::kCopy;
      ins.src = source;
      ins.dst = dst;
      ins.engine = 0;
      out_.code.push_back(ins);
      out_.outputs.push_back(dst);
    }
    for (const PlanValue& v : out_.values) {
      if (v.bytes < 0 && v.type.is_tensor() && v.type.dtype == DType::kString) {
        return Status(Code::kUnsupported,
                      fmt::format("value '{}' is {}: no plan holds texts, the host has them",
                                  v.name, TypeToString(v.type, graph_.dims)));
      }
      if (v.bytes < 0) {
        return Status(Code::kLimitExceeded,
                      fmt::format("value '{}' of type {} has no size that fits in 63 bits; give "
                                  "smaller inputs",
                                  v.name, TypeToString(v.type, graph_.dims)));
      }
    }
    return {};
  }

  Status CheckCost() {
    double realised = 0;
    for (const Instruction& ins : out_.code) realised += ins.predicted_ns;
    if (std::isnan(plan_->predicted_ns)) plan_->predicted_ns = realised;
    if (std::abs(realised - plan_->predicted_ns) <=
        1e-6 * std::max(1.0, std::abs(plan_->predicted_ns))) {
      return {};
    }
    return Status(Code::kInternal,
                  fmt::format("the partition costs {} ns, but PLACE predicted {} ns; please report "
                              "this model",
                              realised, plan_->predicted_ns));
  }

  const Graph& graph_;
  const Function& f_;
  Plan* plan_;
  std::span<const StateValues> states_;
  struct StateHome {
    DomainId domain = 0;
    StateId state = 0;
  };
  std::map<ValueId, StateHome> state_homes_;  // parameters and results that are not at the host
  PlanFunction& out_;
  Routes routes_;
  SegmentId placed_ = 0;
  std::vector<SegmentId> segment_of_;            // by node position
  std::vector<std::vector<uint32_t>> nodes_of_;  // by segment: node positions, ascending
  std::vector<uint32_t> offer_of_;               // by node position: which of its segment's offers
  std::vector<int32_t> maker_;                   // by value: segment, or -1
  std::vector<uint32_t> made_by_;                // by value: which of the segment's offers
  std::vector<SegmentId> seen_;                  // by value: the segment that met it last
  std::vector<std::vector<std::pair<ValueId, LayoutId>>> reads_, leaves_;  // by segment
  std::vector<std::vector<ValueId>> constants_;
  std::vector<int32_t> result_at_;         // by value: its first position among results, or -1
  std::vector<std::vector<Spot>> wanted_;  // by value, ascending
  std::vector<Home> home_;                 // by value
  std::map<std::pair<ValueId, Spot>, PlanValueId> brought_;
  std::vector<PlanValueId> constant_;  // by value, 0 = none yet
};

}  // namespace

Status Partition(const Graph& graph, const Function& function, Plan* plan,
                 std::span<const StateValues> states) {
  return Partitioner(graph, function, plan, states).Run();
}

}  // namespace ge
