// Max-live: the bytes of a domain's transient values in need of places of their own.
#pragma once

#include <cstdint>
#include <vector>

#include "ge/plan/check/check.h"
#include "ge/plan/check/lifetimes.h"

namespace ge::check {

// By domain; CheckReport::max_live_bytes says which values count. Only after CheckOverlaps answered
// OK: it relies on declared aliases being true.
std::vector<int64_t> MaxLiveBytes(const Lifetimes& life, size_t domains);

// As ge::LiveBytes says.
std::vector<LiveMoment> LiveMoments(const Lifetimes& life, DomainId domain);

}  // namespace ge::check
