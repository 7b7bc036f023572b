// Level 5: prices. Whether they order work as time does, and how far they are from it, over sweeps
// of sizes; whether memory stays within what offers said. Times are the least of several batches on
// a host with one thread; the facts of the machine that the engine hears are measured first.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sdk/conform/case.h"
#include "sdk/conform/sample_graphs.h"
#include "sdk/conform/subject.h"
#include "sdk/conform/timing.h"

namespace ge::conform {
namespace {

constexpr double kLeastRank = 0.8, kMostMedian = 1;

mock::Facts g_facts;  // of this process's case

struct Point {
  std::string what;
  double price = 0, ns = 0;
};

enum Family { kElementwise, kProducts, kConvolutions, kReductions, kMoves, kFamilies };

Sample FamilySample(int family, int step) {
  Net n(static_cast<uint64_t>(family * 100 + step) + 1);
  const int64_t size = int64_t{64} << step;
  switch (family) {
    case kElementwise: {
      const uint32_t a = n.In({size * 16});
      n.Out(n.Binary(step % 2 == 0 ? "Add" : "Mul", a, n.In({size * 16})));
      break;
    }
    case kProducts: {
      const int64_t m = std::min<int64_t>(8 * (step + 1), 48), k = 24 * (step + 2);
      n.Out(n.MatMul(n.In({m, k}), n.Const(GE_F32, {k, 32 * (step + 1)})));
      break;
    }
    case kConvolutions: {
      const int64_t c = 8 * (step + 1), h = 8 + 3 * step;
      n.Out(n.Conv(n.In({1, c, h, h}), n.Const(GE_F32, {c, c, 3, 3}), 0, {1, 1, 1, 1}));
      break;
    }
    case kReductions: {
      const uint32_t x = n.In({size / 8, 64});
      n.Out(step % 2 == 0 ? n.Softmax("Softmax", x, -1) : n.Reduce("ReduceSum", x, {1}, true));
      break;
    }
    default: {
      const uint32_t x = n.In({size / 16, 32, 4});
      n.Out(step % 2 == 0 ? n.Transpose(x, {1, 0, 2}) : n.Concat({x, x}, 1));
    }
  }
  return n.Take("sweep");
}

double PriceOf(const mock::Offer& o, uint32_t choice) {
  const double marginal =
      static_cast<double>(o.choices.empty() ? o.cost.marginal_ns : o.choices[choice].marginal_ns);
  return static_cast<double>(o.cost.setup_ns + o.cost.launch_ns) + marginal;
}

// The cheapest plain offer of each sample of the family, timed. False with *why.
bool Sweep(Rig& rig, int family, std::vector<Point>* points, std::string* why) {
  constexpr int kSteps = 9;
  for (int step = 0; step < kSteps; ++step) {
    const Sample sample = FamilySample(family, step);
    const mock::Answer answer = rig.engine().Query(sample.graph);
    uint32_t best = UINT32_MAX, best_choice = 0;
    for (uint32_t i = 0; i < answer.offers.size(); ++i) {
      const mock::Offer& o = answer.offers[i];
      const uint32_t plain = PlainChoice(o);
      if (o.converts() || !o.priced || o.cost.marginal_ns == GE_UNKNOWN_NS || plain == UINT32_MAX) {
        continue;
      }
      if (best != UINT32_MAX && PriceOf(answer.offers[best], best_choice) <= PriceOf(o, plain)) {
        continue;
      }
      best = i;
      best_choice = plain;
    }
    if (best == UINT32_MAX) continue;
    mock::Compiler compiler(rig.engine(), sample.graph, answer);
    compiler.pack_garbage = 0;  // numbers that are none would be computed with
    const auto exec =
        compiler.Compile(mock::MakeSegment(sample.graph, answer, {{best, best_choice}}));
    if (exec->rc != GE_OK) return *why = "compile: " + exec->error, false;
    Timed timed;
    const Values values = Given(sample.graph, sample.inputs);
    if (!Time(rig, sample, answer, *exec, values, &timed, why)) return false;
    points->push_back(
        {fmt::format("{} of {} elements", sample.graph.nodes[0].op, sample.inputs[0].count()),
         PriceOf(answer.offers[best], best_choice), timed.ns});
  }
  return true;
}

std::vector<double> Ranks(const std::vector<double>& v) {
  std::vector<size_t> order(v.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return v[a] < v[b]; });
  std::vector<double> rank(v.size());
  for (size_t i = 0; i < order.size();) {
    size_t end = i;
    while (end < order.size() && v[order[end]] == v[order[i]]) ++end;
    for (size_t k = i; k < end; ++k) rank[order[k]] = static_cast<double>(i + end - 1) / 2;
    i = end;
  }
  return rank;
}

// Spearman's, ties shared; 0 where all prices are one.
double RankCorrelation(const std::vector<Point>& points) {
  std::vector<double> price, ns;
  for (const Point& p : points) {
    price.push_back(p.price);
    ns.push_back(p.ns);
  }
  const std::vector<double> a = Ranks(price), b = Ranks(ns);
  const double mean = static_cast<double>(a.size() - 1) / 2;
  double ab = 0, aa = 0, bb = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - mean) * (b[i] - mean);
    aa += (a[i] - mean) * (a[i] - mean);
    bb += (b[i] - mean) * (b[i] - mean);
  }
  return aa == 0 || bb == 0 ? 0 : ab / std::sqrt(aa * bb);
}

