#include "plugins/device/sim/shadow.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace ge_engines::device::sim {

std::string Actor::text(bool write) const {
  std::string text = write ? "write by '" : "read by '";
  text += name + "' (";
  if (stream == 0) return text + "host, after call " + std::to_string(call) + ")";
  text += "call " + std::to_string(call) + ", ";
  if (graph != 0) text += "graph " + std::to_string(graph) + " on ";
  return text + "stream " + std::to_string(stream) + ")";
}

void Shadow::Collect(size_t begin, size_t end, const Mark& mark, bool writes,
                     const VectorClock& clock, std::vector<Conflict>* conflicts) {
  if (mark.actor == nullptr || clock.Knows(mark.epoch)) return;
  for (Conflict& one : *conflicts) {  // neighbouring bytes of the same access
    if (one.earlier == mark.actor && one.earlier_writes == writes && one.end == begin) {
      one.end = end;
      return;
    }
  }
  conflicts->push_back({mark.actor, writes, begin, end});
}

Shadow::Cells::iterator Shadow::Split(size_t at) {
  const auto next = cells_.lower_bound(at);
  if (next == cells_.begin() || (next != cells_.end() && next->first == at)) return next;
  const auto before = std::prev(next);
  if (before->second.end <= at) return next;
  Cell tail = before->second;
  before->second.end = at;
  return cells_.emplace_hint(next, at, std::move(tail));
}

void Shadow::Read(size_t begin, size_t end, const Step& step, std::vector<Conflict>* conflicts) {
  Split(end);
  auto cell = Split(begin);
  for (size_t at = begin; at < end; ++cell) {
    if (cell == cells_.end() || cell->first > at) {  // untouched so far
      const size_t until = cell == cells_.end() ? end : std::min(end, cell->first);
      Cell fresh;
      fresh.end = until;
      cell = cells_.emplace_hint(cell, at, std::move(fresh));
    }
    Cell& one = cell->second;
    Collect(at, one.end, one.writer, true, *step.clock, conflicts);
    // A write in no order with an older reader is in none with this one either.
    std::erase_if(one.readers, [&](const Mark& mark) { return step.clock->Knows(mark.epoch); });
    one.readers.push_back({step.epoch, step.actor});
    at = one.end;
  }
}

void Shadow::Write(size_t begin, size_t end, const Step& step, std::vector<Conflict>* conflicts) {
  Split(end);
  auto cell = Split(begin);
  while (cell != cells_.end() && cell->first < end) {
    const Cell& one = cell->second;
    Collect(cell->first, one.end, one.writer, true, *step.clock, conflicts);
    for (const Mark& reader : one.readers)
      Collect(cell->first, one.end, reader, false, *step.clock, conflicts);
    cell = cells_.erase(cell);
  }
  Cell fresh;
  fresh.end = end;
  fresh.writer = {step.epoch, step.actor};
  cells_.emplace_hint(cell, begin, std::move(fresh));
}

std::vector<Conflict> Shadow::Unordered(size_t begin, size_t end, const VectorClock& clock) const {
  std::vector<Conflict> conflicts;
  auto cell = cells_.upper_bound(begin);
  if (cell != cells_.begin()) --cell;
  for (; cell != cells_.end() && cell->first < end; ++cell) {
    const size_t from = std::max(begin, cell->first), to = std::min(end, cell->second.end);
    if (from < to) Collect(from, to, cell->second.writer, true, clock, &conflicts);
  }
  return conflicts;
}

std::vector<Conflict> Shadow::Unknown(const VectorClock& clock) const {
  std::vector<Conflict> conflicts;
  for (const auto& [begin, cell] : cells_) {
    Collect(begin, cell.end, cell.writer, true, clock, &conflicts);
    for (const Mark& reader : cell.readers)
      Collect(begin, cell.end, reader, false, clock, &conflicts);
  }
  return conflicts;
}

std::vector<std::pair<size_t, size_t>> Shadow::Unwritten(size_t begin, size_t end) const {
  std::vector<std::pair<size_t, size_t>> gaps;
  const auto add = [&](size_t from, size_t to) {
    if (from >= to) return;
    if (!gaps.empty() && gaps.back().second == from)
      gaps.back().second = to;
    else
      gaps.emplace_back(from, to);
  };
  auto cell = cells_.upper_bound(begin);
  if (cell != cells_.begin()) --cell;
  size_t at = begin;
  for (; cell != cells_.end() && cell->first < end; ++cell) {
    if (cell->second.end <= at || cell->second.writer.actor == nullptr) continue;
    add(at, cell->first);
    at = std::max(at, cell->second.end);
  }
  add(at, end);
  return gaps;
}

void Shadow::Forget(const VectorClock& host) {
  std::erase_if(cells_, [&](const auto& entry) {
    const Cell& cell = entry.second;
    return (cell.writer.actor == nullptr || host.Knows(cell.writer.epoch)) &&
           std::all_of(cell.readers.begin(), cell.readers.end(),
                       [&](const Mark& mark) { return host.Knows(mark.epoch); });
  });
}

}  // namespace ge_engines::device::sim
