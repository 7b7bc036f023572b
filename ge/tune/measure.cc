#include "ge/tune/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "ge/base/clock.h"
#include "ge/base/log.h"
#include "ge/host/host_load.h"
#include "ge/price/correct.h"
#include "ge/tune/offer_timer.h"
#include "ge/tune/record_links.h"

namespace ge {
namespace {

// An offer that asks more than so many times the best price of its nodes is not timed: tenfold
// overbidding has to be found, and plain loops beside a vendor's library have not.
constexpr double kWorthTiming = 32;
// Each shows which prices were too low, and so who is a rival.
constexpr int kRounds = 3;
// Of one offer; a slow one is launched once whatever it takes.
constexpr double kOfferBudgetNs = 60e6;
constexpr uint32_t kEnoughSamples = 3;
// A shared machine is slow for tens of milliseconds at a time, longer than one offer is timed. So
// all are timed once, and those that may win again and again, as far apart as the others take. With
// one pass an openblas convolution came out at half of its time, and a plan was built on it.
constexpr int kPasses = 4;
constexpr double kMayWin = 2;  // times the best of the same nodes

struct Candidate {
  const Offer* offer;
  uint32_t choice;
  PriceBook book;
  OfferName name;
  double importance = 0;  // ns of the best price, over all nodes that look alike
  double price = 0;
  OfferTimer::Timing timing = {};  // of all passes
  bool failed = false;
};

// Of each node the least price of the offers for it alone.
template <typename Price>
std::vector<double> LeastPrices(const Function& f, const OfferSet& offers, Price price) {
  std::vector<double> least(f.nodes.size(), std::numeric_limits<double>::infinity());
  for (const Offer& o : offers.offers) {
    if (o.convert || o.nodes.size() != 1) continue;
    for (const OfferChoice& c : o.choices) {
      least[o.nodes[0]] = std::min(least[o.nodes[0]], std::max(price(o, c), 1.0));
    }
  }
  return least;
}
double Sum(const std::vector<double>& of, const std::vector<uint32_t>& nodes) {
  double sum = 0;
  for (uint32_t n : nodes) sum += of[n];
  return sum;
}

double Asked(const Offer&, const OfferChoice& c) { return c.asked_ns; }
double Corrected(const Offer& o, const OfferChoice& c) {
  return c.marginal_ns + o.setup_ns + o.launch_ns;
}

// `now`: the same offers at the prices that the cache gives them at present.
std::vector<Candidate> FindCandidates(const EngineList& engines, const Graph& graph,
                                      const Function& f, const std::vector<PlanLayout>& layouts,
                                      const OfferSet& offers, const OfferSet& now,
                                      const PriceCache& cache, const MeasureOptions& options) {
  const bool rivals_only = options.rivals_only;
  const std::vector<double> asked = LeastPrices(f, offers, &Asked);
  const std::vector<double> corrected = LeastPrices(f, now, &Corrected);
  std::map<std::pair<PriceBook, std::string>, Candidate> alike;
  for (size_t i = 0; i < offers.offers.size(); ++i) {
    const Offer& o = offers.offers[i];
    if (o.convert) continue;
    const double least = Sum(asked, o.nodes), cheapest = Sum(corrected, o.nodes);
    for (uint32_t c = 0; c < o.choices.size(); ++c) {
      const double price = Corrected(now.offers[i], now.offers[i].choices[c]);
      const bool rival = price <= options.rival * cheapest;
      const bool asks_little = !rivals_only && o.choices[c].asked_ns <= kWorthTiming * least;
      if (!rival && !asks_little) continue;
      Candidate candidate{&o, c, BookOf(*engines[o.engine], o.device), {}};
      candidate.name = NameOffer(graph, f, o.nodes, o.choices[c].layouts, layouts, o.rounds);
      const auto key =
          std::make_pair(candidate.book, candidate.name.signature + "|" + candidate.name.shape);
      Candidate& kept = alike.emplace(key, std::move(candidate)).first->second;
      kept.price = o.choices[c].asked_ns;
      kept.importance += std::min(least, 1e12);
    }
  }
  std::vector<Candidate> out;
  for (auto& [key, candidate] : alike) {
    PriceRow row;
    const bool known = cache.Find(candidate.book, candidate.name, &row) && !row.alone.doubtful;
    const uint32_t enough = rivals_only ? 1 : kEnoughSamples;
    if (options.again || !known || row.alone.count < enough) out.push_back(std::move(candidate));
  }
  std::stable_sort(out.begin(), out.end(), [](const Candidate& a, const Candidate& b) {
    return a.importance != b.importance ? a.importance > b.importance : a.price < b.price;
  });
  return out;
}

bool IsDoubtful(bool busy, const OfferTimer::Timing& timing) {
  return busy || (!timing.of.agree && !BusyAsSaid());
}

// One offer that a segment takes, with its name in the cache.
struct Taken {
  const Offer* offer;
  uint32_t choice;
  PriceBook book;
  OfferName name;
  double alone_ns = -1;
  double kept = 0;  // values that another offer of the segment reads
};

class Recorder {
 public:
  Recorder(const EngineList& engines, Compiled* c, PriceCache* cache, GraphView* view,
           double budget_ms, bool busy)
      : engines_(engines),
        c_(*c),
        f_(c->graph.fn(c->fn)),
        cache_(cache),
        end_ms_(NowMs() + budget_ms),
        busy_(busy),
        timer_(engines, c->graph, f_, c->plan.layouts, view) {
    if (pinned_.PinAsTheyAre(c)) timer_.ReadBetween(c->HostPacks());
  }

