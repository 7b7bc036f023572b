#include "streams/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "ge/plan/first_fed.h"
#include "ge/plan/uses.h"

namespace ge::streams {
namespace {

// A launch leaves the stream of what it continues only for an earlier start by this much: a
// signal, a wait and a colder cache cost about that.
constexpr double kSwitchNs = 500;
// Another order or spread is taken only for this much of the predicted time; prices are not
// better than that.
constexpr double kGain = 0.01;

enum class Spread { kOne, kCopiesApart, kAll };

// What goes first of what can begin: as on entry, the longest way to the end, or what the first of
// the devices' tasks that are still to come stands on.
enum class Order { kEntry, kRank, kFeeds };

// The device whose stream may carry a copy: asynchronous, of the copy's engine, and living in one
// of its two domains. 0 = the host makes it.
DeviceId CopyDevice(const Plan& plan, const PlanFunction& f, const Instruction& in) {
  const DomainId domains[] = {f.values[in.dst].domain, f.values[in.src].domain};
  for (DomainId domain : domains) {
    for (DeviceId d = 1; d < plan.devices.size(); ++d) {
      const PlanDevice& device = plan.devices[d];
      if (device.async && device.engine == in.engine && device.domain == domain) return d;
    }
  }
  return 0;
}

double PredictedNs(const Plan& plan, const PlanFunction& f, const Instruction& in) {
  if (in.predicted_ns > 0) return in.predicted_ns;
  if (in.op == PlanOp::kLaunch) return std::max(0.0, f.segments[in.segment].predicted_ns);
  for (const PlanLink& link : plan.links) {
    if (link.engine == in.engine && link.from == f.values[in.src].domain &&
        link.to == f.values[in.dst].domain && link.bytes_per_ns > 0) {
      return link.latency_ns + static_cast<double>(f.values[in.src].bytes) / link.bytes_per_ns;
    }
  }
  return 0;
}

// Time from the start of each task to the end of the longest chain behind it.
std::vector<double> Ranks(const std::vector<Task>& tasks) {
  std::vector<double> rank(tasks.size());
  for (size_t t = tasks.size(); t-- > 0;) {
    rank[t] += tasks[t].ns;
    for (uint32_t p : tasks[t].before) rank[p] = std::max(rank[p], rank[t]);
  }
  return rank;
}

// Greater goes first; equal ones as on entry.
std::vector<double> Urgency(const std::vector<Task>& tasks, Order order) {
  if (order == Order::kRank) return Ranks(tasks);
  std::vector<double> urgency(tasks.size());
  if (order == Order::kEntry) return urgency;
  std::vector<std::vector<uint32_t>> before;
  std::vector<bool> of_device;
  for (const Task& t : tasks) {
    before.push_back(t.before);
    of_device.push_back(t.device != 0);
  }
  const std::vector<uint32_t> fed = FirstFed(before, of_device);
  for (size_t t = 0; t < tasks.size(); ++t) urgency[t] = -static_cast<double>(fed[t]);
  return urgency;
}

// Plays the host and the streams by predicted times. The host queues asynchronous tasks as soon as
// that does not block it, and else does the work that can start first.
class Player {
 public:
  Player(const Plan& plan, const std::vector<Task>& tasks, const std::vector<double>& urgency,
         uint32_t max_streams, Spread spread)
      : plan_(plan),
        tasks_(tasks),
        urgency_(urgency),
        spread_(spread),
        lane_(tasks.size()),
        finish_(tasks.size()),
        open_(tasks.size()),
        after_(tasks.size()) {
    free_.resize(plan.devices.size());
    for (DeviceId d = 1; d < plan.devices.size(); ++d) {
      const uint32_t most =
          std::min(std::max(plan.devices[d].max_streams, 1u), std::max(max_streams, 1u));
      free_[d].assign(spread == Spread::kOne ? 1 : most, 0.0);
    }
    for (uint32_t t = 0; t < tasks.size(); ++t) {
      open_[t] = static_cast<uint32_t>(tasks[t].before.size());
      for (uint32_t p : tasks[t].before) after_[p].push_back(t);
      if (open_[t] == 0) AddReady(t);
    }
  }

  Schedule Run() {
    Schedule s;
    uint32_t t = 0;
    while (Next(&t)) {
      if (tasks_[t].device == 0) {
        host_ = finish_[t] = std::max(host_, ReadyAt(t)) + tasks_[t].ns;
      } else {
        host_ = std::max(host_, BlockedUntil(t));
        Queue(t);
      }
      s.order.push_back(t);
      for (uint32_t n : after_[t]) {
        if (--open_[n] == 0) AddReady(n);
      }
    }
    s.ns = host_;
    for (double end : finish_) s.ns = std::max(s.ns, end);
    for (uint32_t t = 0; t < tasks_.size(); ++t) {
      if (tasks_[t].device != 0) s.devices_ns += finish_[t];
    }
    NumberStreams(&s);
    return s;
  }

