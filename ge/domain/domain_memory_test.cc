#include "ge/domain/domain_memory.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <set>

struct ge_mem {
  uint64_t bytes = 0;
};
struct ge_engine {
  uint64_t most = UINT64_MAX;  // bytes; beyond them it is out of memory
  uint64_t held = 0, calls = 0;
  std::set<ge_mem*> blocks;
};

namespace ge {
namespace {

ge_rc MemAlloc(ge_engine* e, uint32_t, uint32_t, uint64_t bytes, uint64_t, ge_mem** out,
               void** address, ge_err*) {
  ++e->calls;
  if (bytes > e->most - e->held) return GE_OUT_OF_MEMORY;
  e->held += bytes;
  *out = new ge_mem{bytes};
  *address = *out;
  e->blocks.insert(*out);
  return GE_OK;
}

void MemFree(ge_engine* e, ge_mem* mem) {
  e->held -= mem->bytes;
  EXPECT_EQ(e->blocks.erase(mem), 1u);
  delete mem;
}

struct Fixture {
  ge_engine engine;
  ge_engine_api api{};
  std::optional<DomainMemory> memory;

  explicit Fixture(uint64_t limit, const std::string& id = "0123456789abcdef") {
    api.mem_alloc = MemAlloc;
    api.mem_free = MemFree;
    memory.emplace(DomainMemory::Of{&api, &engine, 0, 0, "sim/0", id, 64, limit},
                   [](const char* call, ge_rc, const ge_err&) {
                     return Status(Code::kResourceExhausted, call);
                   });
  }
  ~Fixture() {
    memory.reset();
    EXPECT_EQ(engine.held, 0u);
  }
  Result<DomainMemory::Lease> Take(uint64_t bytes, uint64_t last = 0) {
    return memory->Take(bytes, 64, last, {"the arena of x", [](const void* text) {
                                            return std::string(static_cast<const char*>(text));
                                          }});
  }
};

TEST(DomainMemory, ArenasShareOneBlockAsLargeAsTheLargest) {
  Fixture f(0);
  for (const uint64_t bytes : {100u, 4000u, 300u, 9000u, 8000u, 64u}) {
    ASSERT_TRUE(f.Take(bytes).ok());
  }
  EXPECT_EQ(f.engine.calls, 3u);  // 100, 4000 and 9000
  EXPECT_EQ(f.memory->counts().arenas, 9000u);
  EXPECT_EQ(f.memory->counts().peak, 9000u);  // a small one goes before a larger one comes
}

TEST(DomainMemory, WhatARunHoldsIsItsOwn) {
  Fixture f(0);
  auto one = f.Take(1000), two = f.Take(1000);
  ASSERT_TRUE(one.ok() && two.ok());
  EXPECT_NE(one->block().mem, two->block().mem);
  f.memory->DropFree();
  EXPECT_EQ(f.engine.held, 2000u);
}

TEST(DomainMemory, GivesARunTheBlockThatItHadBefore) {
  Fixture f(0);
  uint64_t first = 0, second = 0;
  {
    auto one = f.Take(1000), two = f.Take(1000);
    first = one->block().number;
    second = two->block().number;
  }
  EXPECT_NE(first, second);
  for (int k = 0; k < 3; ++k) {
    auto one = f.Take(1000, first), two = f.Take(1000, second);
    EXPECT_EQ(one->block().number, first);
    EXPECT_EQ(two->block().number, second);
  }
}

TEST(DomainMemory, TakesTheSmallestThatIsEnough) {
  Fixture f(0);
  {
    auto large = f.Take(5000), small = f.Take(1000);
    ASSERT_TRUE(large.ok() && small.ok());
  }
  auto lease = f.Take(900);
  EXPECT_EQ(lease->block().bytes, 1000u);
}

TEST(DomainMemory, RefusesBeyondTheLimitByNameAndTheNextIsGood) {
  Fixture f(10'000);
  auto state = f.memory->Make(HeldAs::kState, 4000, 64, "state 'w'");
  ASSERT_TRUE(state.ok());
  ASSERT_TRUE(f.Take(6000).ok());
  const Status refused = f.Take(6001).status();
  EXPECT_EQ(refused.code(), Code::kLimitExceeded);
  EXPECT_EQ(refused.message(),
            "the arena of x needs 6001 bytes of memory 'sim/0' and 4000 bytes are in use there, "
            "the largest state 'w' with 4000 bytes; its limit is 10000 bytes (ge_domain.bytes); "
            "use smaller inputs or fewer runs at once, free other sessions, or leave that engine "
            "out");
  EXPECT_TRUE(f.Take(6000).ok());
  f.memory->Free(*state);
  EXPECT_TRUE(f.Take(10'000).ok());
}

TEST(DomainMemory, FreeArenasGiveWayToPacksAndStates) {
  Fixture f(10'000);
  ASSERT_TRUE(f.Take(8000).ok());
  auto pack = f.memory->Make(HeldAs::kPack, 9000, 64, "the pack of constant 'w'");
  ASSERT_TRUE(pack.ok());
  EXPECT_EQ(f.memory->counts().arenas, 0u);
  EXPECT_EQ(f.memory->counts().packs, 9000u);
  f.memory->Free(*pack);
}

// A device may have less than it says.
TEST(DomainMemory, AsksOnceMoreWithNothingUnused) {
  Fixture f(0);
  f.engine.most = 10'000;
  ASSERT_TRUE(f.Take(8000).ok());
  auto state = f.memory->Make(HeldAs::kState, 9000, 64, "state 'w'");
  ASSERT_TRUE(state.ok());
  const Status refused = f.Take(2000).status();
  EXPECT_EQ(refused.code(), Code::kResourceExhausted);
  EXPECT_EQ(refused.message(), "no memory for the arena of x: mem_alloc");
  f.memory->Free(*state);
  EXPECT_EQ(f.memory->counts().held(), 0u);
}

TEST(DomainMemory, DomainsOfOneIdShareALimit) {
  Fixture one(10'000), two(0), other(0, "another memory..");
  auto held = one.memory->Make(HeldAs::kState, 6000, 64, "state 'w'");
  ASSERT_TRUE(held.ok());
  EXPECT_EQ(two.memory->Make(HeldAs::kState, 6000, 64, "state 'v'").status().code(),
            Code::kLimitExceeded);
  auto apart = other.memory->Make(HeldAs::kState, 60'000, 64, "state 'u'");
  ASSERT_TRUE(apart.ok());
  other.memory->Free(*apart);
  ASSERT_TRUE(one.Take(4000).ok());  // and is free then
  auto more = two.memory->Make(HeldAs::kState, 4000, 64, "state 'v'");
  ASSERT_TRUE(more.ok());
  two.memory->Free(*more);
  one.memory->Free(*held);
}

}  // namespace
}  // namespace ge
