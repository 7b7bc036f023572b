#include "ge/base/aligned.h"

#include <gtest/gtest.h>

#include <cstring>

#include "ge/base/pages.h"
#include "ge/base/sanitizer.h"

namespace ge {
namespace {

TEST(AllocateShared, EverySizeIsAlignedAndWritable) {
  for (const uint64_t bytes : {uint64_t{0}, uint64_t{1}, uint64_t{65535}, uint64_t{65536},
                               uint64_t{100001}, kHugePage - 1, kHugePage, 3 * kHugePage + 5}) {
    const auto block = AllocateShared(bytes);
    ASSERT_NE(block, nullptr) << bytes;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block.get()) % 64, 0u) << bytes;
    std::memset(block.get(), 1, bytes);
  }
}

TEST(AllocateShared, LargeOnesLieWhereHugePagesFit) {
  const auto block = AllocateShared(kHugePage);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(block.get()) % kHugePage, 0u);
}

TEST(AllocateShared, NullWhereThereIsNoMemory) {
  EXPECT_EQ(AllocateShared(UINT64_MAX), nullptr);
#if !GE_ADDRESS_SANITIZER  // whose allocator ends the process
  EXPECT_EQ(AllocateShared(UINT64_MAX / 4), nullptr);
#endif
}

}  // namespace
}  // namespace ge
