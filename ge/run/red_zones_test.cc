#include "ge/run/red_zones.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "ge/base/sanitizer.h"
#include "ge/base/status.h"

namespace ge {
namespace {

// As an engine without AddressSanitizer writes.
#if GE_ADDRESS_SANITIZER
__attribute__((no_sanitize("address"), noinline))
#else
__attribute__((noinline))
#endif
void Stray(void* at, int64_t offset, unsigned char byte) {
  static_cast<volatile unsigned char*>(at)[offset] = byte;
}

class RedZonesTest : public testing::Test {
 protected:
  // In at 0; 'left' of 12 bytes and 'right' of 4 in an arena; out at 0.
  void SetUp() override {
    fn_.values.resize(5);
    Value(1, "in", PlanValueKind::kInput, 8);
    Value(4, "out", PlanValueKind::kOutput, 8);
    Value(2, "left", PlanValueKind::kTransient, 12);

    Value(3, "right", PlanValueKind::kTransient, 4);
    fn_.values[2].arena = fn_.values[3].arena = 0;
    fn_.values[2].offset = 64;
    fn_.values[3].offset = 192;
    fn_.inputs = {1};
    fn_.outputs = {4};
    fn_.streams.resize(1);
    fn_.arenas.push_back({0, PlanArena::Use::kTransient, 260});
    zones_ = std::make_unique<RedZones>(fn_);
    zones_->AddArena(0, arena_);
    ASSERT_TRUE(zones_->MakeGuardedBlocks({}).ok());
    const void* in[] = {input_};
    zones_->Begin(in);
    in_.ptr = zones_->input(0);
    in_.bytes = 8;
    out_.ptr = arena_ + 64;
    out_.bytes = 12;
    launch_.in = &in_;
    launch_.n_in = 1;
    launch_.out = &out_;
    launch_.n_out = 1;
  }

  void Value(PlanValueId id, const char* name, PlanValueKind kind, int64_t bytes) {
    fn_.values[id].name = name;
    fn_.values[id].kind = kind;
    fn_.values[id].bytes = bytes;
  }

  // What a launch that writes `byte` at an offset from `at` is told.
  std::string After(void* at, int64_t offset, unsigned char byte = 1) {
    zones_->Open(launch_);
    Stray(at, offset, byte);
    return zones_->Close(launch_);
  }