 private:
  double ReadyAt(uint32_t t) const {
    double at = 0;
    for (uint32_t p : tasks_[t].before) at = std::max(at, finish_[p]);
    return at;
  }

  // Until when the host must wait before it can queue t: a stream waits for its own engine's
  // events alone.
  double BlockedUntil(uint32_t t) const {
    double at = 0;
    for (uint32_t p : tasks_[t].before) {
      const bool through_host = tasks_[p].device != 0 && tasks_[p].engine != tasks_[t].engine;
      if (through_host) at = std::max(at, finish_[p]);
    }
    return at;
  }

  // A ready task; what `at` says cannot change any more.
  struct Ready {
    double at = 0;  // until when the host must wait for it
    double urgency = 0;
    uint32_t task = 0;
  };
  struct Precedes {
    bool operator()(const Ready& a, const Ready& b) const {
      return a.urgency != b.urgency ? a.urgency > b.urgency : a.task < b.task;
    }
  };
  struct Sooner {
    bool operator()(const Ready& a, const Ready& b) const {
      return a.at != b.at ? a.at < b.at : Precedes()(a, b);
    }
  };

  void AddReady(uint32_t t) {
    const bool host = tasks_[t].device == 0;
    const double at = host ? ReadyAt(t) : BlockedUntil(t);
    later_[host ? 1 : 0].insert({at, urgency_[t], t});
  }

  // Takes a task that can be queued without waiting, else one that the host can do now, else the
  // one that waits the least. False when none is left.
  bool Next(uint32_t* t) {
    for (int host : {0, 1}) {
      std::set<Ready, Sooner>& later = later_[host];
      while (!later.empty() && later.begin()->at <= host_) {
        now_[host].insert(later.extract(later.begin()).value());
      }
    }
    for (int host : {0, 1}) {
      if (now_[host].empty()) continue;
      *t = now_[host].extract(now_[host].begin()).value().task;
      return true;
    }
    if (later_[0].empty() && later_[1].empty()) return false;
    const bool host = later_[0].empty() ||
                      (!later_[1].empty() && Sooner()(*later_[1].begin(), *later_[0].begin()));
    *t = later_[host].extract(later_[host].begin()).value().task;
    return true;
  }

  // The stream that t takes when all of them can start it at the same time.
  uint32_t Preferred(uint32_t t) const {
    const uint32_t n = static_cast<uint32_t>(free_[tasks_[t].device].size());
    if (tasks_[t].copy) return tasks_[t].leaves && n >= 3 ? n - 2 : n - 1;
    if (spread_ == Spread::kCopiesApart) return 0;
    uint32_t lane = 0;
    double latest = -1;
    for (uint32_t p : tasks_[t].before) {
      if (tasks_[p].device != tasks_[t].device || tasks_[p].copy || finish_[p] <= latest) continue;
      latest = finish_[p];
      lane = lane_[p];
    }
    return lane;
  }

  void Queue(uint32_t t) {
    std::vector<double>& free = free_[tasks_[t].device];
    const double ready = std::max(host_, ReadyAt(t));
    uint32_t lane = Preferred(t);
    if (spread_ == Spread::kAll) {
      double start = std::max(free[lane], ready);
      for (uint32_t s = 0; s < free.size(); ++s) {
        const double other = std::max(free[s], ready);
        if (other + kSwitchNs >= start) continue;
        lane = s;
        start = other;
      }
    }
    lane_[t] = lane;
    free[lane] = finish_[t] = std::max(free[lane], ready) + tasks_[t].ns;
  }

  // Streams in order of device and lane; unused ones get none.
  void NumberStreams(Schedule* s) const {
    s->streams.assign(1, PlanStream{});
    s->stream.assign(tasks_.size(), 0);
    for (DeviceId d = 1; d < free_.size(); ++d) {
      for (uint32_t lane = 0; lane < free_[d].size(); ++lane) {
        bool used = false;
        for (uint32_t t = 0; t < tasks_.size(); ++t) {
          if (tasks_[t].device != d || lane_[t] != lane) continue;
          s->stream[t] = static_cast<uint32_t>(s->streams.size());
          used = true;
        }
        if (used) s->streams.push_back({d});
      }
    }
  }