  void Run(const RunClock::Summary& summary) {
    const auto& segments = c_.plan.functions[0].segments;
    // The longest first, while there is time to observe.
    std::vector<SegmentId> order;
    for (SegmentId s = 0; s < segments.size(); ++s) {
      if (!segments[s].offers.empty()) order.push_back(s);
    }
    std::stable_sort(order.begin(), order.end(), [&](SegmentId a, SegmentId b) {
      return segments[a].predicted_ns > segments[b].predicted_ns;
    });
    for (SegmentId s : order) Record(segments[s], summary.segments[s]);
  }

 private:
  void Record(const PlanSegment& seg, const RunClock::Sample& sample) {
    std::vector<Taken> taken = TakenBy(seg);
    const bool warm = sample.count > 0 && !sample.cold;
    if (taken.size() == 1 && warm) {
      AddAlone(taken[0], sample.ns, sample.count, busy_);
      return;
    }
    for (Taken& t : taken) Observe(&t);
    if (taken.size() == 1) {
      // A first run pays for fresh pages too; it is better than nothing.
      if (taken[0].alone_ns < 0 && sample.count > 0) AddAlone(taken[0], sample.ns, 1, busy_);
      return;
    }
    if (warm) Split(taken, sample);
  }

  std::vector<Taken> TakenBy(const PlanSegment& seg) const {
    std::vector<Taken> out;
    std::map<uint32_t, size_t> owner;  // node position -> place in `out`
    for (const PlanOffer& p : seg.offers) {
      const Offer& o = c_.offers.offers[p.offer_index];
      for (uint32_t n : o.nodes) owner[n] = out.size();
      Taken t{&o, p.choice, BookOf(*engines_[o.engine], o.device), {}};
      t.name =
          NameOffer(c_.graph, f_, o.nodes, o.choices[p.choice].layouts, c_.plan.layouts, o.rounds);
      out.push_back(std::move(t));
    }
    std::map<ValueId, size_t> maker;
    for (auto [n, i] : owner) {
      for (ValueId v : f_.nodes[n].outputs) {
        if (v) maker[v] = i;
      }
    }
    std::map<ValueId, bool> counted;
    for (auto [n, i] : owner) {
      for (ValueId v : f_.nodes[n].inputs) {
        auto it = maker.find(v);
        if (it == maker.end() || it->second == i || counted[v]) continue;
        counted[v] = true;
        out[it->second].kept += 1;
      }
    }
    return out;
  }

  void AddAlone(const Taken& t, double ns, uint32_t count, bool doubtful) {
    cache_->Add(t.book, t.name, PriceCache::Kind::kAlone, t.offer->choices[t.choice].asked_ns,
                {ns, count, doubtful}, true);
  }

  // How long the offer takes alone: known, or timed now.
  void Observe(Taken* t) {
    PriceRow row;
    if (cache_->Find(t->book, t->name, &row) && row.alone.count > 0 && !row.alone.doubtful) {
      t->alone_ns = row.alone.ns;
      return;
    }
    const double left_ns = (end_ms_ - NowMs()) * 1e6;
    if (left_ns <= 0) return;
    auto timing = timer_.Time(*t->offer, t->offer->choices[t->choice], t->choice,
                              std::min(left_ns, kOfferBudgetNs));
    if (!timing.ok()) {
      LogLine(3, "an offer cannot be observed: " + timing.status().message());
      return;
    }
    t->alone_ns = timing->ns();
    AddAlone(*t, timing->ns(), timing->count(), IsDoubtful(busy_, *timing));
  }

  // The segment's time by what its offers take alone, as far as their engine asks for it inside; of
  // those that could not be observed, by what it asks.
  void Split(const std::vector<Taken>& taken, const RunClock::Sample& sample) {
    double sum = 0, launch = 0;
    for (const Taken& t : taken) {
      sum += Weight(t);
      launch = std::max(launch, t.offer->launch_ns + t.offer->setup_ns);
    }
    const double work = std::max(sample.ns - launch, sample.ns / 2);
    for (const Taken& t : taken) {
      cache_->Add(t.book, t.name, PriceCache::Kind::kInside, AskedInside(t),
                  {work * Weight(t) / sum, sample.count, busy_}, true);
    }
  }

