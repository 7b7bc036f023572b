// A timer of streams on an engine with a clock of its own: a piece of work takes 30 us, and the
// host sees its end 100 us late.
#include "ge/tune/stream_timer.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace ge {
namespace {

struct FakeStream {
  uint64_t busy_until = 0;
};
struct FakeEvent {
  uint64_t reached = 0;
};
struct FakeStamps {
  uint64_t ns[2] = {};
};
FakeStream* Fake(ge_stream* s) { return reinterpret_cast<FakeStream*>(s); }
FakeEvent* Fake(ge_event* e) { return reinterpret_cast<FakeEvent*>(e); }
FakeStamps* Fake(ge_stamps* s) { return reinterpret_cast<FakeStamps*>(s); }

constexpr uint64_t kFakeWorkNs = 30'000, kFakeLateNs = 100'000, kFakeCallNs = 50;

uint64_t g_fake_now = 0;
uint32_t g_fakes = 0, g_fake_works = 0;

ge_engine_api FakeApi(bool stamps) {
  ge_engine_api api{};
  api.stream_create = [](ge_engine*, uint32_t, ge_stream** out, ge_err*) -> ge_rc {
    ++g_fakes;
    return *out = reinterpret_cast<ge_stream*>(new FakeStream), GE_OK;
  };
  api.stream_destroy = [](ge_stream* s) {
    --g_fakes;
    delete Fake(s);
  };
  api.event_create = [](ge_engine*, uint32_t, ge_event** out, ge_err*) -> ge_rc {
    ++g_fakes;
    return *out = reinterpret_cast<ge_event*>(new FakeEvent), GE_OK;
  };
  api.event_destroy = [](ge_event* e) {
    --g_fakes;
    delete Fake(e);
  };
  api.stream_signal = [](ge_stream* s, ge_event* e, uint64_t, ge_err*) -> ge_rc {
    return Fake(e)->reached = std::max(Fake(s)->busy_until, g_fake_now), GE_OK;
  };
  api.event_wait = [](ge_event* e, uint64_t, uint64_t, ge_err*) -> ge_rc {
    return g_fake_now = std::max(g_fake_now, Fake(e)->reached + kFakeLateNs), GE_OK;
  };
  if (!stamps) return api;
  api.stamps_create = [](ge_engine*, uint32_t, uint32_t, ge_stamps** out, ge_err*) -> ge_rc {
    ++g_fakes;
    return *out = reinterpret_cast<ge_stamps*>(new FakeStamps), GE_OK;
  };
  api.stamps_destroy = [](ge_stamps* s) {
    --g_fakes;
    delete Fake(s);
  };
  api.stream_stamp = [](ge_stream* s, ge_stamps* to, uint32_t i, ge_err*) -> ge_rc {
    return Fake(to)->ns[i] = std::max(Fake(s)->busy_until, g_fake_now), GE_OK;
  };
  api.stamps_read = [](ge_stamps* s, uint32_t first, uint32_t n, uint64_t* ns, ge_err*) -> ge_rc {
    return std::copy_n(Fake(s)->ns + first, n, ns), GE_OK;
  };
  return api;
}

Status FakeWork(ge_stream* s) {
  g_fake_now += kFakeCallNs;
  ++g_fake_works;
  Fake(s)->busy_until = std::max(Fake(s)->busy_until, g_fake_now) + kFakeWorkNs;
  return {};
}

Result<StreamTimer::Times> TimedByFake(const ge_engine_api& api, int pieces, bool stamps) {
  g_fake_works = 0;
  auto timer = StreamTimer::Make(api, nullptr, "dev", 0, [] { return double(g_fake_now); });
  GE_RETURN_IF_ERROR(timer.status());
  EXPECT_EQ((*timer)->has_stamps(), stamps);
  return (*timer)->Time(FakeWork, pieces);
}

TEST(StreamTimerTest, TheRoundTripIsNoWork) {
  for (const bool stamps : {true, false}) {
    const ge_engine_api api = FakeApi(stamps);
    for (const int pieces : {1, StreamTimer::kPieces}) {
      const auto times = TimedByFake(api, pieces, stamps);
      ASSERT_TRUE(times.ok()) << times.status().ToString();
      EXPECT_NEAR(times->one_ns, kFakeWorkNs, 2 * kFakeCallNs) << stamps << " " << pieces;
      EXPECT_NEAR(times->visit_ns, kFakeLateNs, 2 * kFakeCallNs * pieces)
          << stamps << " " << pieces;
      EXPECT_EQ(g_fake_works, static_cast<uint32_t>(stamps ? pieces : 3 * pieces));
    }
  }
  EXPECT_EQ(g_fakes, 0u);
}

TEST(StreamTimerTest, FailuresAreTheEnginesAndLeaveNothing) {
  ge_engine_api api = FakeApi(true);
  api.stream_stamp = [](ge_stream*, ge_stamps*, uint32_t, ge_err*) -> ge_rc {
    return GE_UNAVAILABLE;
  };
  const auto times = TimedByFake(api, 1, true);
  ASSERT_FALSE(times.ok());
  EXPECT_NE(times.status().message().find("stream_stamp"), std::string::npos)
      << times.status().message();
  EXPECT_EQ(g_fakes, 0u);
}

}  // namespace
}  // namespace ge
