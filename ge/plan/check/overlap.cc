#include "ge/plan/check/overlap.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "ge/plan/check/describe.h"

namespace ge::check {
namespace {

// "written by instruction 3 (...) and read by instruction 5 (...)"
std::string UsesText(const Lifetimes& life, PlanValueId v) {
  const PlanFunction& f = life.function();
  const Access& a = life.access(v);
  std::string text = a.writer == kNone ? "held since before the run"
                                       : "written by " + InstructionText(f, a.writer);
  if (!a.readers.empty()) {
    text += " and last read by " + InstructionText(f, a.readers.back());
    if (a.readers.size() > 1) text += fmt::format(" of {} readers", a.readers.size());
  }
  if (a.until_end) text += ", kept to the end";
  return text;
}

// The use of a that is not surely finished when b is written, to name the missing order.
uint32_t OpenUse(const Lifetimes& life, PlanValueId a, PlanValueId b) {
  const Access& use = life.access(a);
  const uint32_t w = life.access(b).writer;
  if (w == kNone) return kNone;
  for (uint32_t i : use.readers) {
    if (i != w && !life.timeline().Before(i, w)) return i;
  }
  if (use.writer != kNone && use.writer != w && !life.timeline().Before(use.writer, w)) {
    return use.writer;
  }
  return kNone;
}

Status OverlapFault(const Lifetimes& life, PlanValueId a, PlanValueId b) {
  const PlanFunction& f = life.function();
  std::string text = fmt::format(
      "{} at {} and {} at {} share bytes while both may be live: the first is {}, the second is {}",
      ValueText(f, a), PlaceText(f, a), ValueText(f, b), PlaceText(f, b), UsesText(life, a),
      UsesText(life, b));
  uint32_t open = OpenUse(life, a, b);
  uint32_t writer = life.access(b).writer;
  if (open == kNone) {
    open = OpenUse(life, b, a);
    writer = life.access(a).writer;
  }
  if (open != kNone && writer != kNone) {
    text += fmt::format("; wanted {} ordered before {}, or another place", InstructionText(f, open),
                        InstructionText(f, writer));
  } else {
    text += "; wanted another place for one of them";
  }
  return Fault(f, text);
}

// Places the values of one arena in an order in which happens-before never runs backwards, and
// compares each with the values that last had its bytes instead of with all that ever had them:
// what is over before one of those is over before whatever may follow it.
class ArenaSweep {
 public:
  explicit ArenaSweep(const Lifetimes& life) : life_(life), f_(life.function()) {}

  Status Run(std::vector<PlanValueId> in_arena) {
    std::sort(in_arena.begin(), in_arena.end(), [&](PlanValueId a, PlanValueId b) {
      const auto ka = Key(a), kb = Key(b);
      return ka != kb ? ka < kb : a < b;
    });
    for (PlanValueId v : in_arena) GE_RETURN_IF_ERROR(Put(v));
    return {};
  }

 private:
  struct Piece {  // of the arena's bytes
    int64_t end = 0;
    // Who may still hold them, as far as no later value is known to come after him.
    std::vector<PlanValueId> open;
  };
  using Pieces = std::map<int64_t, Piece>;  // by first byte

  // A clock never falls along happens-before, so its sum grows along every such edge. Of one
  // launch: what lives inside it by steps, then what it leaves behind.
  std::pair<uint64_t, uint32_t> Key(PlanValueId v) const {
    const uint32_t writer = life_.access(v).writer;
    if (writer == kNone) return {0, 0};
    const uint32_t* start = life_.timeline().start(writer);
    const uint64_t sum = std::accumulate(start, start + life_.timeline().streams(), uint64_t{1});
    const PlanValue& value = f_.values[v];
    return {sum, value.kind == PlanValueKind::kTransient ? UINT32_MAX : value.first_step};
  }

  // Cuts the piece that holds byte `at` in two there, if there is one.
  void SplitAt(int64_t at) {
    auto it = pieces_.upper_bound(at);
    if (it == pieces_.begin()) return;
    --it;
    if (it->first == at || it->second.end <= at) return;
    pieces_.emplace(at, it->second);
    it->second.end = at;
  }

