// FindConflicts: finds the pairs of blocks that may not share bytes. Thread-safe.
#pragma once

#include <vector>

#include "ge/memory/lifetimes.h"
#include "ge/memory/pack.h"
#include "ge/memory/program_points.h"
#include "ge/plan/plan.h"

namespace ge::memory {

struct BlockMember {
  PlanValueId value = 0;
  uint32_t block = 0;
  Stay stay;
};

// Fills PackBlock::conflicts from the members of all blocks, by a walk through time that compares a
// value with the live ones when it starts. False, with no conflict left in any block, when the
// pairs would fill memory: n values live together have n^2 / 2.
bool FindConflicts(const Lifetimes& life, std::vector<BlockMember> members,
                   std::vector<PackBlock>* blocks);

}  // namespace ge::memory
