#include "ge/memory/blocks.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace ge::memory {
namespace {

// A smaller value may lie in a greater one's place if it leaves at most this part unused while it
// lives alone: the block keeps the greater size.
bool NearlyFills(int64_t bytes, int64_t place) {
  return bytes > 0 && bytes <= place && place - bytes <= place / 8;
}

class AliasChooser {
 public:
  AliasChooser(const PlanFunction& f, const Lifetimes& life) : f_(f), life_(life) {
    a_.of.resize(f.values.size());
    a_.block.resize(f.values.size());
    std::iota(a_.block.begin(), a_.block.end(), 0);
    overwritten_.resize(f.values.size());
  }

  Aliases Run(bool take) {
    if (!take) return std::move(a_);
    for (uint32_t i = 0; i < f_.code.size(); ++i) {
      if (f_.code[i].op != PlanOp::kLaunch) continue;
      const PlanSegment& s = f_.segments[f_.code[i].segment];
      for (uint32_t o = 0; o < s.outputs.size(); ++o) Output(i, s, o);
      for (PlanValueId v : s.internals) Internal(v);
    }
    return std::move(a_);
  }

 private:
  // Output o of the launch `i` over the smallest input that permits it and ends there.
  void Output(uint32_t i, const PlanSegment& s, uint32_t o) {
    const PlanValueId output = s.outputs[o];
    PlanValueId best = 0;
    for (const auto& [out, in] : s.may_alias) {
      if (out != o || in >= s.inputs.size()) continue;
      const PlanValueId input = s.inputs[in];
      if (!MayOverwrite(i, s, o, input)) continue;
      if (!best || f_.values[input].bytes < f_.values[best].bytes) best = input;
    }
    if (best) Join(output, best);
  }

  bool MayOverwrite(uint32_t i, const PlanSegment& s, uint32_t o, PlanValueId input) const {
    const PlanValue& from = f_.values[input];
    const PlanValue& to = f_.values[s.outputs[o]];
    if (from.kind != PlanValueKind::kTransient || to.kind != PlanValueKind::kTransient) {
      return false;
    }
    if (from.domain != to.domain || !NearlyFills(to.bytes, from.bytes)) return false;
    if (overwritten_[input]) return false;
    // A value given at several positions needs the permission at each of them.
    for (uint32_t p = 0; p < s.inputs.size(); ++p) {
      const std::pair<uint32_t, uint32_t> pair{o, p};
      if (s.inputs[p] == input &&
          std::find(s.may_alias.begin(), s.may_alias.end(), pair) == s.may_alias.end()) {
        return false;
      }
    }
    return life_.OverBefore(input, i, i) && Fits(s.outputs[o], input);
  }

  void Internal(PlanValueId v) {
    const PlanValue& value = f_.values[v];
    const PlanValueId other = value.internal_alias;
    if (!other || other == v || other >= f_.values.size()) return;
    const PlanValue& place = f_.values[other];
    if (place.kind != PlanValueKind::kInternal || place.segment != value.segment ||
        place.domain != value.domain || !NearlyFills(value.bytes, place.bytes)) {
      return;
    }
    // Values of different steps share places without being aliases.
    if (life_.Together(v, other) && Fits(v, other)) Join(v, other);
  }

  // v is never live together with another value of the block than `place`.
  bool Fits(PlanValueId v, PlanValueId place) const {
    const auto found = members_.find(a_.block[place]);
    if (found == members_.end()) return true;
    return std::all_of(found->second.begin(), found->second.end(),
                       [&](PlanValueId m) { return m == place || !life_.Together(m, v); });
  }

  void Join(PlanValueId v, PlanValueId place) {
    // v starts here, so it heads no block of its own yet unless something joined it before.
    if (a_.of[v] || a_.block[v] != v || members_.count(v)) return;
    auto& members = members_[a_.block[place]];
    if (members.empty()) members.push_back(a_.block[place]);
    members.push_back(v);
    a_.of[v] = place;
    a_.block[v] = a_.block[place];
    overwritten_[place] = true;
  }

