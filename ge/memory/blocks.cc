#include "ge/memory/blocks.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "ge/memory/conflicts.h"
#include "ge/memory/program_points.h"

namespace ge::memory {
namespace {

// A smaller value may lie in a greater one's place if it leaves at most this part unused while it
// lives alone: the block keeps the greater size.
bool NearlyFills(int64_t bytes, int64_t place) {
  return bytes > 0 && bytes <= place && place - bytes <= place / 8;
}

class AliasChooser {
 public:
  AliasChooser(const PlanFunction& f, const Lifetimes& life,
               const std::vector<PlanValueId>& own_places)
      : f_(f), life_(life) {
    a_.of.resize(f.values.size());
    a_.block.resize(f.values.size());
    std::iota(a_.block.begin(), a_.block.end(), 0);
    overwritten_.resize(f.values.size());
    own_place_.resize(f.values.size());
    for (const PlanValueId v : own_places) {
      if (v < own_place_.size()) own_place_[v] = true;
    }
  }

  Aliases Run(bool take) {
    if (!take) return std::move(a_);
    for (uint32_t i = 0; i < f_.code.size(); ++i) {
      if (f_.code[i].op != PlanOp::kLaunch) continue;
      const PlanSegment& s = f_.segments[f_.code[i].segment];
      Permissions(s);
      for (uint32_t o = 0; o < s.outputs.size(); ++o) Output(i, s, o);
      for (PlanValueId v : s.internals) Internal(v);
    }
    return std::move(a_);
  }

 private:
  // Sorts what the segment permits, so that each output finds its own.
  void Permissions(const PlanSegment& s) {
    permitted_ = s.may_alias;
    std::sort(permitted_.begin(), permitted_.end());
    positions_.clear();
    if (permitted_.empty()) return;
    for (uint32_t p = 0; p < s.inputs.size(); ++p) positions_.emplace_back(s.inputs[p], p);
    std::sort(positions_.begin(), positions_.end());
  }

  // Output o of the launch `i` over the smallest input that permits it and ends there; of several
  // the one at the first position.
  void Output(uint32_t i, const PlanSegment& s, uint32_t o) {
    const PlanValueId output = s.outputs[o];
    PlanValueId best = 0;
    auto it = std::lower_bound(permitted_.begin(), permitted_.end(), std::pair(o, 0u));
    for (; it != permitted_.end() && it->first == o && it->second < s.inputs.size(); ++it) {
      const PlanValueId input = s.inputs[it->second];
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
    auto at = std::lower_bound(positions_.begin(), positions_.end(), std::pair(input, 0u));
    for (; at != positions_.end() && at->first == input; ++at) {
      if (!std::binary_search(permitted_.begin(), permitted_.end(), std::pair(o, at->second))) {
        return false;
      }
    }
    if (!life_.OverBefore(input, i, i)) return false;
    // Of the other values of the input's block only the one in whose place it lies may not be over:
    // what was over before that is over before all that comes behind it.
    const PlanValueId before = a_.of[input];
    return !before || !life_.Together(before, s.outputs[o]);
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

  // The internal value v is never live together with another value of the block than `place`.
  bool Fits(PlanValueId v, PlanValueId place) const {
    const auto found = members_.find(a_.block[place]);
    if (found == members_.end()) return true;
    const Members& block = found->second;
    // In a chain of values in place all but the last are over: nothing to look through.
    const bool over =
        f_.values[v].first_step > (block.latest == place ? block.second_step : block.latest_step);
    return over || std::all_of(block.values.begin(), block.values.end(),
                               [&](PlanValueId m) { return m == place || !life_.Together(m, v); });
  }

  void Join(PlanValueId v, PlanValueId place) {
    if (own_place_[v] || own_place_[place]) return;
    // v starts here, so it heads no block of its own yet unless something joined it before.
    if (a_.of[v] || a_.block[v] != v || members_.count(v)) return;
    Members& members = members_[a_.block[place]];
    if (members.values.empty()) Add(a_.block[place], &members);
    Add(v, &members);
    a_.of[v] = place;
    a_.block[v] = a_.block[place];
    overwritten_[place] = true;
  }

  struct Members {
    std::vector<PlanValueId> values;
    // Of internal values: the one that ends last, its last step, and the last step of the others.
    PlanValueId latest = 0;
    uint32_t latest_step = 0, second_step = 0;
  };

  void Add(PlanValueId v, Members* to) const {
    const uint32_t step = f_.values[v].last_step;
    const bool latest = to->values.empty() || step >= to->latest_step;
    if (!to->values.empty()) {
      to->second_step = std::max(to->second_step, latest ? to->latest_step : step);
    }
    if (latest) {
      to->latest = v;
      to->latest_step = step;
    }
    to->values.push_back(v);
  }

  const PlanFunction& f_;
  const Lifetimes& life_;
  Aliases a_;
  std::unordered_map<PlanValueId, Members> members_;         // of blocks with more than one
  std::vector<std::pair<uint32_t, uint32_t>> permitted_;     // of the segment: output, input
  std::vector<std::pair<PlanValueId, uint32_t>> positions_;  // of the segment's inputs
  std::vector<bool> overwritten_, own_place_;
};

bool InArena(PlanValueKind kind) {
  return kind == PlanValueKind::kTransient || kind == PlanValueKind::kInternal ||
         kind == PlanValueKind::kWorkspace;
}

}  // namespace

Aliases ChooseAliases(const PlanFunction& function, const Lifetimes& life, bool take,
                      const std::vector<PlanValueId>& own_places) {
  return AliasChooser(function, life, own_places).Run(take);
}

DomainBlocks MakeBlocks(const PlanFunction& function, const std::vector<PlanUses>& uses,
                        const Lifetimes& life, const Aliases& aliases, DomainId domain, int64_t gap,
                        bool reuse) {
  DomainBlocks d;
  const ProgramPoints points(function);
  std::vector<BlockMember> members;
  std::vector<bool> writing(std::max<size_t>(1, function.streams.size()));
  for (PlanValueId v = 1; v < function.values.size(); ++v) {
    const PlanValue& value = function.values[v];
    const bool used = uses[v].writer != kNoInstruction || !uses[v].readers.empty();
    if (value.domain != domain || !InArena(value.kind) || !used) continue;
    members.push_back({v, 0, {}});
    if (uses[v].writer != kNoInstruction) writing[function.code[uses[v].writer].stream] = true;
  }
  std::vector<uint32_t> index(function.values.size(), UINT32_MAX);
  for (BlockMember& m : members) {
    const PlanValue& value = function.values[m.value];
    uint32_t& at = index[aliases.block[m.value]];
    if (at == UINT32_MAX) {
      at = static_cast<uint32_t>(d.blocks.size());
      d.members.emplace_back();
      d.blocks.emplace_back();
      d.blocks.back().first = UINT32_MAX;
    }
    d.members[at].push_back(m.value);
    m.block = at;
    m.stay = points.Of(life, m.value, writing);
    PackBlock& b = d.blocks[at];
    b.bytes = std::max(b.bytes, value.bytes > 0 ? value.bytes + gap : 0);
    b.align = std::max(b.align, value.align);
    b.first = std::min(b.first, m.stay.first);
    b.last = std::max(b.last, m.stay.used_last);
    b.until = std::max(b.until, m.stay.until());
  }
  if (reuse) d.by_time_alone = !FindConflicts(life, std::move(members), &d.blocks);
  return d;
}

}  // namespace ge::memory
