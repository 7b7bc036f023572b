#include "tools/ge/observe/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "ge/host/machine.h"
#include "ge/ops/op.h"
#include "ge/ops/work.h"
#include "tools/ge/observe/plan_names.h"
#include "tools/ge/tables.h"

namespace ge::tool {
namespace {

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// The effort of nodes as one kernel: what it calculates, and the bytes that cross its border.
Work WorkOfUnit(const Compiled& c, const std::vector<uint32_t>& nodes) {
  Work sum;
  if (c.fn >= c.graph.functions.size()) return sum;  // the plan did not keep its graph
  const Function& fn = c.graph.fn(c.fn);
  std::set<ValueId> inputs, made;
  for (const uint32_t n : nodes) {
    if (n >= fn.nodes.size()) return {};
    const Node& node = fn.nodes[n];
    std::vector<Type> in, out;
    for (const ValueId v : node.inputs) in.push_back(fn.value(v).type);
    for (const ValueId v : node.outputs) out.push_back(fn.value(v).type);
    if (const OpDef* op = FindOp(c.graph, node)) sum.flops += WorkOf(*op, node, in, out).flops;
    inputs.insert(node.inputs.begin(), node.inputs.end());
    made.insert(node.outputs.begin(), node.outputs.end());
  }
  const auto add = [&](ValueId v) {
    if (v != 0) sum.bytes += ElementsOf(fn.value(v).type) * DTypeBits(fn.value(v).type.dtype) / 8;
  };
  for (const ValueId v : inputs) {
    if (made.count(v) == 0) add(v);
  }
  std::set<ValueId> kept(fn.results.begin(), fn.results.end());
  for (uint32_t n = 0; n < fn.nodes.size(); ++n) {
    if (std::find(nodes.begin(), nodes.end(), n) != nodes.end()) continue;
    kept.insert(fn.nodes[n].inputs.begin(), fn.nodes[n].inputs.end());
  }
  for (const ValueId v : made) {
    if (kept.count(v) != 0) add(v);
  }
  return sum;
}

// What a unit adds to the prediction of its segment: the share of its offers.
double PredictedOf(const PlanNames& names, const PlanSegment& segment,
                   const std::vector<uint32_t>& nodes) {
  if (segment.offers.empty()) return segment.predicted_ns;
  double all = 0, own = 0;
  std::set<NodeId> of_unit;
  for (const uint32_t n : nodes) of_unit.insert(names.Node(n).node);
  for (const PlanOffer& o : segment.offers) {
    const double ns = std::max(o.marginal_ns, 1e-3);
    const auto inside = std::count_if(o.nodes.begin(), o.nodes.end(),
                                      [&](NodeId n) { return of_unit.count(n) != 0; });
    all += ns;
    own += ns * static_cast<double>(inside) / static_cast<double>(o.nodes.size());
  }
  return segment.predicted_ns * own / all;
}

struct Unit {
  ProfileRow row;
  double flops = 0, bytes = 0, predicted_ns = 0;  // of one call
  std::vector<double> ns, calls;                  // by run
};

class Profiler {
 public:
  explicit Profiler(size_t runs) : runs_(runs) {}

  void Add(const ObservedRun& run, size_t number) {
    const double begin = static_cast<double>(run.begin_ns);
    double host = static_cast<double>(run.end_ns) - begin;
    number_ = number;
    launch_.push_back(0);
    copy_.push_back(0);
    wait_.push_back(0);
    run_.push_back(host);
    for (const PlanTimes& p : run.plans) {
      AddPlan(p);
      host -=
          static_cast<double>((p.moments.empty() ? p.first_ns : p.moments.back().ns) - p.first_ns);
    }
    host_.push_back(host);
  }

  Profile Take() {
    Profile out;
    out.runs = runs_;
    out.run_ns = Median(run_);
    out.launch_ns = Median(launch_);
    out.copy_ns = Median(copy_);
    out.wait_ns = Median(wait_);
    out.host_ns = Median(host_);
    out.plans = plans_.size();
    for (auto& [key, u] : units_) {
      u.row.ns = Median(u.ns);
      u.row.calls = Median(u.calls);
      u.row.flops = u.flops * u.row.calls;
      u.row.bytes = u.bytes * u.row.calls;
      u.row.predicted_ns = u.predicted_ns * u.row.calls;
      out.nodes.push_back(std::move(u.row));
    }
    const auto longer = [](const auto& x, const auto& y) { return x.ns > y.ns; };
    std::stable_sort(out.nodes.begin(), out.nodes.end(), longer);
    out.operators = ByOperator(out.nodes);
    std::stable_sort(out.operators.begin(), out.operators.end(), longer);
    return out;
  }

 private:
  struct Key {
    const Compiled* plan;
    SegmentId segment;
    std::vector<uint32_t> nodes;
    auto operator<=>(const Key&) const = default;
  };