  Status Put(PlanValueId v) {
    const int64_t begin = f_.values[v].offset, end = begin + f_.values[v].bytes;
    SplitAt(begin);
    SplitAt(end);
    Pieces kept;  // pieces that v does not have for itself alone
    int64_t at = begin;
    for (auto it = pieces_.lower_bound(begin); it != pieces_.end() && it->first < end;) {
      GE_RETURN_IF_ERROR(Follow(v, &it->second.open));
      if (!it->second.open.empty()) {
        if (at < it->first) kept.emplace(at, Piece{it->first, {v}});
        it->second.open.push_back(v);
        at = it->second.end;
        kept.emplace(it->first, std::move(it->second));
      }
      it = pieces_.erase(it);
    }
    if (at < end) kept.emplace(at, Piece{end, {v}});
    pieces_.merge(kept);
    return {};
  }

  // v may share bytes with all of `open`; leaves those that later values must be compared with too.
  Status Follow(PlanValueId v, std::vector<PlanValueId>* open) const {
    for (PlanValueId a : *open) {
      if (life_.Apart(a, v) || life_.InPlace(a, v) || life_.InPlace(v, a)) continue;
      const bool in_order = std::pair(f_.values[a].offset, a) < std::pair(f_.values[v].offset, v);
      return in_order ? OverlapFault(life_, a, v) : OverlapFault(life_, v, a);
    }
    std::erase_if(*open, [&](PlanValueId a) { return Supersedes(v, a); });
    return {};
  }

  // Whatever may have v's bytes later may have a's.
  bool Supersedes(PlanValueId v, PlanValueId a) const {
    if (life_.Over(a, v)) return true;
    const PlanValue &first = f_.values[a], &next = f_.values[v];
    if (next.kind != PlanValueKind::kInternal) return life_.InPlace(v, a);
    return first.kind == PlanValueKind::kInternal && first.segment == next.segment &&
           first.last_step < next.first_step;
  }

  const Lifetimes& life_;
  const PlanFunction& f_;
  Pieces pieces_;
};

// Pairs of values of one arena that share bytes.
int64_t CountPairs(const PlanFunction& f, const std::vector<PlanValueId>& in_arena) {
  std::vector<int64_t> begins;
  for (PlanValueId v : in_arena) begins.push_back(f.values[v].offset);
  std::sort(begins.begin(), begins.end());
  int64_t pairs = 0;
  for (PlanValueId v : in_arena) {  // with those that begin inside it, behind its first byte
    const int64_t begin = f.values[v].offset, end = begin + f.values[v].bytes;
    pairs += std::lower_bound(begins.begin(), begins.end(), end) -
             std::upper_bound(begins.begin(), begins.end(), begin);
  }
  for (size_t i = 0; i < begins.size();) {  // and those that begin together
    const auto same = std::upper_bound(begins.begin(), begins.end(), begins[i]) - begins.begin();
    const int64_t n = same - static_cast<int64_t>(i);
    pairs += n * (n - 1) / 2;
    i = static_cast<size_t>(same);
  }
  return pairs;
}

}  // namespace

Status CheckReads(const Lifetimes& life) {
  const PlanFunction& f = life.function();
  const Timeline& t = life.timeline();
  for (PlanValueId v = 1; v < f.values.size(); ++v) {
    const Access& a = life.access(v);
    if (a.writer == kNone) continue;
    for (uint32_t reader : a.readers) {
      if (t.Before(a.writer, reader)) continue;
      return Fault(f, fmt::format("{} is written by {} and read by {}, {}", ValueText(f, v),
                                  InstructionText(f, a.writer), InstructionText(f, reader),
                                  t.Before(reader, a.writer) || reader == a.writer
                                      ? "which comes no later; wanted the write first"
                                      : "and nothing orders them; wanted a signal after the first "
                                        "and a wait before the second"));
    }
  }
  for (uint32_t i = 0; i < f.code.size(); ++i) {
    const PlanOp op = f.code[i].op;
    if (op != PlanOp::kLaunch && op != PlanOp::kCopy) continue;
    if (!t.BeforeEnd(i)) {
      return Fault(f, fmt::format("{} may still run when the function ends; wanted a host wait for "
                                  "it",
                                  InstructionText(f, i)));
    }
  }
  return {};
}

Status CheckOverlaps(const Lifetimes& life, int64_t* pairs) {
  const PlanFunction& f = life.function();
  std::vector<std::vector<PlanValueId>> by_arena(f.arenas.size());
  for (PlanValueId v = 1; v < f.values.size(); ++v) {
    const PlanValue& value = f.values[v];
    if (value.arena < 0 || value.bytes == 0 || !life.access(v).used()) continue;
    by_arena[value.arena].push_back(v);
  }
  for (auto& in_arena : by_arena) {
    *pairs += CountPairs(f, in_arena);
    GE_RETURN_IF_ERROR(ArenaSweep(life).Run(std::move(in_arena)));
  }
  return {};
}

}  // namespace ge::check
