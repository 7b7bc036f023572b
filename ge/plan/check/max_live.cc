#include "ge/plan/check/max_live.h"

#include <algorithm>

#include "ge/plan/check/max_flow.h"

namespace ge::check {
namespace {

// The values of one domain that lie in transient arenas.
struct DomainValues {
  std::vector<PlanValueId> outer;                   // transients and workspaces
  std::vector<std::vector<PlanValueId>> internals;  // by segment
  std::vector<std::vector<uint32_t>> steps;         // by segment: first steps, ascending

  DomainValues(const Lifetimes& life, DomainId domain) {
    const PlanFunction& f = life.function();
    internals.resize(f.segments.size());
    steps.resize(f.segments.size());
    for (PlanValueId v = 1; v < f.values.size(); ++v) {
      const PlanValue& value = f.values[v];
      if (value.domain != domain || value.bytes == 0 || !life.access(v).used()) continue;
      if (value.kind == PlanValueKind::kTransient || value.kind == PlanValueKind::kWorkspace) {
        outer.push_back(v);
      } else if (value.kind == PlanValueKind::kInternal) {
        internals[value.segment].push_back(v);
        steps[value.segment].push_back(value.first_step);
      }
    }
    for (auto& list : steps) {
      std::sort(list.begin(), list.end());
      list.erase(std::unique(list.begin(), list.end()), list.end());
    }
  }
};

// Sums of bytes over time, from values that each hold theirs for one stretch of it.
class Sums {
 public:
  explicit Sums(size_t moments) : change_(moments + 1) {}

  struct Stretch {
    uint32_t first = 1, last = 0;  // empty
  };

  // Adds the bytes in `held`, but not while the place of another value that is counted, held in
  // `other`, is the same.
  void Add(int64_t bytes, Stretch held, Stretch other) {
    if (held.first > held.last) return;
    change_[held.first] += bytes;
    change_[held.last + 1] -= bytes;
    const uint32_t first = std::max(held.first, other.first);
    const uint32_t last = std::min(held.last, other.last);
    if (first > last) return;
    change_[first] -= bytes;
    change_[last + 1] += bytes;
  }

  // By moment.
  std::vector<int64_t> Take() {
    for (size_t i = 1; i < change_.size(); ++i) change_[i] += change_[i - 1];
    return std::move(change_);
  }

 private:
  std::vector<int64_t> change_;
};

// One stream: everything has one order, so the fullest moment is that of some instruction, and of
// some first step inside it.
class OneStream {
 public:
  OneStream(const Lifetimes& life, const DomainValues& values)
      : life_(life), f_(life.function()), values_(values) {}

  std::vector<LiveMoment> InUse() const {
    Sums sums(f_.code.size());
    for (PlanValueId v : values_.outer) {
      sums.Add(f_.values[v].bytes, Held(v), Held(f_.values[v].alias_of));
    }
    const std::vector<int64_t> outer = sums.Take();
    std::vector<LiveMoment> moments;
    for (uint32_t i = 0; i < f_.code.size(); ++i) {
      const PlanOp op = f_.code[i].op;
      if (op == PlanOp::kCopy) moments.push_back({i, 0, outer[i]});
      if (op == PlanOp::kLaunch) AddInside(i, outer[i], &moments);
    }
    return moments;
  }

  int64_t Run() const {
    int64_t best = 0;
    for (const LiveMoment& m : InUse()) best = std::max(best, m.bytes);
    return best;
  }

 private:
  // The instructions during which a value holds its bytes.
  Sums::Stretch Held(PlanValueId v) const {
    const Access& a = life_.access(v);
    if (v == 0 || a.writer == kNone) return {};
    Sums::Stretch held{a.writer, a.writer};
    for (uint32_t reader : a.readers) held.last = std::max(held.last, reader);
    if (a.until_end) held.last = static_cast<uint32_t>(f_.code.size()) - 1;
    return held;
  }

  // The first steps, among those of `steps`, during which an internal value holds its bytes.
  Sums::Stretch Steps(PlanValueId v, const std::vector<uint32_t>& steps) const {
    if (v == 0) return {};
    const PlanValue& value = f_.values[v];
    const auto first = std::lower_bound(steps.begin(), steps.end(), value.first_step);
    const auto behind = std::upper_bound(steps.begin(), steps.end(), value.last_step);
    if (first >= behind) return {};
    return {static_cast<uint32_t>(first - steps.begin()),
            static_cast<uint32_t>(behind - steps.begin()) - 1};
  }

  // Of a launch: what lies around it, and its internal values step by step.
  void AddInside(uint32_t launch, int64_t outer, std::vector<LiveMoment>* moments) const {
    const SegmentId segment = f_.code[launch].segment;
    const std::vector<uint32_t>& steps = values_.steps[segment];
    if (steps.empty() || steps[0] > 0) moments->push_back({launch, 0, outer});
    Sums sums(steps.size());
    for (PlanValueId v : values_.internals[segment]) {
      sums.Add(f_.values[v].bytes, Steps(v, steps), Steps(f_.values[v].alias_of, steps));
    }
    const std::vector<int64_t> sum = sums.Take();
    for (size_t i = 0; i < steps.size(); ++i) {
      moments->push_back({launch, steps[i], outer + sum[i]});
    }
  }

