#include "tests/unit/plan_oracle.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>

namespace ge::test {
namespace {

using Kind = OracleFault::Kind;

struct Touch {  // one access of an instruction to a value
  PlanValueId value = 0;
  bool write = false;
};

class Oracle {
 public:
  explicit Oracle(const Plan& plan) : plan_(plan), f_(plan.functions[0]), n_(f_.code.size()) {}

  OracleVerdict Run() {
    Structure();
    if (!verdict_.faults.empty()) return verdict_;  // ids may be out of range
    BuildGraph();
    if (!verdict_.faults.empty()) return verdict_;
    CollectTouches();
    Races();
    Order();
    SameInstruction();
    Replay();
    Unfinished();
    return verdict_;
  }

  int64_t Heaviest(DomainId domain) {
    BuildGraph();
    CollectTouches();
    std::vector<PlanValueId> values;
    for (PlanValueId v = 1; v < f_.values.size(); ++v) {
      if (f_.values[v].domain == domain && f_.values[v].arena >= 0 && f_.values[v].bytes > 0 &&
          Scratch(f_.values[v].kind)) {
        values.push_back(v);
      }
    }
    std::sort(values.begin(), values.end(), [&](PlanValueId a, PlanValueId b) {
      return f_.values[a].bytes > f_.values[b].bytes;
    });
    int64_t best = 0;
    Grow(values, 0, &best);
    return best;
  }

 private:
  // Every use of a has finished as b's writer starts.
  bool OverBefore(PlanValueId a, PlanValueId b) const {
    for (size_t i = 0; i < n_; ++i) {
      for (const Touch& t : touches_[i]) {
        if (t.value == a && !Before(i, writer_.at(b))) return false;
      }
    }
    return true;
  }

  bool MayShare(PlanValueId a, PlanValueId b) const {
    return InsideOk(a, b) || OverBefore(a, b) || OverBefore(b, a);
  }

  // Branch and bound over sets of values of which no two may share.
  void Grow(const std::vector<PlanValueId>& open, int64_t bytes, int64_t* best) const {
    *best = std::max(*best, bytes);
    int64_t rest = 0;
    for (PlanValueId v : open) rest += f_.values[v].bytes;
    for (size_t i = 0; i < open.size() && bytes + rest > *best; ++i) {
      rest -= f_.values[open[i]].bytes;
      std::vector<PlanValueId> next;
      for (size_t j = i + 1; j < open.size(); ++j) {
        if (!MayShare(open[i], open[j])) next.push_back(open[j]);
      }
      Grow(next, bytes + f_.values[open[i]].bytes, best);
    }
  }

  void Add(Kind kind, const std::string& text, PlanValueId a = 0, PlanValueId b = 0,
           uint32_t first = 0, uint32_t second = 0) {
    verdict_.faults.push_back(
        {kind, a ? f_.values[a].name : "", b ? f_.values[b].name : "", first, second, text});
  }
  void Bad(bool bad, const std::string& text) {
    if (bad) Add(Kind::kStructure, text);
  }

  static bool Scratch(PlanValueKind k) {
    return k == PlanValueKind::kTransient || k == PlanValueKind::kInternal ||
           k == PlanValueKind::kWorkspace;
  }

  // ---- what needs no time -----------------------------------------------------------------

  void Structure() {
    for (PlanValueId v = 1; v < f_.values.size(); ++v) {
      const PlanValue& x = f_.values[v];
      if (x.kind == PlanValueKind::kInternal) {
        Bad(x.first_step > x.last_step || x.last_step >= f_.segments[x.segment].n_step,
            x.name + " has bad steps");
      }
      if (x.arena < 0) continue;
      if (static_cast<size_t>(x.arena) >= f_.arenas.size()) {
        Bad(true, x.name + " names no arena");
        continue;
      }
      Bad(f_.arenas[x.arena].domain != x.domain, x.name + " is in another domain's arena");
      Bad(!Scratch(x.kind), x.name + " may not be in an arena");
      Bad(x.offset < 0 || x.offset > f_.arenas[x.arena].bytes - x.bytes,
          x.name + " leaves its arena");
      Bad(x.bytes > 0 && x.offset % x.align != 0, x.name + " is misaligned");
    }
    for (PlanValueId v = 1; v < f_.values.size(); ++v) AliasClaim(v);
    CodeStructure();
  }

