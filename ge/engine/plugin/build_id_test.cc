#include "ge/engine/plugin/build_id.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

namespace ge {
namespace {

TEST(BuildId, LibrariesHaveOneEach) {
  void* libc = dlopen("libc.so.6", RTLD_NOW);
  ASSERT_NE(libc, nullptr);
  const std::string id = BuildIdAt(dlsym(libc, "malloc_usable_size"));
  EXPECT_EQ(id.size(), 40u) << id;
  EXPECT_EQ(id.find_first_not_of("0123456789abcdef"), std::string::npos) << id;
  EXPECT_EQ(id, BuildIdAt(dlsym(libc, "qsort")));
  EXPECT_NE(id, BuildIdAt(reinterpret_cast<const void*>(&BuildIdAt)));
  dlclose(libc);
}

TEST(BuildId, NowhereHasNone) {
  int here = 0;
  EXPECT_EQ(BuildIdAt(&here), "");
  EXPECT_EQ(BuildIdAt(nullptr), "");
}

}  // namespace
}  // namespace ge
