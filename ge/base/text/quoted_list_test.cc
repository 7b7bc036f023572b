#include "ge/base/text/quoted_list.h"

#include <gtest/gtest.h>

namespace ge {
namespace {

using Items = std::vector<std::string_view>;

TEST(QuotedList, SeparatorsBetweenQuotesStay) {
  EXPECT_EQ(*SplitQuoted("", ','), Items());
  EXPECT_EQ(*SplitQuoted("a,b,", ','), (Items{"a", "b"}));
  EXPECT_EQ(*SplitQuoted("a,,b", ','), (Items{"a", "", "b"}));
  EXPECT_EQ(*SplitQuoted("wrt='a,b',x=\"it's, so\",y", ','),
            (Items{"wrt='a,b'", "x=\"it's, so\"", "y"}));
}

TEST(QuotedList, AnEndIsWanted) {
  const auto split = SplitQuoted("a,wrt='b,c", ',');
  ASSERT_FALSE(split.ok());
  EXPECT_EQ(split.status().code(), Code::kInvalidArgument);
  EXPECT_EQ(split.status().message(), "a quote ' has no end in: wrt='b,c");
}

TEST(QuotedList, OnlyAWholePairGoes) {
  EXPECT_EQ(Unquoted("'a;b'"), "a;b");
  EXPECT_EQ(Unquoted("\"\""), "");
  EXPECT_EQ(Unquoted("'a'b'c'"), "'a'b'c'");
  EXPECT_EQ(Unquoted("'"), "'");
  EXPECT_EQ(Unquoted("a"), "a");
}

}  // namespace
}  // namespace ge
