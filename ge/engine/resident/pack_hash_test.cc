#include "ge/engine/resident/pack_hash.h"

#include <gtest/gtest.h>

#include <vector>

namespace ge {
namespace {

std::vector<std::byte> Bytes(size_t n) {
  std::vector<std::byte> out(n);
  uint32_t state = 54;
  for (std::byte& b : out) b = static_cast<std::byte>((state = state * 1664525 + 1013904223) >> 24);
  return out;
}

TEST(PackHash, AllWidthsAgree) {
  for (const size_t n : {0, 1, 16, 17, 128, 129, 240, 241, 1023, 1024, 1025, 4096, 100003}) {
    const auto bytes = Bytes(n + 1);
    for (const size_t from : {0, 1}) {
      const std::span<const std::byte> data(bytes.data() + from, n);
      const uint64_t wanted = PackHashBaseline(data.data(), n);
      EXPECT_EQ(PackHash(data), wanted) << n;
#if defined(__x86_64__)
      if (__builtin_cpu_supports("avx2")) {
        EXPECT_EQ(PackHashAvx2(data.data(), n), wanted) << n;
      }
#endif
    }
  }
}

// It stands in files: those of earlier releases are to be read.
TEST(PackHash, IsXxh3) {
  const auto bytes = Bytes(4096);
  EXPECT_EQ(PackHash({}), 0x2d06800538d394c2u);  // of nothing, as the specification of XXH3 has it
  EXPECT_NE(PackHash(bytes), PackHash(std::span(bytes).first(4095)));
}

}  // namespace
}  // namespace ge