  const Plan& plan_;
  const std::vector<Task>& tasks_;
  const std::vector<double>& urgency_;
  const Spread spread_;
  double host_ = 0;                        // ns: when the host can do the next thing
  std::vector<std::vector<double>> free_;  // by device and lane: when its queue is empty
  std::vector<uint32_t> lane_;             // by task: stream among its device's
  std::vector<double> finish_;             // by task
  std::vector<uint32_t> open_;             // by task: predecessors not issued yet
  std::vector<std::vector<uint32_t>> after_;
  // Ready tasks of devices [0] and of the host [1]: those that nothing holds up, and the others.
  std::set<Ready, Precedes> now_[2];
  std::set<Ready, Sooner> later_[2];
};

// The best of several orders and spreads by predicted times; of equal ones the first, but for what
// helps when a launch takes longer than its price said: copies apart, and devices that begin
// earlier.
class Choice {
 public:
  void Offer(Schedule s, Order order, Spread spread) {
    if (!best_.stream.empty() && !Better(s, order, spread)) return;
    best_ = std::move(s);
    spread_ = spread;
  }
  Schedule Take() { return std::move(best_); }

 private:
  bool Better(const Schedule& s, Order order, Spread spread) const {
    if (s.ns <= best_.ns * (1 - kGain)) return true;
    if (s.ns > best_.ns * (1 + 1e-9)) return false;
    if (order == Order::kEntry) return spread == Spread::kCopiesApart;
    return order == Order::kFeeds && spread == spread_ &&
           s.devices_ns <= best_.devices_ns * (1 - kGain);
  }

  Schedule best_;
  Spread spread_ = Spread::kOne;
};

}  // namespace

Result<std::vector<Task>> MakeTasks(const Plan& plan, const PlanFunction& function) {
  GE_ASSIGN_OR_RETURN(const std::vector<PlanUses> uses, CollectUses(function));
  std::vector<Task> tasks(function.code.size());
  std::vector<uint32_t> launch(function.segments.size(), kNoInstruction);
  std::vector<PlanValueId> scratch;
  for (uint32_t i = 0; i < function.code.size(); ++i) {
    const Instruction& in = function.code[i];
    if ((in.op != PlanOp::kLaunch && in.op != PlanOp::kCopy) || in.stream != 0) {
      return Status(Code::kInternal,
                    fmt::format("instruction {} of function '{}' is no launch or copy on stream 0; "
                                "STREAMS takes code without streams, signals and waits",
                                i, function.name));
    }
    Task& t = tasks[i];
    t.copy = in.op == PlanOp::kCopy;
    t.device = t.copy ? CopyDevice(plan, function, in) : function.segments[in.segment].device;
    if (t.device >= plan.devices.size()) {
      return Status(Code::kInternal, fmt::format("segment {} is on device {}, wanted below {}",
                                                 in.segment, t.device, plan.devices.size()));
    }
    if (!plan.devices[t.device].async) t.device = 0;
    t.leaves = t.copy && function.values[in.src].domain == plan.devices[t.device].domain;
    t.engine = plan.devices[t.device].engine;
    t.ns = PredictedNs(plan, function, in);
    for (PlanValueId v : ReadsOf(function, in, &scratch)) {
      const uint32_t w = uses[v].writer;
      if (w == kNoInstruction) continue;
      if (w >= i) {
        return Status(Code::kInternal,
                      fmt::format("value '{}' is read by instruction {} before instruction {} "
                                  "writes it; wanted a legal order",
                                  function.values[v].name, i, w));
      }
      t.before.push_back(w);
    }
    if (!t.copy) {
      launch[in.segment] = i;
      for (SegmentId s : function.segments[in.segment].after) {
        if (s >= launch.size() || launch[s] == kNoInstruction) {
          return Status(Code::kInternal,
                        fmt::format("segment {} is to run after segment {}, which instruction {} "
                                    "does not find launched; wanted a legal order",
                                    in.segment, s, i));
        }
        t.before.push_back(launch[s]);
      }
    }
    std::sort(t.before.begin(), t.before.end());
    t.before.erase(std::unique(t.before.begin(), t.before.end()), t.before.end());
  }
  return tasks;
}

Schedule MakeSchedule(const Plan& plan, const std::vector<Task>& tasks,
                      const StreamOptions& options) {
  const bool any_async =
      std::any_of(tasks.begin(), tasks.end(), [](const Task& t) { return t.device != 0; });
  if (!any_async) {
    Schedule in_order;
    in_order.order.resize(tasks.size());
    std::iota(in_order.order.begin(), in_order.order.end(), 0);
    in_order.stream.assign(tasks.size(), 0);
    in_order.streams.assign(1, PlanStream{});
    for (const Task& t : tasks) in_order.ns += t.ns;
    return in_order;
  }
  Choice choice;
  for (const Order order : {Order::kEntry, Order::kRank, Order::kFeeds}) {
    const std::vector<double> urgency = Urgency(tasks, order);
    for (const Spread spread : {Spread::kOne, Spread::kCopiesApart, Spread::kAll}) {
      choice.Offer(Player(plan, tasks, urgency, options.max_streams_per_device, spread).Run(),
                   order, spread);
    }
  }
  return choice.Take();
}

}  // namespace ge::streams