  void AliasClaim(PlanValueId v) {
    const PlanValue& x = f_.values[v];
    if (!x.alias_of) return;
    const PlanValue& y = f_.values[x.alias_of];
    Bad(!Permitted(v, x.alias_of), x.name + " claims an alias without permission");
    Bad(x.arena < 0 || x.arena != y.arena || x.offset != y.offset || x.bytes > y.bytes,
        x.name + " is not where it claims");
  }

  // v may lie over `place`, by what segments and internals say.
  bool Permitted(PlanValueId v, PlanValueId place) const {
    const PlanValue& x = f_.values[v];
    const PlanValue& y = f_.values[place];
    if (x.kind == PlanValueKind::kInternal) {
      return v != place && y.kind == PlanValueKind::kInternal && x.internal_alias == place &&
             x.segment == y.segment;
    }
    if (x.kind != PlanValueKind::kTransient || y.kind != PlanValueKind::kTransient) return false;
    for (const PlanSegment& s : f_.segments) {
      const auto out = std::find(s.outputs.begin(), s.outputs.end(), v);
      if (out == s.outputs.end()) continue;
      const uint32_t o = static_cast<uint32_t>(out - s.outputs.begin());
      size_t given = 0, allowed = 0;
      for (uint32_t i = 0; i < s.inputs.size(); ++i) {
        if (s.inputs[i] != place) continue;
        ++given;
        for (const auto& p : s.may_alias) {
          if (p.first == o && p.second == i) {
            ++allowed;
            break;
          }
        }
      }
      if (given > 0 && given == allowed) return true;
    }
    return false;
  }

  void CodeStructure() {
    std::vector<int> launches(f_.segments.size()), writes(f_.values.size());
    std::map<uint32_t, std::pair<uint32_t, uint64_t>> event;  // stream, value
    for (size_t i = 0; i < n_; ++i) {
      const Instruction& in = f_.code[i];
      const std::string who = "instruction " + std::to_string(i);
      if (in.stream >= f_.streams.size()) {
        Bad(true, who + " has no stream");
        continue;
      }
      const PlanDevice& on = plan_.devices[f_.streams[in.stream].device];
      if (in.op == PlanOp::kLaunch) {
        const PlanSegment& s = f_.segments[in.segment];
        const PlanDevice& device = plan_.devices[s.device];
        Bad(device.async ? in.stream == 0 || f_.streams[in.stream].device != s.device
                         : in.stream != 0,
            who + " is on the wrong stream");
        ++launches[in.segment];
        for (const Touch& t : TouchesOf(in)) {
          if (t.write) ++writes[t.value];
          Bad(f_.values[t.value].domain != device.domain, who + " cannot reach a value");
        }
      } else if (in.op == PlanOp::kCopy) {
        CopyStructure(in, who, on);
        ++writes[in.dst];
      } else if (in.op == PlanOp::kSignal) {
        if (in.stream == 0 || f_.events[in.event].engine != on.engine) {
          Bad(true, who + " cannot signal");
          continue;
        }
        auto [at, fresh] = event.insert({in.event, {in.stream, 0}});
        Bad(at->second.first != in.stream, who + " signals another stream's event");
        Bad(in.event_value <= at->second.second, who + " does not count up");
        at->second.second = in.event_value;
      } else if (in.op == PlanOp::kWait) {
        Bad(in.stream != 0 && f_.events[in.event].engine != on.engine, who + " cannot wait");
      }
    }
    for (size_t s = 0; s < launches.size(); ++s) {
      Bad(launches[s] != 1, "segment " + std::to_string(s) + " is not launched once");
    }
    Writers(writes);
  }

