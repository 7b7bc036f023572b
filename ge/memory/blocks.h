// Blocks: values of one function grouped into blocks that share a place (aliases), with the pairs
// of blocks that may not share bytes. Decides which permitted aliases are taken. Thread-safe.
#pragma once

#include <vector>

#include "ge/memory/lifetimes.h"
#include "ge/memory/pack.h"
#include "ge/plan/plan.h"
#include "ge/plan/uses.h"

namespace ge::memory {

struct Aliases {
  std::vector<PlanValueId> of;     // by value: the value in whose place it lies, 0 = none
  std::vector<PlanValueId> block;  // by value: the first value of its block (itself when alone)
};

// No alias at all when `take` is false, and none with a value of `own_places`.
Aliases ChooseAliases(const PlanFunction& function, const Lifetimes& life, bool take,
                      const std::vector<PlanValueId>& own_places);

struct DomainBlocks {
  std::vector<std::vector<PlanValueId>> members;  // by block
  std::vector<PackBlock> blocks;                  // conflicts filled when asked
  bool by_time_alone = false;                     // too many conflicts to list: PackInOrder
};

// The values of `domain` for its transient arena. `gap` is added to every block with bytes; without
// `reuse` conflicts stay empty, since all blocks then lie apart.
DomainBlocks MakeBlocks(const PlanFunction& function, const std::vector<PlanUses>& uses,
                        const Lifetimes& life, const Aliases& aliases, DomainId domain, int64_t gap,
                        bool reuse);

}  // namespace ge::memory