  static std::vector<ProfileRow> ByOperator(const std::vector<ProfileRow>& nodes) {
    std::map<std::string, ProfileRow> rows;
    for (const ProfileRow& n : nodes) {
      auto [it, first] = rows.try_emplace(n.op);
      ProfileRow& row = it->second;
      if (first) {
        row.op = row.label = n.op;
        row.units = 0;
      }
      row.units += 1;
      row.calls += n.calls;
      row.ns += n.ns;
      row.predicted_ns += n.predicted_ns;
      row.flops += n.flops;
      row.bytes += n.bytes;
    }
    std::vector<ProfileRow> out;
    for (auto& [op, row] : rows) out.push_back(std::move(row));
    return out;
  }

  void AddPlan(const PlanTimes& times) {
    const Compiled& c = *times.plan;
    std::unique_ptr<PlanNames>& names = plans_[&c];
    if (!names) names = std::make_unique<PlanNames>(c);
    const PlanFunction& fn = c.plan.functions[0];
    uint64_t at = times.first_ns;
    for (const RunMoment& m : times.moments) {
      const Instruction& i = fn.code[m.instruction];
      const double ns = static_cast<double>(m.ns - at);
      at = m.ns;
      switch (i.op) {
        case PlanOp::kLaunch:
          AddLaunch(c, *names, i.segment, m.step, ns);
          break;
        case PlanOp::kCopy:
          copy_.back() += ns;
          break;
        default:
          wait_.back() += ns;
      }
    }
  }

  // A step of a launch, or what is left of it behind its steps.
  void AddLaunch(const Compiled& c, const PlanNames& names, SegmentId segment, uint32_t step,
                 double ns) {
    const PlanSegment& s = c.plan.functions[0].segments[segment];
    if (step != kWholeInstruction) {
      inside_ = true;
      const std::vector<uint32_t> nodes = names.NodesOf(segment, step);
      if (nodes.empty()) {
        launch_.back() += ns;
      } else {
        AddUnit(c, names, segment, nodes, false, ns);
      }
    } else if (inside_) {
      inside_ = false;
      launch_.back() += ns;
    } else if (s.conversion >= 0) {
      copy_.back() += ns;
    } else {
      AddUnit(c, names, segment, names.NodesOf(segment), true, ns);
    }
  }

  void AddUnit(const Compiled& c, const PlanNames& names, SegmentId segment,
               const std::vector<uint32_t>& nodes, bool whole, double ns) {
    auto [it, first] = units_.try_emplace(Key{&c, segment, nodes});
    Unit& unit = it->second;
    if (first) Describe(c, names, segment, nodes, whole, &unit);
    unit.ns.resize(number_ + 1);
    unit.calls.resize(number_ + 1);
    unit.ns[number_] += ns;
    unit.calls[number_] += 1;
  }

  static void Describe(const Compiled& c, const PlanNames& names, SegmentId segment,
                       const std::vector<uint32_t>& nodes, bool whole, Unit* unit) {
    const PlanSegment& s = c.plan.functions[0].segments[segment];
    ProfileRow& row = unit->row;
    std::string ops;
    for (const uint32_t n : nodes) {
      row.nodes.push_back(names.Node(n).label);
      ops += (ops.empty() ? "" : "+") + names.Node(n).op;
    }
    if (!nodes.empty()) row.label = ShortLabel(names.Node(nodes[0]));
    if (nodes.size() > 1) row.label += fmt::format(" + {} more", nodes.size() - 1);
    row.op = ShortPattern(ops);
    row.device = c.plan.devices[s.device].name;
    if (whole && nodes.size() > 1) {
      row.segment_nodes = static_cast<uint32_t>(nodes.size());
      row.op = fmt::format("segment of {}", nodes.size());
    }
    const Work work = WorkOfUnit(c, nodes);
    unit->flops = work.flops;
    unit->bytes = work.bytes;
    unit->predicted_ns = PredictedOf(names, s, nodes);
  }

