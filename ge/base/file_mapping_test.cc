#include "ge/base/file_mapping.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdio>
#include <cstring>

namespace ge {
namespace {

constexpr uint64_t kBytes = 16 * 4096;

// Memory of `size` bytes 7 at an address, or anywhere: what a heap would hand out next.
std::byte* Anonymous(void* at) {
  void* p = mmap(at, kBytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | (at != nullptr ? MAP_FIXED_NOREPLACE : 0), -1, 0);
  if (p == MAP_FAILED) return nullptr;
  std::memset(p, 7, kBytes);
  return static_cast<std::byte*>(p);
}

TEST(FileMapping, ItsPagesComeBackFromTheFile) {
  FILE* file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  const std::string content(kBytes, 'x');
  ASSERT_EQ(std::fwrite(content.data(), 1, kBytes, file), kBytes);
  ASSERT_EQ(std::fflush(file), 0);
  {
    FileMapping mapping(mmap(nullptr, kBytes, PROT_READ, MAP_PRIVATE, fileno(file), 0), kBytes);
    ASSERT_EQ(static_cast<char>(mapping.data()[kBytes - 1]), 'x');
    DropMappedPages(mapping.data() + 100, kBytes - 100);
    EXPECT_EQ(std::memcmp(mapping.data(), content.data(), kBytes), 0);
  }
  std::fclose(file);
}

// Anonymous memory stands for the file: what is dropped of it is gone, and can be seen.
TEST(FileMapping, OnlyPagesOfALivingOneAreDropped) {
  std::byte* at = nullptr;
  {
    FileMapping mapping(Anonymous(nullptr), kBytes);
    at = mapping.data();
    DropMappedPages(at + 4096, kBytes);  // ends beyond it
    EXPECT_EQ(static_cast<int>(at[4096]), 7);
    DropMappedPages(at + 4096, 4096);
    EXPECT_EQ(static_cast<int>(at[4095]), 7);
    EXPECT_EQ(static_cast<int>(at[4096]), 0);
    EXPECT_EQ(static_cast<int>(at[8192]), 7);
  }
  ASSERT_EQ(Anonymous(at), at);  // other memory at that address now
  DropMappedPages(at, kBytes);
  EXPECT_EQ(static_cast<int>(at[0]), 7);
  EXPECT_EQ(static_cast<int>(at[kBytes - 1]), 7);
  munmap(at, kBytes);
}

}  // namespace
}  // namespace ge
