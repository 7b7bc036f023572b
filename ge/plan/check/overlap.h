// Checks that reads follow their writes, and that values sharing a place are never live together.
#pragma once

#include <cstdint>

#include "ge/base/status.h"
#include "ge/plan/check/lifetimes.h"

namespace ge::check {

// Every read happens after its write, and all work has finished when the function ends.
Status CheckReads(const Lifetimes& life);

// Values sharing bytes are apart in time, or in place by permission. Adds the number of pairs
// sharing bytes to *pairs.
Status CheckOverlaps(const Lifetimes& life, int64_t* pairs);

}  // namespace ge::check
