#include "ge/base/text/utf8.h"

#include <gtest/gtest.h>

namespace ge {
namespace {

std::string Of(uint32_t code) {
  std::string s;
  AppendUtf8(code, &s);
  return s;
}

TEST(Utf8, WritesCharactersAtTheEndsOfEachLength) {
  EXPECT_EQ(Of(0), std::string(1, '\0'));
  EXPECT_EQ(Of(0x7f), "\x7f");
  EXPECT_EQ(Of(0x80), "\xc2\x80");
  EXPECT_EQ(Of(0x7ff), "\xdf\xbf");
  EXPECT_EQ(Of(0x800), "\xe0\xa0\x80");
  EXPECT_EQ(Of(0xffff), "\xef\xbf\xbf");
  EXPECT_EQ(Of(0x10000), "\xf0\x90\x80\x80");
  EXPECT_EQ(Of(0x10ffff), "\xf4\x8f\xbf\xbf");
}

TEST(Utf8, WhatIsWrittenIsUtf8) {
  for (uint32_t code = 0; code < 0x120000; code += 0x3f) {
    EXPECT_EQ(IsUtf8(Of(code)), IsCodePoint(code)) << code;
  }
}

TEST(Utf8, RefusesWhatIsNone) {
  EXPECT_TRUE(IsUtf8(""));
  for (const char* bad : {"\x80", "\xc3", "a\xc3", "\xc3(", "\xc0\x80", "\xe0\x80\x80",
                          "\xed\xa0\x80", "\xed\xbf\xbf", "\xf4\x90\x80\x80", "\xff", "\xe2\x82"}) {
    EXPECT_FALSE(IsUtf8(bad)) << bad;
  }
}

}  // namespace
}  // namespace ge