  const PlanFunction& f_;
  const Lifetimes& life_;
  Aliases a_;
  std::map<PlanValueId, std::vector<PlanValueId>> members_;  // of blocks with more than one
  std::vector<bool> overwritten_;
};

bool InArena(PlanValueKind kind) {
  return kind == PlanValueKind::kTransient || kind == PlanValueKind::kInternal ||
         kind == PlanValueKind::kWorkspace;
}

// Numbers the moments of a function: one for each instruction, and one for each step at which some
// internal value of a launch starts or ends.
class Moments {
 public:
  explicit Moments(const PlanFunction& f) : f_(f), steps_(f.segments.size()) {
    for (uint32_t s = 0; s < f.segments.size(); ++s) {
      for (PlanValueId v : f.segments[s].internals) {
        steps_[s].push_back(f.values[v].first_step);
        steps_[s].push_back(f.values[v].last_step);
      }
      std::sort(steps_[s].begin(), steps_[s].end());
      steps_[s].erase(std::unique(steps_[s].begin(), steps_[s].end()), steps_[s].end());
    }
    uint32_t at = 0;
    for (const Instruction& in : f.code) {
      begin_.push_back(at);
      const bool launch = in.op == PlanOp::kLaunch;
      at += std::max<uint32_t>(1, launch ? static_cast<uint32_t>(steps_[in.segment].size()) : 1);
    }
    begin_.push_back(at);
  }

  void Fill(const Lifetimes& life, PlanValueId v, PackBlock* b) const {
    if (f_.code.empty()) return;
    const PlanValue& value = f_.values[v];
    uint32_t first = begin_[life.first(v)], last = begin_[life.last(v) + 1] - 1;
    if (value.kind == PlanValueKind::kInternal) {
      const auto& steps = steps_[value.segment];
      const auto rank = [&](uint32_t step) {
        return static_cast<uint32_t>(std::lower_bound(steps.begin(), steps.end(), step) -
                                     steps.begin());
      };
      last = first + rank(value.last_step);
      first += rank(value.first_step);
    }
    b->first = std::min(b->first, first);
    b->last = std::max(b->last, last);
  }

 private:
  const PlanFunction& f_;
  std::vector<std::vector<uint32_t>> steps_;  // by segment
  std::vector<uint32_t> begin_;               // by instruction
};

void FindConflicts(const PlanFunction& f, const Lifetimes& life, DomainBlocks* d) {
  std::vector<uint32_t> order(d->blocks.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return d->blocks[a].first < d->blocks[b].first; });
  const auto together = [&](uint32_t a, uint32_t b) {
    for (PlanValueId va : d->members[a]) {
      for (PlanValueId vb : d->members[b]) {
        if (life.Together(va, vb)) return true;
      }
    }
    return false;
  };
  // With the host alone, issue order is time.
  const bool one_stream = f.streams.size() <= 1;
  for (size_t i = 0; i < order.size(); ++i) {
    PackBlock& a = d->blocks[order[i]];
    if (a.bytes == 0) continue;
    for (size_t j = i + 1; j < order.size(); ++j) {
      PackBlock& b = d->blocks[order[j]];
      if (one_stream && b.first > a.last) break;
      if (b.bytes == 0 || !together(order[i], order[j])) continue;
      a.conflicts.push_back(order[j]);
      b.conflicts.push_back(order[i]);
    }
  }
}

}  // namespace

Aliases ChooseAliases(const PlanFunction& f, const Lifetimes& life, bool take) {
  return AliasChooser(f, life).Run(take);
}

DomainBlocks MakeBlocks(const PlanFunction& f, const std::vector<PlanUses>& uses,
                        const Lifetimes& life, const Aliases& aliases, DomainId domain, int64_t gap,
                        bool reuse) {
  DomainBlocks d;
  const Moments moments(f);
  std::vector<uint32_t> index(f.values.size(), UINT32_MAX);
  for (PlanValueId v = 1; v < f.values.size(); ++v) {
    const PlanValue& value = f.values[v];
    const bool used = uses[v].writer != kNoInstruction || !uses[v].readers.empty();
    if (value.domain != domain || !InArena(value.kind) || !used) continue;
    uint32_t& at = index[aliases.block[v]];
    if (at == UINT32_MAX) {
      at = static_cast<uint32_t>(d.blocks.size());
      d.members.emplace_back();
      d.blocks.emplace_back();
      d.blocks.back().first = UINT32_MAX;
    }
    d.members[at].push_back(v);
    PackBlock& b = d.blocks[at];
    b.bytes = std::max(b.bytes, value.bytes > 0 ? value.bytes + gap : 0);
    b.align = std::max(b.align, value.align);
    moments.Fill(life, v, &b);
  }
  if (reuse) FindConflicts(f, life, &d);
  return d;
}

}  // namespace ge::memory
