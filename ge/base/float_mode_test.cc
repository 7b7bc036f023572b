#include "ge/base/float_mode.h"

#include <gtest/gtest.h>

#include <thread>

namespace ge {
namespace {

// A product that is denormal where such numbers are kept, out of the compiler's sight.
float Tiny() {
  volatile float x = 1e-30f, y = 1e-10f;
  return x * y;
}

TEST(FloatMode, ScopesNestAndComeBack) {
  const uint32_t before = FloatControl();
  {
    const FloatModeScope flush(Denormals::kFlush);
    EXPECT_EQ(Tiny(), 0.0f);
    EXPECT_EQ(FloatModeScope::Caller(), before);
    {
      const FloatModeScope keep(Denormals::kKeep);
      EXPECT_GT(Tiny(), 0.0f);
      EXPECT_EQ(FloatModeScope::Caller(), before) << "the outermost one's";
    }
    EXPECT_EQ(Tiny(), 0.0f);
  }
  EXPECT_EQ(FloatControl(), before);
  EXPECT_EQ(FloatModeScope::Caller(), before);
}

// Whatever the caller has set: rounding, traps, flags.
TEST(FloatMode, TheCallersWordIsKeptWhole) {
  const uint32_t before = FloatControl();
  SetFloatControl(before | 0x4001);  // rounds up; a flag is set
  const uint32_t own = FloatControl();
  {
    const FloatModeScope keep(Denormals::kKeep);
    EXPECT_EQ(FloatControl() & 0x6000u, 0u) << "to nearest";
    (void)Tiny();
  }
  EXPECT_EQ(FloatControl(), own);
  SetFloatControl(before);
}

TEST(FloatMode, IsOfOneThread) {
  const FloatModeScope flush(Denormals::kFlush);
  std::thread([] {
    const FloatModeScope keep(Denormals::kKeep);
    EXPECT_GT(Tiny(), 0.0f);
  }).join();
  EXPECT_EQ(Tiny(), 0.0f);
}

TEST(FloatMode, NamesOfDenormals) {
  EXPECT_EQ(*DenormalsFromName("flush", "x"), Denormals::kFlush);
  EXPECT_EQ(*DenormalsFromName("keep", "x"), Denormals::kKeep);
  EXPECT_EQ(DenormalsFromName("zero", "--denormals").status().message(),
            "--denormals is 'zero', wanted flush or keep");
}

}  // namespace
}  // namespace ge
