#include "ge/memory/lifetimes.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace ge::memory {
namespace {

Status EarlyWait(uint32_t i, const Instruction& in) {
  return Status(Code::kInternal,
                fmt::format("instruction {} waits for event {} at {}, which no earlier instruction "
                            "signals; run STREAMS before MEMORY",
                            i, in.event, in.event_value));
}

}  // namespace

Result<Lifetimes> Lifetimes::Make(const PlanFunction& function, const std::vector<PlanUses>& uses) {
  Lifetimes l;
  const uint32_t k = l.streams_ =
      std::max<uint32_t>(1, static_cast<uint32_t>(function.streams.size()));
  const uint32_t n = static_cast<uint32_t>(function.code.size());
  l.stream_.resize(n);
  l.index_.resize(n);
  l.clock_.resize(size_t{n} * k);
  std::vector<uint32_t> now(size_t{k} * k);  // by stream: its clock
  l.of_stream_.resize(k);
  std::vector<std::vector<uint32_t>> signals(function.events.size());
  for (uint32_t i = 0; i < n; ++i) {
    const Instruction& in = function.code[i];
    if (in.stream >= k || ((in.op == PlanOp::kSignal || in.op == PlanOp::kWait) &&
                           in.event >= function.events.size())) {
      return Status(Code::kInternal,
                    fmt::format("instruction {} names stream {} and event {}, wanted below {} and "
                                "{}",
                                i, in.stream, in.event, k, function.events.size()));
    }
    l.stream_[i] = in.stream;
    l.index_[i] = static_cast<uint32_t>(l.of_stream_[in.stream].size());
    l.of_stream_[in.stream].push_back(i);
    uint32_t* own = &now[size_t{in.stream} * k];
    const auto join = [&](const uint32_t* other) {
      for (uint32_t s = 0; s < k; ++s) own[s] = std::max(own[s], other[s]);
    };
    join(&now[0]);  // all that the host had executed when this was queued
    if (in.op == PlanOp::kWait && in.event_value > 0) {
      const auto& of_event = signals[in.event];
      // An event's values ascend.
      const auto reached = std::partition_point(of_event.begin(), of_event.end(), [&](uint32_t s) {
        return function.code[s].event_value < in.event_value;
      });
      if (reached == of_event.end()) return EarlyWait(i, in);
      join(&l.clock_[size_t{*reached} * k]);
    }
    std::copy(own, own + k, &l.clock_[size_t{i} * k]);
    own[in.stream] = l.index_[i] + 1;
    if (in.op == PlanOp::kSignal) signals[in.event].push_back(i);
  }
  l.TakeUses(function, uses);
  return l;
}

void Lifetimes::TakeUses(const PlanFunction& function, const std::vector<PlanUses>& uses) {
  uses_ = uses;
  end_.resize(function.values.size() * streams_);
  first_.resize(function.values.size());
  last_.resize(function.values.size());
  inside_.resize(function.values.size());
  for (PlanValueId v = 1; v < function.values.size(); ++v) {
    first_[v] = last_[v] = uses[v].writer == kNoInstruction ? 0 : uses[v].writer;
    const auto use = [&](uint32_t i) {
      uint32_t& end = end_[size_t{v} * streams_ + stream_[i]];
      end = std::max(end, index_[i] + 1);
      last_[v] = std::max(last_[v], i);
    };
    if (uses[v].writer != kNoInstruction) use(uses[v].writer);
    for (uint32_t i : uses[v].readers) use(i);
    const PlanValue& value = function.values[v];
    inside_[v] = {value.kind == PlanValueKind::kInternal, value.segment, value.first_step,
                  value.last_step};
  }
}

bool Lifetimes::OverBefore(PlanValueId value, uint32_t i, uint32_t except) const {
  const uint32_t* clock = &clock_[size_t{i} * streams_];
  if (except == kNoInstruction) {
    const uint32_t* end = &end_[size_t{value} * streams_];
    for (uint32_t s = 0; s < streams_; ++s) {
      if (end[s] > clock[s]) return false;
    }
    return true;
  }
  const auto over = [&](uint32_t use) {
    return use == kNoInstruction || use == except || clock[stream_[use]] > index_[use];
  };
  // The last reader first: of many launches that each ask, all but one find their answer there.
  return over(uses_[value].writer) &&
         std::all_of(uses_[value].readers.rbegin(), uses_[value].readers.rend(), over);
}

uint32_t Lifetimes::OverFrom(PlanValueId value, const std::vector<bool>& streams) const {
  uint32_t from = 0;
  for (uint32_t s = 0; s < streams_; ++s) {
    if (!streams[s]) continue;
    const std::vector<uint32_t>& list = of_stream_[s];
    const auto it = std::partition_point(list.begin(), list.end(),
                                         [&](uint32_t i) { return !OverBefore(value, i); });
    if (it != list.begin()) from = std::max(from, *std::prev(it) + 1);
  }
  return from;
}

bool Lifetimes::Together(PlanValueId left, PlanValueId right) const {
  const uint32_t wa = uses_[left].writer, wb = uses_[right].writer;
  if (wb != kNoInstruction && OverBefore(left, wb)) return false;
  if (wa != kNoInstruction && OverBefore(right, wa)) return false;
  const Inside& ia = inside_[left];
  const Inside& ib = inside_[right];
  if (!ia.internal || !ib.internal || ia.segment != ib.segment) return true;
  return ia.first_step <= ib.last_step && ib.first_step <= ia.last_step;
}

}  // namespace ge::memory