  static double AskedInside(const Taken& t) {
    const double marginal = t.offer->choices[t.choice].asked_ns - t.offer->asked_overhead_ns;
    return std::max(0.0, marginal - t.offer->asked_saving_ns * t.kept);
  }

  // What its engine takes for free inside a segment has next to no share of it.
  static double Weight(const Taken& t) {
    const double asked = t.offer->choices[t.choice].asked_ns;
    const double alone = t.alone_ns >= 0 ? t.alone_ns : asked;
    return std::max(1.0, alone * AskedInside(t) / std::max(asked, 1.0));
  }

  const EngineList& engines_;
  Compiled& c_;
  const Function& f_;
  PriceCache* cache_;
  const double end_ms_;
  const bool busy_;
  Compiled::PinnedPacks pinned_;  // while timer_ reads them
  OfferTimer timer_;
};

void TimeOnce(OfferTimer* timer, double budget_ns, Candidate* c) {
  auto timing = timer->Time(*c->offer, c->offer->choices[c->choice], c->choice, budget_ns);
  if (!timing.ok()) {
    c->failed = true;
    LogLine(3, "an offer cannot be measured: " + timing.status().message());
    return;
  }
  c->timing.of.Add(std::move(timing->of));
}

// By nodes, of those that were timed.
std::map<std::vector<uint32_t>, double> BestTimes(const std::vector<Candidate>& candidates) {
  std::map<std::vector<uint32_t>, double> best;
  for (const Candidate& c : candidates) {
    if (c.timing.count() == 0) continue;
    auto [it, fresh] = best.emplace(c.offer->nodes, c.timing.ns());
    if (!fresh) it->second = std::min(it->second, c.timing.ns());
  }
  return best;
}

// All of them, and again and again those that may win and those whose samples disagree: under load
// these are as far off as anything.
void TimeAll(OfferTimer* timer, double end_ms, std::vector<Candidate>* candidates) {
  for (int pass = 0; pass < kPasses; ++pass) {
    const std::map<std::vector<uint32_t>, double> best = BestTimes(*candidates);
    for (Candidate& c : *candidates) {
      const double left_ms = end_ms - NowMs();
      if (left_ms <= 0) return;
      const bool steady = c.timing.count() > 0 && c.timing.of.agree;
      if (c.failed || (steady && c.timing.ns() > kMayWin * best.at(c.offer->nodes))) continue;
      TimeOnce(timer, std::min(left_ms * 1e6, kOfferBudgetNs), &c);
    }
  }
}

}  // namespace

MeasureReport MeasureOffers(const EngineList& engines, const Graph& graph, const Function& function,
                            const std::vector<PlanLayout>& layouts, GraphView* view,
                            const OfferSet& offers, PriceCache* cache,
                            const MeasureOptions& options) {
  const double begin = NowMs();
  const LoadWatch watch;
  OfferTimer timer(engines, graph, function, layouts, view);
  timer.ReadBetween(options.between);
  MeasureReport report;
  std::set<std::pair<PriceBook, std::string>> seen;
  for (int round = 0; round < kRounds; ++round) {
    OfferSet now = offers;
    CorrectPrices(engines, *cache, graph, function, layouts, &now);
    std::vector<Candidate> candidates =
        FindCandidates(engines, graph, function, layouts, offers, now, *cache, options);
    std::erase_if(candidates, [&](const Candidate& c) {
      return !seen.emplace(c.book, c.name.signature + "|" + c.name.shape).second;
    });
    if (candidates.empty()) break;
    TimeAll(&timer, begin + options.budget_ms, &candidates);
    const bool busy = options.busy ? options.busy() : watch.Busy();
    for (const Candidate& c : candidates) {
      report.failed += c.failed;
      report.left += !c.failed && c.timing.count() == 0;
      if (c.timing.count() == 0) continue;
      ++report.measured;
      const bool doubtful = IsDoubtful(busy, c.timing);
      report.doubtful += doubtful;
      cache->Add(c.book, c.name, PriceCache::Kind::kAlone, c.offer->choices[c.choice].asked_ns,
                 {c.timing.ns(), c.timing.count(), doubtful}, options.trusted_now);
    }
    report.busy |= busy;
  }
  report.ms = NowMs() - begin;
  return report;
}

void RecordRuns(const EngineList& engines, Compiled* compiled, PriceCache* cache,
                double observe_budget_ms, bool busy, bool links) {
  if (!compiled->clock) return;
  const RunClock::Summary summary = compiled->clock->Read();
  if (summary.total.count == 0) return;
  const uint32_t seen = compiled->clock->warm_runs() + 1;
  if (seen == compiled->recorded_runs) return;
  compiled->recorded_runs = seen;
  if (links) RecordLinks(engines, *compiled, summary, busy, cache);
  // A view of its own: the plan's may be in use for another frame's exec.
  auto view = GraphView::Make(compiled->graph, compiled->graph.fn(compiled->fn));
  if (!view.ok()) return;
  Recorder(engines, compiled, cache, view->get(), observe_budget_ms, busy).Run(summary);
}

}  // namespace ge