double Median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v.size() % 2 == 1 ? v[v.size() / 2] : (v[v.size() / 2 - 1] + v[v.size() / 2]) / 2;
}

bool Prepare(Subject& s, std::unique_ptr<Rig>* rig, Outcome* outcome) {
  RigOptions options;
  options.facts = g_facts = MeasuredFacts();
  *rig = std::make_unique<Rig>(s, options);
  if (!(*rig)->ready()) *outcome = (*rig)->outcome();
  return (*rig)->ready();
}

Outcome RankOf(Subject& s, int family) {
  std::unique_ptr<Rig> rig;
  Outcome outcome;
  if (!Prepare(s, &rig, &outcome)) return outcome;
  std::vector<Point> points;
  std::string why;
  for (int f = family == kFamilies ? 0 : family; f <= family && f < kFamilies; ++f) {
    if (!Sweep(*rig, f, &points, &why)) return Fail(why);
  }
  if (points.size() < 5) return rig->Judged(Unsupported("it prices fewer than five of the sizes"));
  const double rank = RankCorrelation(points);
  const std::string text = fmt::format(
      "rank correlation of price and time {:.2f} over {} sizes, "
      "wanted {} at least",
      rank, points.size(), kLeastRank);
  return rank >= kLeastRank ? rig->Judged(Pass(text)) : Fail("query: prices lie: " + text);
}

Outcome LevelOf(Subject& s, int family) {
  std::unique_ptr<Rig> rig;
  Outcome outcome;
  if (!Prepare(s, &rig, &outcome)) return outcome;
  std::vector<Point> points;
  std::string why;
  for (int f = family == kFamilies ? 0 : family; f <= family && f < kFamilies; ++f) {
    if (!Sweep(*rig, f, &points, &why)) return Fail(why);
  }
  if (points.size() < 5) return rig->Judged(Unsupported("it prices fewer than five of the sizes"));
  std::vector<double> off, size;
  std::map<std::string, std::vector<double>> by_op;
  double most = 0;
  std::string worst;
  for (const Point& p : points) {
    const double ratio = std::log2(std::max(p.price, 0.01) / p.ns);
    off.push_back(ratio);
    size.push_back(std::fabs(ratio));
    by_op[p.what.substr(0, p.what.find(' '))].push_back(ratio);
    if (std::fabs(ratio) < std::fabs(most)) continue;
    most = ratio;
    worst = fmt::format("{} asks {:.0f} ns and takes {:.0f}", p.what, p.price, p.ns);
  }
  std::string each;
  for (const auto& [op, ratios] : by_op) {
    each += fmt::format("{}{} {:.2f}", each.empty() ? "" : ", ", op, std::exp2(Median(ratios)));
  }
  const double median = Median(size);
  const std::string text = fmt::format(
      "median |log2(price / time)| {:.2f} over {} sizes, wanted {} at most; prices are {:.2f} "
      "times "
      "the time in the median ({}); {}; the machine: {:.0f} flops and {:.0f}, {:.0f}, {:.0f} "
      "copied bytes "
      "a ns",
      median, points.size(), kMostMedian, std::exp2(Median(off)), each, worst, g_facts.flops_per_ns,
      g_facts.copy_bytes_per_ns[0], g_facts.copy_bytes_per_ns[1], g_facts.copy_bytes_per_ns[2]);
  return median <= kMostMedian ? rig->Judged(Pass(text)) : Fail("query: prices lie: " + text);
}

// ---- memory
// ---------------------------------------------------------------------------------------

enum Memory { kWorkspace, kPersistent };

