// Globs over the names of plugins, and lists of digests.
#include "ge/engine/plugin/plugin_filter.h"

#include <gtest/gtest.h>

namespace ge {
namespace {

const std::string kDigest(64, 'a');

TEST(PluginFilter, Globs) {
  EXPECT_EQ(SplitGlobs("a*,b,,c?"), (std::vector<std::string>{"a*", "b", "c?"}));
  EXPECT_TRUE(SplitGlobs("").empty());
  const PluginFilter none, some{{"one*", "ref"}, {}}, but{{}, {"open?las"}}, both{{"*"}, {"ref"}};
  EXPECT_EQ(none.WhySkipped({"anything"}), "");
  EXPECT_EQ(some.WhySkipped({"onednn"}), "");
  EXPECT_EQ(some.WhySkipped({"file", "ref"}), "");  // one of its names is enough
  EXPECT_EQ(some.WhySkipped({"native", "x"}),
            "$GE_PLUGIN_ENABLE is 'one*,ref', which is none of its names (native, x)");
  EXPECT_EQ(but.WhySkipped({"native"}), "");
  EXPECT_EQ(but.WhySkipped({"file", "openblas"}), "'open?las' of $GE_PLUGIN_DISABLE leaves it out");
  EXPECT_EQ(both.WhySkipped({"native"}), "");
  EXPECT_NE(both.WhySkipped({"ref"}), "");  // what is disabled counts more
}

TEST(PluginFilter, AllowLists) {
  auto two = ParseAllowList("# ours\n\n" + kDigest + "  a.so\r\n\t" + std::string(64, 'B'), "list");
  ASSERT_TRUE(two.ok()) << two.status().ToString();
  EXPECT_EQ(*two, (std::set<std::string>{kDigest, std::string(64, 'b')}));
  auto empty = ParseAllowList("", "list");
  ASSERT_TRUE(empty.ok());
  EXPECT_TRUE(empty->empty());
  for (const std::string& bad : {std::string("a.so"), kDigest + "a", std::string(63, 'a'),
                                 std::string(64, 'g'), kDigest + "\nx"}) {
    EXPECT_EQ(ParseAllowList(bad, "list").status().code(), Code::kDataCorrupt) << bad;
  }
  EXPECT_EQ(ParseAllowList(kDigest + "\nx y", "list").status().message(),
            "line 2 of the list 'list' begins with 'x', wanted a SHA-256 digest of 64 hexadecimal "
            "digits, as sha256sum prints it");
}

}  // namespace
}  // namespace ge
