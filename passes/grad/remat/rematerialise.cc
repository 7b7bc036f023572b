#include "passes/grad/remat/rematerialise.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "passes/grad/entry.h"
#include "passes/grad/kit.h"
#include "passes/grad/remat/checkpoint_segments.h"

namespace ge::grad {
namespace {

// The segment's nodes once more, ahead of the first node of the way back that reads one of them and
// behind the one before it: otherwise nothing would keep them from being computed early.
size_t Repeat(Fn& fn, const CheckpointSegments& s, size_t segment) {
  const ge_graph* g = s.graph();
  std::vector<char> wanted;
  const std::vector<uint32_t> nodes = s.Repeated(segment, &wanted);
  const uint32_t first = s.FirstReader(segment), before = s.LastBehind(first);
  if (nodes.empty() || first == g->n_node || before == UINT32_MAX) return 0;
  CopyNodes copy(g, fn, GE_NODE(g, first)->id);
  copy.After(GE_NODE(g, before)->id);
  for (uint32_t v = 1; v < g->n_value; ++v) {
    if (!s.MadeIn(segment, v) || !wanted[v]) copy.Share(v);
  }
  for (const uint32_t i : nodes) copy.Put(*GE_NODE(g, i));
  const ge_edit* e = fn.edit();
  for (uint32_t i = 0; i < g->n_node; ++i) {
    const ge_node& n = *GE_NODE(g, i);
    for (uint32_t k = 0; s.IsBack(i) && k < n.n_in; ++k) {
      if (!s.Again(n.in[k]) || !s.MadeIn(segment, n.in[k])) continue;
      e->set_input(e->host, fn.id(), n.id, k, copy.Get(n.in[k]).id);
    }
  }
  return nodes.size();
}

// Nodes of the way back that read the way there alone (1 - y * y of Tanh) would be computed with
// it, and kept beside what they are made of: they wait for their turn.
void KeepLate(Fn& fn, const CheckpointSegments& s) {
  constexpr double kSmall = 1.0 / 64;
  const ge_graph* g = s.graph();
  double largest = 0;
  for (uint32_t v = 1; v < g->n_value; ++v) largest = std::max(largest, s.BytesOf(v));
  for (uint32_t i = 0; i < g->n_node; ++i) {
    const ge_node& n = *GE_NODE(g, i);
    if (n.n_out == 0 || s.BytesOf(n.out[0]) < kSmall * largest) continue;
    if (!s.IsBack(i) || n.n_effect > 0 || n.n_after > 0 || n.n_body > 0) continue;
    bool alone = true, reads = false;
    for (uint32_t k = 0; k < n.n_in; ++k) {
      const uint32_t from = n.in[k] != 0 ? GE_VALUE(g, n.in[k])->producer : UINT32_MAX;
      alone = alone && (from == UINT32_MAX || !s.IsBack(from));
      reads = reads || (from != UINT32_MAX && !s.IsBack(from) && GE_NODE(g, from)->n_effect == 0);
    }
    const uint32_t before = alone && reads ? s.LastBehind(i) : UINT32_MAX;
    if (before == UINT32_MAX) continue;
    ge_links links{};
    links.h = GE_HDR(ge_links, GE_TAG_LINKS);
    links.after = &GE_NODE(g, before)->id;
    links.n_after = 1;
    fn.edit()->links(fn.edit()->host, fn.id(), n.id, &links);
  }
}

// All but the last, which the way back reads at once.
void SetAll(CheckpointSegments* s, CheckpointSegments::Level level) {
  for (size_t i = 0; i + 1 < s->count(); ++i) s->SetLevel(i, level);
  s->Settle();
}

// Segments of equal bytes, of which nothing is kept: as many as need the least. Their number is
// about the root of that of the nodes.
void ChooseCount(CheckpointSegments* s) {
  size_t best = 1;
  double least = s->Peak();
  for (size_t count = 2; count <= 64; count += std::max<size_t>(1, count / 4)) {
    s->CutEvenly(count);
    SetAll(s, CheckpointSegments::kNothing);
    const double peak = s->Peak();
    if (peak < least) {
      best = count;
      least = peak;
    }
  }
  s->CutEvenly(best);
  SetAll(s, CheckpointSegments::kNothing);
}

// As the option takes them; rounded up.
std::string Sized(double bytes) {
  const bool many = bytes >= 16 << 20;
  return std::to_string(static_cast<int64_t>(std::ceil(bytes / (many ? 1 << 20 : 1 << 10)))) +
         (many ? "M" : "K");
}

// What each level of each segment saves, and what it costs.
struct Trade {
  double saved = 0, cost = 0;
};
using Trades = std::vector<std::array<Trade, 3>>;

Trades TradesOf(CheckpointSegments* s) {
  Trades trades(s->count());
  for (const CheckpointSegments::Level level :
       {CheckpointSegments::kDear, CheckpointSegments::kNothing}) {
    SetAll(s, level);
    for (size_t i = 0; i < s->count(); ++i) trades[i][level] = {s->BytesSaved(i), s->CostOf(i)};
  }
  SetAll(s, CheckpointSegments::kEverything);
  return trades;
}

// The step that saves most for its price: of one segment, one level or two more. False: none does.
bool TakeStep(const Trades& trades, CheckpointSegments* s) {
  size_t best = s->count();
  CheckpointSegments::Level level = CheckpointSegments::kEverything;
  double most = 0;
  for (size_t i = 0; i < s->count(); ++i) {
    const Trade& was = trades[i][s->level(i)];
    for (const CheckpointSegments::Level next :
         {CheckpointSegments::kDear, CheckpointSegments::kNothing}) {
      const double more = trades[i][next].saved - was.saved;
      const double worth = more / std::max(trades[i][next].cost - was.cost, 1.0);
      if (next > s->level(i) && more > 0 && worth > most) {
        best = i;
        level = next;
        most = worth;
      }
    }
  }
  if (best == s->count()) return false;
  s->SetLevel(best, level);
  s->Settle();
  return true;
}

// What costs least goes first, until the rest has room.
void KeepTo(CheckpointSegments* s, double bytes) {
  constexpr size_t kStretches = 24;  // finer ones keep more that crosses from one to another
  double least = s->Peak();
  if (least <= bytes) return;
  for (const size_t count : {kStretches / 2, kStretches, 2 * kStretches}) {
    s->CutEvenly(count);
    const Trades trades = TradesOf(s);
    while (TakeStep(trades, s)) {
      const double peak = s->Peak();
      if (peak <= bytes) return;
      least = std::min(least, peak);
    }
  }
  throw Refusal{GE_INVALID_ARGUMENT,
                "remat=bytes:" + Sized(bytes) + " cannot be kept to: computed values take " +
                    Sized(least) + " at least; give more, or take a smaller batch"};
}

void WantSizes(const CheckpointSegments& s) {
  const uint32_t v = s.UnknownSize();
  if (v == 0) return;
  const ge_value& value = *GE_VALUE(s.graph(), v);
  const ge_node& maker = *GE_NODE(s.graph(), value.producer);
  throw Refusal{GE_INVALID_ARGUMENT,
                "remat=bytes needs sizes, and that of value " + std::to_string(v) + " '" +
                    std::string(plugin::View(value.name)) + "' of a " +
                    std::string(plugin::View(maker.op)) +
                    " is not known; fix the sizes of the inputs, or say by rows what a size that "
                    "is not known counts as (the batch)"};
}

void Choose(const RematPolicy& policy, CheckpointSegments* s) {
  switch (policy.kind) {
    case RematPolicy::kNone:
      return;
    case RematPolicy::kPieces:
      s->CutEvenly(static_cast<size_t>(policy.pieces));
      return SetAll(s, CheckpointSegments::kNothing);
    case RematPolicy::kAll:
      return ChooseCount(s);
    case RematPolicy::kDots:
      s->CutAtDear();
      return SetAll(s, CheckpointSegments::kDear);
    case RematPolicy::kNames:
      s->CutAtNames(policy.names);
      return SetAll(s, CheckpointSegments::kNothing);
    case RematPolicy::kBytes:
      WantSizes(*s);
      return KeepTo(s, policy.bytes);
  }
}

}  // namespace

size_t Rematerialise(Fn& fn, const Reverse& sweep, const RematPolicy& policy,
                     const std::vector<Val>& kept) {
  if (policy.kind == RematPolicy::kNone) return 0;
  CheckpointSegments s(fn, sweep, kept, policy.rows);
  Choose(policy, &s);
  KeepLate(fn, s);
  size_t nodes = 0;
  for (size_t i = s.count(); i-- > 0;) nodes += Repeat(fn, s, i);
  return nodes;
}

}  // namespace ge::grad