  void CopyStructure(const Instruction& in, const std::string& who, const PlanDevice& on) {
    const PlanValue& src = f_.values[in.src];
    const PlanValue& dst = f_.values[in.dst];
    Bad(src.bytes != dst.bytes || src.layout != dst.layout, who + " copies unlike values");
    for (PlanValueKind k : {src.kind, dst.kind}) {
      Bad(k == PlanValueKind::kInternal || k == PlanValueKind::kWorkspace,
          who + " copies a launch's inside");
    }
    Bad(in.stream != 0 && on.engine != in.engine, who + " is on another engine's stream");
    bool linked = src.domain == 0 && dst.domain == 0 && in.stream == 0;
    if (src.domain != 0 || dst.domain != 0) {
      linked = (src.domain == 0 || plan_.domains[src.domain].engine == in.engine) &&
               (dst.domain == 0 || plan_.domains[dst.domain].engine == in.engine);
    }
    for (const PlanLink& l : plan_.links) {
      linked = linked || (l.from == src.domain && l.to == dst.domain && l.engine == in.engine);
    }
    Bad(!linked, who + " has no link");
  }

  void Writers(const std::vector<int>& writes) {
    std::set<PlanValueId> read;
    for (const Instruction& in : f_.code) {
      for (const Touch& t : TouchesOf(in)) {
        const PlanValue& x = f_.values[t.value];
        Bad(Scratch(x.kind) && x.arena < 0, x.name + " is used and has no place");
        if (!t.write) read.insert(t.value);
      }
    }
    for (PlanValueId v = 1; v < f_.values.size(); ++v) {
      const PlanValue& x = f_.values[v];
      const bool given = x.kind == PlanValueKind::kInput || x.kind == PlanValueKind::kConstant;
      Bad(given && writes[v] > 0, x.name + " is not the run's to write");
      Bad(writes[v] > 1, x.name + " is written twice");
      Bad(x.kind == PlanValueKind::kOutput && writes[v] == 0, x.name + " is never written");
      Bad(read.count(v) && !given && x.kind != PlanValueKind::kState && writes[v] == 0,
          x.name + " is read and never written");
    }
  }

  std::vector<Touch> TouchesOf(const Instruction& in) const {
    std::vector<Touch> touches;
    if (in.op == PlanOp::kCopy) touches = {{in.src, false}, {in.dst, true}};
    if (in.op == PlanOp::kLaunch) {
      const PlanSegment& s = f_.segments[in.segment];
      for (PlanValueId v : s.inputs) touches.push_back({v, false});
      for (PlanValueId v : s.outputs) touches.push_back({v, true});
      for (PlanValueId v : s.internals) touches.push_back({v, true});
      if (s.workspace) touches.push_back({s.workspace, true});
    }
    return touches;
  }

  // ---- happens-before ---------------------------------------------------------------------

  size_t Start(size_t i) const { return 2 * i; }
  size_t End(size_t i) const { return 2 * i + 1; }

  void BuildGraph() {
    std::vector<std::vector<size_t>> next(2 * n_);
    std::vector<std::optional<size_t>> last(f_.streams.size());
    for (size_t i = 0; i < n_; ++i) {
      const Instruction& in = f_.code[i];
      next[Start(i)].push_back(End(i));
      if (last[in.stream]) next[End(*last[in.stream])].push_back(Start(i));
      if (last[0]) next[End(*last[0])].push_back(Start(i));
      last[in.stream] = i;
      if (in.op != PlanOp::kWait || in.event_value == 0) continue;
      bool found = false;
      for (size_t j = 0; j < i && !found; ++j) {
        const Instruction& s = f_.code[j];
        if (s.op != PlanOp::kSignal || s.event != in.event || s.event_value < in.event_value) {
          continue;
        }
        next[End(j)].push_back(End(i));
        found = true;
      }
      if (!found)
        Add(Kind::kEarlyWait,
            "instruction " + std::to_string(i) + " waits for no signal before it");
    }
    Close(next);
  }