  const Lifetimes& life_;
  const PlanFunction& f_;
  const DomainValues& values_;
};

// Several streams: "over before" is a partial order, and the heaviest set of values of which none
// is over before another follows from a flow (Dilworth's theorem with weights): all bytes less the
// greatest number of bytes that can be handed on from a value to one that starts after its end.
// A value hands on through nodes for instructions: on each stream to the first instruction that
// surely runs after its last use, from there to the next ones of that stream.
class ManyStreams {
 public:
  ManyStreams(const Lifetimes& life, const DomainValues& values)
      : life_(life),
        f_(life.function()),
        values_(values),
        giver_(f_.values.size()),
        taker_(f_.values.size()),
        weight_(f_.values.size()) {
    Weigh();
  }

  int64_t Run() {
    source_ = flow_.AddNode();
    sink_ = flow_.AddNode();
    AddInstructions();
    int64_t total = 0;
    for (PlanValueId v : values_.outer) total += AddValue(v);
    for (SegmentId s = 0; s < values_.internals.size(); ++s) {
      for (PlanValueId v : values_.internals[s]) total += AddValue(v);
      AddSteps(s);
    }
    for (PlanValueId v = 1; v < f_.values.size(); ++v) AddAlias(v);
    return total - flow_.Run(source_, sink_);
  }

 private:
  void Link(uint32_t from, uint32_t to) { flow_.AddEdge(from, to, MaxFlow::kUnbounded); }

  void AddInstructions() {
    of_stream_.resize(f_.streams.size());
    for (uint32_t i = 0; i < f_.code.size(); ++i) {
      node_.push_back(flow_.AddNode());
      auto& list = of_stream_[f_.code[i].stream];
      if (!list.empty()) Link(node_[list.back()], node_[i]);
      list.push_back(i);
    }
  }

  // Of two internals in one place, one of which lives only while the other does, the bytes that
  // they share are counted with the longer life. Otherwise the two follow each other, like an
  // output written over an input.
  void Weigh() {
    for (PlanValueId v = 1; v < f_.values.size(); ++v) weight_[v] = f_.values[v].bytes;
    for (PlanValueId v = 1; v < f_.values.size(); ++v) {
      const PlanValue& value = f_.values[v];
      if (value.kind != PlanValueKind::kInternal || !value.alias_of) continue;
      const PlanValue& other = f_.values[value.alias_of];
      if (value.first_step >= other.first_step && value.last_step <= other.last_step) {
        weight_[v] = 0;
      } else if (value.first_step <= other.first_step && value.last_step >= other.last_step) {
        weight_[value.alias_of] = std::max<int64_t>(0, weight_[value.alias_of] - value.bytes);
      }
    }
  }

  // Bytes pass from the one that ends first to the other, though both live for a while.
  void AddAlias(PlanValueId v) {
    const PlanValueId other = f_.values[v].alias_of;
    if (!other || !taker_[v] || !taker_[other]) return;
    const PlanValue& value = f_.values[v];
    const PlanValue& place = f_.values[other];
    if (value.kind != PlanValueKind::kInternal ||
        (value.first_step > place.first_step && value.last_step > place.last_step)) {
      Link(giver_[other], taker_[v]);
    } else if (value.first_step < place.first_step && value.last_step < place.last_step) {
      Link(giver_[v], taker_[other]);
    }
  }

  int64_t AddValue(PlanValueId v) {
    const int64_t bytes = weight_[v];
    if (bytes == 0) return 0;
    giver_[v] = flow_.AddNode();
    taker_[v] = flow_.AddNode();
    flow_.AddEdge(source_, giver_[v], bytes);
    flow_.AddEdge(taker_[v], sink_, bytes);
    Link(node_[life_.access(v).writer], taker_[v]);
    for (const auto& list : of_stream_) {
      const auto first = std::partition_point(list.begin(), list.end(),
                                              [&](uint32_t i) { return !life_.OverBefore(v, i); });
      if (first != list.end()) Link(giver_[v], node_[*first]);
    }
    return bytes;
  }

  // Inside a launch, a value hands on to those that start at a later step.
  void AddSteps(SegmentId s) {
    const auto& steps = values_.steps[s];
    std::vector<uint32_t> at;
    for (size_t i = 0; i < steps.size(); ++i) {
      at.push_back(flow_.AddNode());
      if (i > 0) Link(at[i - 1], at[i]);
    }
    for (PlanValueId v : values_.internals[s]) {
      if (!taker_[v]) continue;
      const PlanValue& value = f_.values[v];
      const auto begin = std::lower_bound(steps.begin(), steps.end(), value.first_step);
      Link(at[begin - steps.begin()], taker_[v]);
      const auto behind = std::upper_bound(steps.begin(), steps.end(), value.last_step);
      if (behind != steps.end()) Link(giver_[v], at[behind - steps.begin()]);
    }
  }

  const Lifetimes& life_;
  const PlanFunction& f_;
  const DomainValues& values_;
  MaxFlow flow_;
  uint32_t source_ = 0, sink_ = 0;
  std::vector<uint32_t> node_;                    // by instruction
  std::vector<std::vector<uint32_t>> of_stream_;  // instructions of each stream
  std::vector<uint32_t> giver_, taker_;           // by value; 0 = not of this domain
  std::vector<int64_t> weight_;                   // by value: bytes that it counts
};

}  // namespace

std::vector<int64_t> MaxLiveBytes(const Lifetimes& life, size_t domains) {
  std::vector<int64_t> bytes(domains);
  for (DomainId d = 0; d < domains; ++d) {
    const DomainValues values(life, d);
    bytes[d] = life.timeline().streams() > 1 ? ManyStreams(life, values).Run()
                                             : OneStream(life, values).Run();
  }
  return bytes;
}

std::vector<LiveMoment> LiveMoments(const Lifetimes& life, DomainId domain) {
  const DomainValues values(life, domain);
  return OneStream(life, values).InUse();
}

}  // namespace ge::check