  const size_t runs_;
  size_t number_ = 0;    // of the run that is added
  bool inside_ = false;  // of a launch that has shown a step
  std::map<const Compiled*, std::unique_ptr<PlanNames>> plans_;
  std::map<Key, Unit> units_;
  std::vector<double> run_, launch_, copy_, wait_, host_;  // by run
};

// What the machine can do by its record: Gflop/s, and GB/s of copies in memory.
struct Rates {
  double gflops = 0, gbytes = 0;
};

Rates MachineRates() {
  const MachineRecord& m = HostMachine();
  const bool many = m.threads > 1;
  return {m.flops_per_ns[m.isa] * (many ? m.thread_gain[0] : 1),
          m.copy_bytes_per_ns[m.isa][2] * (many ? m.thread_gain[1] : 1)};
}

double Share(double part, double whole) { return whole > 0 ? part / whole : 0; }

nlohmann::json RowJson(const ProfileRow& r, double run_ns) {
  nlohmann::json j = {{"op", r.op},
                      {"us", r.ns / 1e3},
                      {"share", Share(r.ns, run_ns)},
                      {"calls", r.calls},
                      {"gflops", Share(r.flops, r.ns)},
                      {"gbytes_per_s", Share(r.bytes, r.ns)},
                      {"predicted_us", r.predicted_ns / 1e3}};
  if (r.nodes.empty()) {
    j["units"] = r.units;
    return j;
  }
  j["nodes"] = r.nodes;
  j["device"] = r.device;
  j["whole_segment"] = r.segment_nodes > 0;
  return j;
}

std::string Percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

Row RowOf(const ProfileRow& r, const Rates& rates, double run_ns) {
  const double gflops = Share(r.flops, r.ns), gbytes = Share(r.bytes, r.ns);
  return {{r.label, r.nodes.empty() ? std::to_string(r.units) : r.op, r.device,
           fmt::format("{:.0f}", r.calls), Ns(r.ns), Percent(Share(r.ns, run_ns)),
           Ns(r.predicted_ns), gflops > 0 ? fmt::format("{:.1f}", gflops) : "-",
           Percent(Share(gflops, rates.gflops)), gbytes > 0 ? fmt::format("{:.1f}", gbytes) : "-",
           Percent(Share(gbytes, rates.gbytes))}};
}

void PrintRows(const char* first, const char* second, const std::vector<ProfileRow>& list,
               const Rates& rates, double run_ns) {
  std::vector<Row> rows;
  for (const ProfileRow& r : list) rows.push_back(RowOf(r, rates, run_ns));
  const bool devices = !list.empty() && !list[0].device.empty();
  std::vector<std::string> head = {first,       second, "device",  "calls", "time",     "share",
                                   "predicted", "GF/s", "of peak", "GB/s",  "of memory"};
  std::vector<bool> right = {false, !devices, false, true, true, true,
                             true,  true,     true,  true, true};
  if (!devices) {
    head.erase(head.begin() + 2);
    right.erase(right.begin() + 2);
    for (Row& r : rows) r.cells.erase(r.cells.begin() + 2);
  }
  PrintTable(head, rows, right);
}

}  // namespace

Profile ProfileOf(const std::vector<ObservedRun>& runs) {
  // The first run pays for fresh pages and lazy preparations.
  const size_t from = runs.size() > 1 ? 1 : 0;
  Profiler profiler(runs.size() - from);
  for (size_t i = from; i < runs.size(); ++i) profiler.Add(runs[i], i - from);
  return profiler.Take();
}

nlohmann::json ProfileJson(const Profile& p) {
  const Rates rates = MachineRates();
  nlohmann::json j = {{"runs", p.runs},
                      {"run_us", p.run_ns / 1e3},
                      {"plans", p.plans},
                      {"machine", {{"gflops", rates.gflops}, {"gbytes_per_s", rates.gbytes}}},
                      {"outside",
                       {{"launch_us", p.launch_ns / 1e3},
                        {"copy_us", p.copy_ns / 1e3},
                        {"wait_us", p.wait_ns / 1e3},
                        {"host_us", p.host_ns / 1e3}}}};
  for (const char* list : {"nodes", "operators"}) j[list] = nlohmann::json::array();
  for (const ProfileRow& r : p.nodes) j["nodes"].push_back(RowJson(r, p.run_ns));
  for (const ProfileRow& r : p.operators) j["operators"].push_back(RowJson(r, p.run_ns));
  return j;
}

void PrintProfile(const Profile& p) {
  const Rates rates = MachineRates();
  PrintRows("node", "op", p.nodes, rates, p.run_ns);
  fmt::print("\n");
  PrintRows("operator", "rows", p.operators, rates, p.run_ns);
  double nodes = 0;
  for (const ProfileRow& r : p.nodes) nodes += r.ns;
  fmt::print(
      "\none run {}, the median of {}: nodes {} ({}), around them in launches {}, copies and "
      "layouts {}, waits {}, host {}\n",
      Ns(p.run_ns), p.runs, Ns(nodes), Percent(Share(nodes, p.run_ns)), Ns(p.launch_ns),
      Ns(p.copy_ns), Ns(p.wait_ns), Ns(p.host_ns));
  fmt::print("the machine: {:.0f} GF/s, {:.1f} GB/s of copies in memory{}\n", rates.gflops,
             rates.gbytes, p.plans > 1 ? fmt::format("; {} pieces ran", p.plans) : std::string());
  const bool segments = std::any_of(p.nodes.begin(), p.nodes.end(),
                                    [](const ProfileRow& r) { return r.segment_nodes > 0; });
  if (segments) {
    fmt::print(
        "of some segments the engine shows no steps, so their nodes have one time; --no-fuse "
        "tells them apart, in another plan\n");
  }
}

}  // namespace ge::tool
