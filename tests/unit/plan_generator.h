// Plan generator, for tests only: random plans over a synchronous host engine and asynchronous
// devices with memory of their own, as COMPILE would leave them: code in a legal order on stream
// 0, no events, no places. The same seed gives the same plan everywhere.
#pragma once

#include <cstdint>

#include "ge/plan/plan.h"

namespace ge::test {

// splitmix64: small, and the same on every machine.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  uint32_t Below(uint32_t n) { return static_cast<uint32_t>(Next() % n); }
  bool Chance(uint32_t percent) { return Below(100) < percent; }

 private:
  uint64_t state_;
};

struct GeneratorOptions {
  uint32_t segments = 12;
  uint32_t async_devices = 1;  // 0..2, each of its own engine
  uint32_t streams_per_device = 2;
  uint32_t host_percent = 40;   // segments on the host's engine
  uint32_t chain_percent = 30;  // segments that continue the latest value
  uint32_t after_percent = 0;   // segments that come after another by order alone
};

// One function with inputs, one constant, states read, internals, workspaces, aliases, outputs.
Plan RandomPlan(uint64_t seed, const GeneratorOptions& options = {});

}  // namespace ge::test
