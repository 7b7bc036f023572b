#include "ge/domain/host_copies.h"

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>

namespace ge {
namespace {

// An engine whose waits and signals answer what a test says. Streams and events are numbers.
struct FakeEngine {
  std::set<uint64_t*> streams, events;
  uint64_t made = 0, alone = 0;      // streams; copies without one
  std::deque<ge_rc> signals, waits;  // what the next ones answer; then GE_OK
  uint32_t scope = 0;                // of failures
  bool stalls = false;               // nothing is reached
};

FakeEngine* g_engine = nullptr;

ge_rc Next(std::deque<ge_rc>* answers, ge_err* err) {
  if (answers->empty()) return GE_OK;
  const ge_rc rc = answers->front();
  answers->pop_front();
  err->scope = g_engine->scope;
  return rc;
}

template <typename T>
void MakeOne(std::set<uint64_t*>* all, T** out) {
  auto* one = new uint64_t(0);
  all->insert(one);
  *out = reinterpret_cast<T*>(one);
}

template <typename T>
void DestroyOne(std::set<uint64_t*>* all, T* gone) {
  auto* one = reinterpret_cast<uint64_t*>(gone);
  EXPECT_EQ(all->erase(one), 1u);
  delete one;
}

ge_engine_api FakeApi() {
  ge_engine_api api{};
  api.stream_create = [](ge_engine*, uint32_t, ge_stream** out, ge_err*) -> ge_rc {
    ++g_engine->made;
    MakeOne(&g_engine->streams, out);
    return GE_OK;
  };
  api.stream_destroy = [](ge_stream* s) { DestroyOne(&g_engine->streams, s); };
  api.event_create = [](ge_engine*, uint32_t, ge_event** out, ge_err*) -> ge_rc {
    MakeOne(&g_engine->events, out);
    return GE_OK;
  };
  api.event_destroy = [](ge_event* e) { DestroyOne(&g_engine->events, e); };
  api.copy = [](ge_engine*, const ge_copy* c, ge_err*) -> ge_rc {
    if (c->stream == nullptr) ++g_engine->alone;
    std::memcpy(c->dst.ptr, c->src.ptr, c->src.bytes);
    return GE_OK;
  };
  api.stream_signal = [](ge_stream*, ge_event* e, uint64_t value, ge_err* err) -> ge_rc {
    const ge_rc rc = Next(&g_engine->signals, err);
    if (rc == GE_OK && !g_engine->stalls) *reinterpret_cast<uint64_t*>(e) = value;
    return rc;
  };
  api.event_wait = [](ge_event* e, uint64_t value, uint64_t, ge_err* err) -> ge_rc {
    const ge_rc rc = Next(&g_engine->waits, err);
    if (rc != GE_OK) return rc;
    return *reinterpret_cast<uint64_t*>(e) >= value ? GE_OK : GE_PENDING;
  };
  return api;
}

struct HostCopiesTest : testing::Test {
  FakeEngine engine;
  const ge_engine_api api = FakeApi();
  std::shared_ptr<int> owner = std::make_shared<int>(), used = std::make_shared<int>();
  char from[4] = "abc", to[4] = {};
  ge_err err{};
  std::optional<HostCopies> copies;

