// Max-live: how many bytes of a domain's transient values must have places of their own.
#pragma once

#include <cstdint>
#include <vector>

#include "ge/plan/check/lifetimes.h"

namespace ge::check {

// By domain; see CheckReport::max_live_bytes for what is counted. Only after CheckOverlaps
// answered OK: it relies on declared aliases being true.
std::vector<int64_t> MaxLiveBytes(const Lifetimes& life, size_t domains);

}  // namespace ge::check
