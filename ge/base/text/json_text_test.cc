// Bounds of JSON that others may have written, and what is said of text that is none.
#include "ge/base/text/json_text.h"

#include <gtest/gtest.h>

#include <string>

namespace ge {
namespace {

std::string Nested(size_t depth, char open, char close) {
  std::string text;
  for (size_t i = 0; i < depth; ++i) text += open == '{' ? "{\"a\":" : std::string(1, open);
  return text + "1" + std::string(depth, close);
}

TEST(JsonText, DepthIsBoundedBeforeParsing) {
  for (const auto& [open, close] : {std::pair('[', ']'), std::pair('{', '}')}) {
    EXPECT_TRUE(ParseJson(Nested(64, open, close)).ok());
    const auto deep = ParseJson(Nested(65, open, close));
    EXPECT_EQ(deep.status().code(), Code::kDataCorrupt);
    EXPECT_NE(deep.status().message().find("deeper than 64 levels"), std::string::npos);
    EXPECT_FALSE(ParseJson(Nested(1'000'000, open, close)).ok());
    EXPECT_FALSE(ParseJson(Nested(3, open, close), {2, 100}).ok());
  }
  EXPECT_EQ(ParseJson(std::string(100'000, '[')).status().code(), Code::kDataCorrupt);
}

TEST(JsonText, ValuesAreCounted) {
  EXPECT_TRUE(ParseJson("[1,2,{\"a\":[]}]", {8, 6}).ok());
  EXPECT_FALSE(ParseJson("[1,2,3,4,5,6]", {8, 6}).ok());
  EXPECT_FALSE(ParseJson("[[],[],[]]", {8, 6}).ok());
}

TEST(JsonText, StringsHoldWhatTheyLike) {
  const auto text = ParseJson(R"({"[[[[\"[[[,,,\\": "[,[,[\\\\\"", "b": 3})", {2, 5});
  ASSERT_TRUE(text.ok()) << text.status().ToString();
  EXPECT_EQ((*text)["b"], 3);
}

TEST(JsonText, SaysWhereItIsDamaged) {
  EXPECT_NE(ParseJson("[1, 2,, 3]").status().message().find("at byte 7"), std::string::npos)
      << ParseJson("[1, 2,, 3]").status().ToString();
  for (const char* text :
       {"", " ", "[1", "{", "\"", "\"\\", "1e999", "nul", "[]]", "\xff", "'a'"}) {
    EXPECT_EQ(ParseJson(text).status().code(), Code::kDataCorrupt) << text;
  }
}

}  // namespace
}  // namespace ge