Outcome Within(Subject& s, int what) {
  Rig rig(s);
  if (!rig.ready()) return rig.outcome();
  int done = 0;
  for (int shape = 0; shape < kShapes; ++shape) {
    const Sample sample = SampleOf(static_cast<Shape>(shape));
    const mock::Answer answer = rig.engine().Query(sample.graph);
    for (uint32_t i = 0; i < answer.offers.size(); ++i) {
      const mock::Offer& o = answer.offers[i];
      if (o.converts() || !o.priced) continue;
      const auto exec = mock::Compiler(rig.engine(), sample.graph, answer)
                            .Compile(mock::MakeSegment(sample.graph, answer, {{i, 0}}));
      if (exec->rc != GE_OK) return Fail("compile: " + exec->error);
      uint64_t kept = exec->pack_bytes();
      for (const ge_const_use& use : exec->constants) kept += use.packed_bytes;
      const uint64_t said = what == kWorkspace ? o.cost.workspace : o.cost.persistent;
      const uint64_t is = what == kWorkspace ? exec->workspace : kept;
      if (is > said) {
        return Fail(fmt::format("compile: {} of {} takes {} bytes of {}, its offer said {}",
                                sample.graph.nodes[o.nodes[0]].op, sample.name, is,
                                what == kWorkspace ? "workspace" : "packed constants", said));
      }
      ++done;
    }
  }
  return done == 0 ? rig.Judged(Unsupported("it states no costs"))
                   : rig.Closed(Pass(fmt::format("{} offers", done)));
}

// Twice the work does not cost less.
Outcome Monotone(Subject& s, int) {
  Rig rig(s);
  if (!rig.ready()) return rig.outcome();
  int done = 0;
  for (int family = 0; family < kFamilies; ++family) {
    std::map<std::string, std::pair<double, int64_t>> before;
    for (int step = 0; step < 9; ++step) {
      const Sample sample = FamilySample(family, step);
      const mock::Answer answer = rig.engine().Query(sample.graph);
      const auto offers = OffersOf(answer, {0});
      if (offers.empty() || answer.offers[offers[0]].cost.marginal_ns == GE_UNKNOWN_NS) continue;
      const double price = PriceOf(answer.offers[offers[0]], 0);
      const std::string op = sample.graph.nodes[0].op;
      const int64_t size = sample.inputs[0].count();
      const auto old = before.find(op);
      if (old != before.end() && price < 0.75 * old->second.first) {
        return Fail(fmt::format("query: {} of {} elements asks {:.0f} ns, of {} elements {:.0f}",
                                op, old->second.second, old->second.first, size, price));
      }
      before[op] = {price, size};
      ++done;
    }
  }
  return done == 0 ? rig.Judged(Unsupported("it prices none of the sizes")) : rig.Closed(Pass());
}

// What a growable offer saves for an edge is part of what it asks.
Outcome Savings(Subject& s, int) {
  Rig rig(s);
  if (!rig.ready()) return rig.outcome();
  int done = 0;
  for (int shape = 0; shape < kShapes; ++shape) {
    const Sample sample = SampleOf(static_cast<Shape>(shape));
    for (const mock::Offer& o : rig.engine().Query(sample.graph).offers) {
      if (!o.growable()) continue;
      ++done;
      const uint64_t whole = o.cost.marginal_ns;
      if (whole == GE_UNKNOWN_NS || o.edge_saving_ns <= whole + 1) continue;
      return Fail(
          fmt::format("query: {} asks {} ns and saves {} for each value that stays inside: "
                      "a longer segment would cost less than nothing",
                      sample.graph.nodes[o.nodes[0]].op, whole, o.edge_saving_ns));
    }
  }
  return done == 0 ? rig.Judged(Unsupported("it makes no growable offers")) : rig.Closed(Pass());
}

}  // namespace

std::vector<Case> CostCases() {
  return {
      {5, "rank-elementwise", RankOf, kElementwise, true},
      {5, "rank-products", RankOf, kProducts, true},
      {5, "rank-convolutions", RankOf, kConvolutions, true},
      {5, "rank-reductions", RankOf, kReductions, true},
      {5, "rank-moves", RankOf, kMoves, true},
      {5, "rank-all", RankOf, kFamilies, true},
      {5, "level-all", LevelOf, kFamilies, true},
      {5, "workspace-as-said", Within, kWorkspace},
      {5, "packs-as-said", Within, kPersistent},
      {5, "larger-costs-more", Monotone},
      {5, "savings", Savings},
  };
}

}  // namespace ge::conform
