// Libraries that are there, and a linker's cache, which has NUL-terminated paths among its numbers.
#include "ge/engine/plugin/driver_probe.h"

#include <gtest/gtest.h>

namespace ge {
namespace {

using std::string_view_literals::operator""sv;

TEST(DriverProbe, Libraries) {
  EXPECT_TRUE(LibraryIsThere("libc.so.6"));
  EXPECT_FALSE(LibraryIsThere("libge-nobody-has-this.so.1"));
  EXPECT_FALSE(LibraryIsThere("/nowhere/libc.so.6"));
  EXPECT_TRUE(LibraryIsThere("/proc/self/exe"));
}

TEST(DriverProbe, PathsInALinkersCache) {
  const auto cache = "glibc-ld.so.cache1.1\0\1\2libx.so.1\0/lib/libx.so.1\0/a/liby.so\0"sv;
  EXPECT_EQ(PathInLinkerCache(cache, "libx.so.1"), "/lib/libx.so.1");
  EXPECT_EQ(PathInLinkerCache(cache, "liby.so"), "/a/liby.so");
  EXPECT_EQ(PathInLinkerCache(cache, "y.so"), "");
  EXPECT_EQ(PathInLinkerCache(cache, "libx.so"), "");
  EXPECT_EQ(PathInLinkerCache("no/liby.so\0"sv, "liby.so"), "");
  EXPECT_EQ(PathInLinkerCache("", "liby.so"), "");
}

}  // namespace
}  // namespace ge
