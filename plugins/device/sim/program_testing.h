// Random programs of streams and events for tests, and the truth about their races: who comes
// before whom, by reachability in the graph of all steps. Nothing here knows the simulator's
// clocks.
#pragma once

#include <bitset>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "plugins/device/sim/simulator.h"

namespace ge_engines::device::sim {

// Part of a place: one of the program's blocks.
struct Span {
  int place = 0;
  size_t begin = 0, end = 0;
  bool Meets(const Span& other) const {
    return place == other.place && begin < other.end && other.begin < end;
  }
};

struct Op {
  enum Kind { kKernel, kCopy, kRecord, kWait, kHostWait, kStreamSync, kHostRead, kHostWrite };
  Kind kind = kKernel;
  int stream = 0;
  int event = 0;
  std::string name;
  std::vector<Span> reads, writes;
  bool waits() const { return kind == kWait || kind == kHostWait || kind == kStreamSync; }
  bool works() const { return kind == kKernel || kind == kCopy; }
};

struct Program {
  static constexpr size_t kBytes = 48;   // of each place
  static constexpr int kPageable = 100;  // place kPageable + i is pageable memory
  static constexpr int kPinned = 50;     // place kPinned + i is pinned
  std::vector<int> stream_device;
  std::vector<int> event_device;
  std::vector<int> places;  // place d * 10 + i is memory of device d
  std::vector<Op> ops;
};

// What comes before what. Each op has a call, in the host's order, and a step on its stream.
class Truth {
 public:
  explicit Truth(const Program& program) : program_(program) {
    std::map<int, size_t> newest, record;  // by stream, by event
    before_.resize(2 * program.ops.size());
    for (size_t i = 0; i < program.ops.size(); ++i) {
      const Op& op = program.ops[i];
      const size_t call = 2 * i, step = call + 1;
      if (i > 0) After(call, call - 2);
      if (op.kind == Op::kHostWait && record.count(op.event)) After(call, record[op.event]);
      if (op.kind == Op::kStreamSync && newest.count(op.stream)) After(call, newest[op.stream]);
      if (!op.works() && op.kind != Op::kRecord && op.kind != Op::kWait) continue;
      After(step, call);
      if (newest.count(op.stream)) After(step, newest[op.stream]);
      if (op.kind == Op::kWait && record.count(op.event)) After(step, record[op.event]);
      if (op.kind == Op::kRecord) record[op.event] = step;
      newest[op.stream] = step;
    }
  }
  bool Before(size_t node, size_t other) const { return before_[other][node]; }

  // Names of each two ops that touch the same bytes in no order, one of them writing; an op's own
  // read at its call is named like its step.
  std::set<std::pair<std::string, std::string>> Races() const {
    struct Touch {
      size_t node;
      const Op* op;
      const Span* span;
      bool write;
    };
    std::vector<Touch> all;
    for (size_t i = 0; i < program_.ops.size(); ++i) {
      const Op& op = program_.ops[i];
      const size_t node = 2 * i + (op.works() ? 1 : 0);
      for (const Span& span : op.reads) {
        all.push_back({node, &op, &span, false});
        if (span.place >= Program::kPageable) all.push_back({2 * i, &op, &span, false});
      }
      for (const Span& span : op.writes) all.push_back({node, &op, &span, true});
    }
    std::set<std::pair<std::string, std::string>> races;
    for (const Touch& a : all)
      for (const Touch& b : all)
        if (a.node < b.node && a.op != b.op && (a.write || b.write) && a.span->Meets(*b.span) &&
            !Before(a.node, b.node))
          races.insert({a.op->name, b.op->name});
    return races;
  }

 private:
  using Nodes = std::bitset<1024>;
  void After(size_t node, size_t other) {
    before_[node] |= before_[other];
    before_[node][other] = true;
  }
  const Program& program_;
  std::vector<Nodes> before_;
};

struct Shape {
  int devices = 1;
  bool host = true;  // host waits, host accesses, pageable memory; false: what a capture may hold
  int works = 14;
};

// A program in which all that meets is ordered, now and then more than it must be.
class Generator {
 public:
  Generator(uint64_t seed, Shape shape) : random_(seed), shape_(shape) {}

  Program Make() {
    const int streams = 2 + Below(3);
    for (int s = 0; s < streams; ++s) program_.stream_device.push_back(s % shape_.devices);
    for (int d = 0; d < shape_.devices; ++d) {
      for (int i = 0; i < 3; ++i) program_.places.push_back(10 * d + i);
      for (int i = 0; i < 3; ++i) program_.event_device.push_back(d);
    }
    if (shape_.host)
      for (const int first : {Program::kPinned, Program::kPageable})
        for (int i = 0; i < 2; ++i) program_.places.push_back(first + i);
    known_.resize(streams + 1);
    recorded_.resize(program_.event_device.size());
    if (!shape_.host) Fork();
    for (int i = 0; i < shape_.works; ++i) {
      if (Below(5) == 0) Record(Below(streams));
      if (Below(9) == 0) Wait(Below(streams), Below(program_.event_device.size()));
      AddWork(i);
    }
    if (!shape_.host) Join();
    return program_;
  }