  // Transitive closure in reverse topological order; a cycle is a deadlock.
  void Close(const std::vector<std::vector<size_t>>& next) {
    std::vector<size_t> in_degree(2 * n_), order;
    for (const auto& edges : next) {
      for (size_t m : edges) ++in_degree[m];
    }
    std::deque<size_t> open;
    for (size_t m = 0; m < 2 * n_; ++m) {
      if (in_degree[m] == 0) open.push_back(m);
    }
    while (!open.empty()) {
      const size_t m = open.front();
      open.pop_front();
      order.push_back(m);
      for (size_t x : next[m]) {
        if (--in_degree[x] == 0) open.push_back(x);
      }
    }
    if (order.size() < 2 * n_) {
      Add(Kind::kEarlyWait, "instructions wait for each other");
      return;
    }
    words_ = (2 * n_ + 63) / 64;
    reach_.assign(2 * n_ * words_, 0);
    for (size_t at = order.size(); at-- > 0;) {
      uint64_t* row = &reach_[order[at] * words_];
      for (size_t x : next[order[at]]) {
        row[x / 64] |= uint64_t{1} << (x % 64);
        for (size_t w = 0; w < words_; ++w) row[w] |= reach_[x * words_ + w];
      }
    }
    for (size_t m : order) {
      if (m % 2 == 0) legal_order_.push_back(m / 2);
    }
  }

  bool Before(size_t i, size_t j) const {
    return reach_[End(i) * words_ + Start(j) / 64] >> (Start(j) % 64) & 1;
  }

  // ---- bytes ------------------------------------------------------------------------------

  // Arena bytes are shared; every other value has memory of its own.
  bool ShareBytes(PlanValueId a, PlanValueId b) const {
    if (a == b) return true;
    const PlanValue& x = f_.values[a];
    const PlanValue& y = f_.values[b];
    if (x.arena < 0 || x.arena != y.arena) return false;
    return std::max(x.offset, y.offset) < std::min(x.offset + x.bytes, y.offset + y.bytes);
  }

  void CollectTouches() {
    for (uint32_t i = 0; i < n_; ++i) {
      touches_.push_back(TouchesOf(f_.code[i]));
      for (const Touch& t : touches_.back()) {
        if (t.write) writer_[t.value] = i;
      }
    }
  }

  void Races() {
    for (uint32_t i = 0; i < n_; ++i) {
      for (const Touch& t : touches_[i]) {
        const auto writer = writer_.find(t.value);
        if (t.write || writer == writer_.end() || !Before(i, writer->second)) continue;
        Add(Kind::kRace, "read before it is written", t.value, t.value, writer->second, i);
      }
    }
    for (size_t i = 0; i < n_; ++i) {
      for (size_t j = i + 1; j < n_; ++j) {
        if (touches_[i].empty() || touches_[j].empty() || Before(i, j) || Before(j, i)) continue;
        for (const Touch& a : touches_[i]) {
          for (const Touch& b : touches_[j]) {
            if ((a.write || b.write) && ShareBytes(a.value, b.value)) {
              Add(Kind::kRace, "race", a.value, b.value, i, j);
            }
          }
        }
      }
    }
  }

  // A segment starts after those that it names have ended.
  void Order() {
    for (uint32_t i = 0; i < n_; ++i) {
      for (uint32_t j = 0; j < n_; ++j) {
        const Instruction &a = f_.code[i], &b = f_.code[j];
        if (a.op != PlanOp::kLaunch || b.op != PlanOp::kLaunch || Before(i, j)) continue;
        const std::vector<SegmentId>& after = f_.segments[b.segment].after;
        if (std::find(after.begin(), after.end(), a.segment) == after.end()) continue;
        Add(Kind::kOrder, "not after the segment that it names", 0, 0, i, j);
      }
    }
  }

