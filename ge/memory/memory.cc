#include "ge/memory/memory.h"

#include <fmt/format.h>

#include <algorithm>

#include "ge/base/checked.h"
#include "ge/memory/blocks.h"
#include "ge/memory/lifetimes.h"
#include "ge/memory/pack.h"
#include "ge/plan/uses.h"

namespace ge {
namespace {

using memory::DomainBlocks;
using memory::PackResult;

// Sizes are sane, and even without any reuse their sum fits in 63 bits, so that nothing below can
// overflow.
Status CheckSizes(const Plan& plan, const PlanFunction& f, int64_t gap) {
  if (gap < 0) {
    return Status(Code::kInvalidArgument, fmt::format("gap_bytes is {}, wanted >= 0", gap));
  }
  std::vector<int64_t> total(plan.domains.size());
  for (PlanValueId v = 1; v < f.values.size(); ++v) {
    const PlanValue& value = f.values[v];
    if (value.domain >= plan.domains.size() || value.bytes < 0 || value.align < 1 ||
        (value.align & (value.align - 1))) {
      return Status(
          Code::kInternal,
          fmt::format("value '{}' has domain {}, {} bytes, alignment {}; wanted a domain "
                      "below {}, bytes >= 0 and a power of two",
                      value.name, value.domain, value.bytes, value.align, plan.domains.size()));
    }
    if ((value.kind == PlanValueKind::kInternal || value.kind == PlanValueKind::kWorkspace) &&
        value.segment >= f.segments.size()) {
      return Status(Code::kInternal, fmt::format("value '{}' belongs to segment {}, wanted below "
                                                 "{}",
                                                 value.name, value.segment, f.segments.size()));
    }
    std::optional<int64_t> sum = total[value.domain];
    for (int64_t part : {value.bytes, gap, value.align}) {
      if (sum) sum = CheckedAdd(*sum, part);
    }
    if (!sum) {
      return Status(Code::kLimitExceeded,
                    fmt::format("the values of memory domain '{}' exceed 2^63 bytes at value '{}' "
                                "of {} bytes; use smaller shapes",
                                plan.domains[value.domain].name, value.name, value.bytes));
    }
    total[value.domain] = *sum;
  }
  return {};
}

// Every block behind the other.
PackResult PackApart(const std::vector<memory::PackBlock>& blocks, int64_t gap) {
  PackResult r;
  r.bytes = gap;  // the first has one before it, too
  for (const memory::PackBlock& b : blocks) {
    const int64_t at = (r.bytes + b.align - 1) & ~(b.align - 1);
    r.offset.push_back(b.bytes ? at : 0);
    if (b.bytes) r.bytes = at + b.bytes;
  }
  return r;
}

// Drops transient arenas of an earlier call and keeps those that others made (constants, states).
void DropTransientArenas(PlanFunction* f) {
  std::vector<int32_t> renumbered(f->arenas.size(), -1);
  std::vector<PlanArena> kept;
  for (size_t a = 0; a < f->arenas.size(); ++a) {
    if (f->arenas[a].use == PlanArena::Use::kTransient) continue;
    renumbered[a] = static_cast<int32_t>(kept.size());
    kept.push_back(f->arenas[a]);
  }
  f->arenas = std::move(kept);
  for (PlanValue& value : f->values) {
    const bool known = value.arena >= 0 && static_cast<size_t>(value.arena) < renumbered.size();
    value.arena = known ? renumbered[value.arena] : -1;
    if (value.kind != PlanValueKind::kOutput) value.alias_of = 0;  // an output's is the caller's
  }
}

void Place(const DomainBlocks& d, const PackResult& r, DomainId domain, Plan* plan,
           PlanFunction* f) {
  const int32_t arena = static_cast<int32_t>(f->arenas.size());
  f->arenas.push_back({domain, PlanArena::Use::kTransient, r.bytes});
  for (size_t b = 0; b < d.blocks.size(); ++b) {
    for (PlanValueId v : d.members[b]) {
      f->values[v].arena = arena;
      f->values[v].offset = r.offset[b];
    }
    plan->domains[domain].align = std::max(plan->domains[domain].align, d.blocks[b].align);
  }
}

struct OwnPlace {
  size_t block;
  int64_t bytes;
};
// The blocks of these values, which are left to the packer without bytes.
std::vector<OwnPlace> TakeOwnPlaces(const std::vector<PlanValueId>& values, DomainBlocks* d) {
  std::vector<OwnPlace> own;
  if (values.empty()) return own;
  for (size_t b = 0; b < d->blocks.size(); ++b) {
    const bool wanted = std::find(values.begin(), values.end(), d->members[b][0]) != values.end();
    if (!wanted || d->blocks[b].bytes == 0) continue;  // no other lies in its place
    own.push_back({b, d->blocks[b].bytes});
    d->blocks[b].bytes = 0;
    d->blocks[b].conflicts.clear();
  }
  return own;
}

Status AssignFunction(Plan* plan, PlanFunction* f, const MemoryOptions& options) {
  GE_RETURN_IF_ERROR(CheckSizes(*plan, *f, options.gap_bytes));
  GE_ASSIGN_OR_RETURN(const std::vector<PlanUses> uses, CollectUses(*f));
  GE_ASSIGN_OR_RETURN(const memory::Lifetimes life, memory::Lifetimes::Make(*f, uses));
  DropTransientArenas(f);
  const memory::Aliases aliases =
      memory::ChooseAliases(*f, life, options.reuse, options.own_places);
  for (PlanValueId v = 1; v < f->values.size(); ++v) {
    if (f->values[v].kind != PlanValueKind::kOutput) f->values[v].alias_of = aliases.of[v];
  }
  for (DomainId domain = 0; domain < plan->domains.size(); ++domain) {
    DomainBlocks d =
        memory::MakeBlocks(*f, uses, life, aliases, domain, options.gap_bytes, options.reuse);
    if (d.blocks.empty()) continue;
    const std::vector<OwnPlace> own = TakeOwnPlaces(options.own_places, &d);
    PackResult packed = !options.reuse    ? PackApart(d.blocks, options.gap_bytes)
                        : d.by_time_alone ? memory::PackInOrder(d.blocks)
                                          : memory::Pack(d.blocks, options.quick);
    for (const OwnPlace& o : own) {
      const int64_t align = d.blocks[o.block].align;
      packed.offset[o.block] = (packed.bytes + align - 1) & ~(align - 1);
      packed.bytes = packed.offset[o.block] + o.bytes;
    }
    Place(d, packed, domain, plan, f);
  }
  return {};
}

}  // namespace

Status AssignMemory(Plan* plan, const MemoryOptions& options) {
  for (PlanFunction& f : plan->functions) {
    GE_RETURN_IF_ERROR(AssignFunction(plan, &f, options));
  }
  return {};
}

}  // namespace ge