 private:
  int Below(size_t n) { return static_cast<int>(random_() % n); }
  int Host() const { return static_cast<int>(program_.stream_device.size()); }

  void Record(int stream) {
    std::vector<int> of_device;
    for (size_t e = 0; e < program_.event_device.size(); ++e)
      if (program_.event_device[e] == program_.stream_device[stream])
        of_device.push_back(static_cast<int>(e));
    Record(stream, of_device[Below(of_device.size())]);
  }
  void Record(int stream, int event) {
    recorded_[event] = known_[stream];
    Push(Op::kRecord, stream, event);
  }
  void Wait(int stream, int event) {
    if (recorded_[event].empty()) return;  // before its first record nothing is waited for
    Learn(stream, recorded_[event]);
    Push(stream == Host() ? Op::kHostWait : Op::kWait, stream, event);
  }
  void Push(Op::Kind kind, int stream, int event) {
    Op op;
    op.kind = kind;
    op.stream = stream;
    op.event = event;
    program_.ops.push_back(op);
  }
  void Learn(int who, const std::set<size_t>& what) {
    known_[who].insert(what.begin(), what.end());
  }

  void Fork() {
    Record(0, 0);
    for (int s = 1; s < Host(); ++s) Push(Op::kWait, s, 0);
  }
  void Join() {
    for (int s = 1; s < Host(); ++s) {
      Record(s, 0);
      Push(Op::kWait, 0, 0);
    }
  }

  Span Part(int place) {
    Span span;
    span.place = place;
    span.begin = Below(Program::kBytes - 1);
    span.end = span.begin + 1 + Below(Program::kBytes - span.begin);
    return span;
  }
  int PlaceOf(int device, bool pinned) {
    if (pinned && shape_.host && Below(4) == 0) return Program::kPinned + Below(2);
    return 10 * device + Below(3);
  }

  Op Draw(int number) {
    Op op;
    op.stream = Below(Host());
    const int device = program_.stream_device[op.stream];
    op.name = "w" + std::to_string(number);
    const int what = Below(shape_.host ? 8 : 5);
    if (what < 4) {
      for (int i = Below(3); i >= 0; --i) op.reads.push_back(Part(PlaceOf(device, true)));
      for (int i = Below(2); i >= 0; --i) op.writes.push_back(Part(PlaceOf(device, true)));
    } else if (what < 7) {
      op.kind = Op::kCopy;
      const int other = shape_.host && Below(2) == 0
                            ? (Below(2) == 0 ? Program::kPinned : Program::kPageable) + Below(2)
                            : 10 * Below(shape_.devices) + Below(3);
      Span here = Part(10 * device + Below(3)), there = here;
      there.place = other == here.place ? 10 * device + (here.place + 1) % 10 % 3 : other;
      op.reads = {here};
      op.writes = {there};
      if (Below(2) == 0) std::swap(op.reads, op.writes);
    } else {
      op.kind = Below(2) == 0 ? Op::kHostRead : Op::kHostWrite;
      op.stream = Host();
      (op.kind == Op::kHostRead ? op.reads : op.writes)
          .push_back(Part((Below(2) == 0 ? Program::kPinned : Program::kPageable) + Below(2)));
    }
    return op;
  }

  bool Meet(const Op& a, const Op& b) const {
    const auto meet = [](const auto& x, const auto& y) {
      for (const Span& one : x)
        for (const Span& other : y)
          if (one.Meets(other)) return true;
      return false;
    };
    return meet(a.writes, b.writes) || meet(a.writes, b.reads) || meet(a.reads, b.writes);
  }

  void AddWork(int number) {
    const Op op = Draw(number);
    // From pageable memory a copy may read at the call: then the host must know.
    const bool host_reads = op.kind == Op::kCopy && op.reads[0].place >= Program::kPageable;
    for (size_t i = 0; i < program_.ops.size(); ++i) {
      if (!Meet(program_.ops[i], op)) continue;
      Order(i, host_reads ? Host() : op.stream);
      if (host_reads) Learn(op.stream, known_[Host()]);
    }
    Learn(op.stream, known_[Host()]);
    known_[op.stream].insert(program_.ops.size());
    program_.ops.push_back(op);
  }

  void Order(size_t earlier, int who) {
    Learn(who, known_[Host()]);
    if (known_[who].count(earlier) != 0) return;
    for (size_t e = 0; e < recorded_.size(); ++e)
      if (recorded_[e].count(earlier) != 0 && Below(4) != 0) return Wait(who, static_cast<int>(e));
    const int stream = program_.ops[earlier].stream;
    if (shape_.host && Below(6) == 0) {
      Learn(Host(), known_[stream]);
      Push(Op::kStreamSync, stream, 0);
      return Learn(who, known_[Host()]);
    }
    Record(stream);
    const int event = program_.ops.back().event;
    Wait(who, event);
  }

  std::mt19937_64 random_;
  Shape shape_;
  Program program_;
  std::vector<std::set<size_t>> known_;  // by stream and, last, the host: ops before its next
  std::vector<std::set<size_t>> recorded_;
};

}  // namespace ge_engines::device::sim