  void SameInstruction() {
    for (size_t i = 0; i < n_; ++i) {
      const auto& t = touches_[i];
      for (size_t a = 0; a < t.size(); ++a) {
        for (size_t b = a + 1; b < t.size(); ++b) {
          if (!(t[a].write || t[b].write) || !ShareBytes(t[a].value, t[b].value)) continue;
          if (InsideOk(t[a].value, t[b].value)) continue;
          Add(Kind::kOverlap, "inside one instruction", t[a].value, t[b].value, i, i);
        }
      }
    }
  }

  // Two values of one launch may share bytes: at different steps, or where one declares itself in
  // the other's place (AliasClaim has seen that it may).
  bool InsideOk(PlanValueId a, PlanValueId b) const {
    const PlanValue& x = f_.values[a];
    const PlanValue& y = f_.values[b];
    if (a == b) return false;
    if (x.alias_of == b || y.alias_of == a) return true;
    return x.kind == PlanValueKind::kInternal && y.kind == PlanValueKind::kInternal &&
           x.segment == y.segment && (x.last_step < y.first_step || y.last_step < x.first_step);
  }

  // Runs the instructions one by one; a read looks back for writes to any of its bytes.
  void Replay() {
    std::vector<std::pair<PlanValueId, uint32_t>> writes;  // value, instruction
    for (uint32_t i : legal_order_) {
      for (const Touch& t : touches_[i]) {
        if (t.write) continue;
        for (size_t w = writes.size(); w-- > 0 && f_.values[t.value].bytes > 0;) {
          const PlanValueId other = writes[w].first;
          if (!ShareBytes(other, t.value)) continue;
          if (other == t.value) break;
          Add(Kind::kOverlap, "overwritten before it is read", t.value, other, i, writes[w].second);
        }
      }
      for (const Touch& t : touches_[i]) {
        if (t.write) writes.push_back({t.value, i});
      }
    }
  }

  void Unfinished() {
    std::optional<size_t> last_host;
    for (size_t i = 0; i < n_; ++i) {
      if (f_.code[i].stream == 0) last_host = i;
    }
    for (size_t i = 0; i < n_; ++i) {
      if (touches_[i].empty() || f_.code[i].stream == 0) continue;
      const bool done =
          last_host &&
          (reach_[End(i) * words_ + End(*last_host) / 64] >> (End(*last_host) % 64) & 1);
      if (!done) Add(Kind::kUnfinished, "instruction " + std::to_string(i) + " may still run");
    }
  }

  const Plan& plan_;
  const PlanFunction& f_;
  const size_t n_;
  OracleVerdict verdict_;
  size_t words_ = 0;
  std::vector<uint64_t> reach_;
  std::vector<uint32_t> legal_order_;
  std::vector<std::vector<Touch>> touches_;  // by instruction
  std::map<PlanValueId, uint32_t> writer_;
};

}  // namespace

bool OracleVerdict::has(OracleFault::Kind kind) const {
  return std::any_of(faults.begin(), faults.end(),
                     [&](const OracleFault& f) { return f.kind == kind; });
}

std::string OracleVerdict::ToString() const {
  std::string text;
  for (const OracleFault& f : faults) {
    text += f.text + " [" + f.a + ", " + f.b + "; instructions " + std::to_string(f.first) + ", " +
            std::to_string(f.second) + "]\n";
  }
  return text.empty() ? "safe" : text;
}

OracleVerdict Judge(const Plan& plan) { return Oracle(plan).Run(); }

int64_t HeaviestSet(const Plan& plan, DomainId domain) { return Oracle(plan).Heaviest(domain); }

}  // namespace ge::test