  HostCopiesTest() {
    g_engine = &engine;
    Make(true, 1'000'000);
  }
  ~HostCopiesTest() override {
    copies.reset();
    EXPECT_TRUE(engine.streams.empty());
    EXPECT_TRUE(engine.events.empty());
    EXPECT_EQ(used.use_count(), 1);
    EXPECT_EQ(owner.use_count(), 1);
  }
  void Make(bool async, uint64_t limit_ns) {
    copies.emplace(HostCopies::Of{&api, nullptr, 0, async, limit_ns, [this] { return owner; }});
  }
  ge_rc Copy(const Interrupt* call = nullptr) {
    ge_buf a{}, b{};
    a.ptr = from;
    b.ptr = to;
    a.bytes = b.bytes = sizeof from;
    err = {};
    return copies->Copy(a, b, used, call, &err);
  }
};

TEST_F(HostCopiesTest, AreTheEnginesOwnWhereItWaits) {
  Make(false, 0);
  EXPECT_EQ(Copy(), GE_OK);
  EXPECT_STREQ(to, "abc");
  EXPECT_EQ(engine.alone, 1u);
  EXPECT_EQ(engine.made, 0u);
}

TEST_F(HostCopiesTest, OneStreamServesThoseThatFollowEachOther) {
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Copy(), GE_OK);
  EXPECT_STREQ(to, "abc");
  EXPECT_EQ(engine.alone, 0u);
  EXPECT_EQ(engine.made, 1u);
}

TEST_F(HostCopiesTest, ASignalIsTriedAgainAndAFailedWaitIsTold) {
  engine.signals = {GE_OUT_OF_MEMORY};
  EXPECT_EQ(Copy(), GE_OK);
  engine.waits = {GE_OUT_OF_MEMORY};
  EXPECT_EQ(Copy(), GE_OUT_OF_MEMORY);  // it is over: a second wait says so
  engine.waits = {GE_INTERNAL, GE_INTERNAL, GE_INTERNAL};
  EXPECT_EQ(Copy(), GE_INTERNAL);
  EXPECT_EQ(err.scope, static_cast<uint32_t>(GE_SCOPE_CALL));
  EXPECT_EQ(KeptCopies(), 0u);
  EXPECT_EQ(Copy(), GE_OK);
}

TEST_F(HostCopiesTest, WhatNobodyCanAskAboutIsKeptUntilTheDeviceFails) {
  engine.signals = {GE_INTERNAL, GE_INTERNAL, GE_INTERNAL};
  EXPECT_EQ(Copy(), GE_DEVICE_LOST);
  EXPECT_EQ(err.scope, static_cast<uint32_t>(GE_SCOPE_DEVICE));
  EXPECT_EQ(KeptCopies(), 1u);
  EXPECT_EQ(used.use_count(), 2);
  engine.waits = {GE_DEVICE_LOST};
  EXPECT_EQ(KeptCopies(), 0u);
}

TEST_F(HostCopiesTest, AFaultOfTheDeviceEndsThem) {
  engine.scope = GE_SCOPE_DEVICE;
  engine.waits = {GE_INTERNAL};
  EXPECT_EQ(Copy(), GE_INTERNAL);
  EXPECT_EQ(KeptCopies(), 0u);
}

TEST_F(HostCopiesTest, BeyondTheLimitTheDeviceIsLostForAll) {
  engine.stalls = true;
  EXPECT_EQ(Copy(), GE_DEVICE_LOST);
  EXPECT_EQ(std::string(err.msg, err.msg_len),
            "the device did not end a copy within 1 ms, its time limit");
  EXPECT_EQ(KeptCopies(), 1u);
  EXPECT_EQ(owner.use_count(), 2);
  EXPECT_EQ(Copy(), GE_DEVICE_LOST);
  EXPECT_EQ(engine.made, 1u);
  **engine.events.begin() = 1;
  EXPECT_EQ(KeptCopies(), 0u);
}

TEST_F(HostCopiesTest, ACancelledOneIsKeptAndTheNextHasAStreamOfItsOwn) {
  Make(true, 0);
  Interrupt call;
  call.Cancel();
  engine.stalls = true;
  EXPECT_EQ(Copy(&call), GE_CANCELLED);
  EXPECT_EQ(KeptCopies(), 1u);
  engine.stalls = false;
  EXPECT_EQ(Copy(), GE_OK);
  EXPECT_EQ(engine.made, 2u);
  for (uint64_t* reached : engine.events) *reached = 1;
  EXPECT_EQ(KeptCopies(), 0u);
}

}  // namespace
}  // namespace ge