  PlanFunction fn_;
  alignas(64) char arena_[320] = {};
  const char input_[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  std::unique_ptr<RedZones> zones_;
  ge_buf in_{}, out_{};
  ge_launch launch_{};
};

TEST_F(RedZonesTest, WhatIsToBeWrittenHoldsNoNumber) {
  zones_->Open(launch_);
  EXPECT_EQ(std::memcmp(in_.ptr, input_, 8), 0);
  for (int i = 0; i < 12; ++i) EXPECT_EQ(static_cast<unsigned char*>(out_.ptr)[i], 0xFF);
  EXPECT_EQ(zones_->Close(launch_), "");
}

TEST_F(RedZonesTest, OwnBytesMayBeWritten) {
  EXPECT_EQ(After(out_.ptr, 0), "");
  EXPECT_EQ(After(out_.ptr, 11), "");
}

TEST_F(RedZonesTest, TheFirstByteBehindAValueIsNamed) {
  EXPECT_EQ(After(out_.ptr, 12),
            "bytes 0 to 0 behind the end of value 'left' of 12 bytes were written");
}

TEST_F(RedZonesTest, TheLastByteBeforeAValueIsNamed) {
  EXPECT_EQ(After(arena_, 191),
            "bytes -1 to -1 before the begin of value 'right' of 4 bytes were "
            "written");
  EXPECT_EQ(After(arena_, 191, 0xA5), "") << "the zone is red again";
}

TEST_F(RedZonesTest, BothEndsOfAnArenaAreRed) {
  EXPECT_NE(After(arena_, 0), "");
  EXPECT_EQ(After(arena_, 0, 0xA5), "");
  EXPECT_NE(After(arena_, 259), "");
}

TEST_F(RedZonesTest, CallersBuffersAreWatchedToTheByte) {
  EXPECT_EQ(After(zones_->output(0), 8),
            "bytes 0 to 0 behind the end of value 'out' of 8 bytes were written");
}

// The values of an arena of the host's own: 'left' at 0, 'right' and 'alias' of it, a byte further.
class ApartTest : public RedZonesTest {
 protected:
  void SetUp() override {
    RedZonesTest::SetUp();
    zones_.reset();
    fn_.values.resize(6);
    Value(5, "alias", PlanValueKind::kTransient, 3);
    fn_.values[5].arena = 0;
    fn_.values[5].offset = 193;
    zones_ = std::make_unique<RedZones>(fn_);
    ASSERT_TRUE(zones_->MakeGuardedBlocks({0}).ok());
    const void* in[] = {input_};
    zones_->Begin(in);
    in_.ptr = zones_->input(0);
    out_.ptr = zones_->place(2);
  }
  // As After, and the run begins anew.
  std::string Again(void* at, int64_t offset, unsigned char byte = 1) {
    const std::string harm = After(at, offset, byte);
    const void* in[] = {input_};
    zones_->Begin(in);
    return harm;
  }
};

TEST_F(ApartTest, ValuesThatShareBytesStayTogether) {
  EXPECT_EQ(static_cast<std::byte*>(zones_->place(5)) - static_cast<std::byte*>(zones_->place(3)),
            1);
  EXPECT_GT(std::abs(static_cast<std::byte*>(zones_->place(3)) -
                     static_cast<std::byte*>(zones_->place(2))),
            static_cast<int64_t>(kFarZone));
  EXPECT_EQ(zones_->place(1), nullptr);
}

TEST_F(ApartTest, WritesFarBehindAndFarBeforeAreNamed) {
  const int64_t most = static_cast<int64_t>(kFarZone) / 2 - 8192;
  for (const int64_t far : {int64_t{0}, int64_t{63}, int64_t{4095}, int64_t{20000}, most}) {
    EXPECT_EQ(Again(out_.ptr, 12 + far),
              fmt::format("bytes {0} to {0} behind the end of value 'left' of 12 bytes were "
                          "written",
                          far));
    EXPECT_EQ(Again(out_.ptr, -1 - far),
              fmt::format("bytes {0} to {0} before the begin of value 'left' of 12 bytes were "
                          "written",
                          -1 - far));
    EXPECT_EQ(Again(out_.ptr, 0), "") << "the zones are red again";
  }
}

TEST_F(ApartTest, AWholeStretchIsNamedFromItsFirstByteToItsLast) {
  const int64_t most = static_cast<int64_t>(kFarZone) / 2 - 8192;
  zones_->Open(launch_);
  for (int64_t i = 0; i < most; ++i) Stray(out_.ptr, 12 + i, 1);
  EXPECT_EQ(zones_->Close(launch_),
            fmt::format("bytes 0 to {} behind the end of value 'left' of 12 bytes were written",
                        most - 1));
}

TEST_F(RedZonesTest, AChangedInputIsNamed) {
  EXPECT_EQ(After(in_.ptr, 7, 99), "input 0, value 'in' of 8 bytes, was written");
}

TEST_F(RedZonesTest, OutputsAreCopiedOut) {
  std::memset(&out_, 0, sizeof out_);
  out_.ptr = zones_->output(0);
  out_.bytes = 8;
  zones_->Open(launch_);
  std::memset(out_.ptr, 7, 8);
  EXPECT_EQ(zones_->Close(launch_), "");
  char mine[8] = {};
  void* outputs[] = {mine};
  zones_->End(outputs);
  EXPECT_EQ(mine[7], 7);
}

#if GE_ADDRESS_SANITIZER
TEST_F(RedZonesTest, OtherValuesCannotBeReadDuringALaunch) {
  zones_->Open(launch_);
  EXPECT_DEATH(static_cast<volatile char*>(arena_)[192] = 1, "use-after-poison");
  EXPECT_DEATH(static_cast<volatile char*>(out_.ptr)[12] = 1, "use-after-poison");
  static_cast<volatile char*>(out_.ptr)[11] = 1;
}
#endif

}  // namespace
}  // namespace ge
