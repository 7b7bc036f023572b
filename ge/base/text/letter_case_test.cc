#include "ge/base/text/letter_case.h"

#include <gtest/gtest.h>

namespace ge {
namespace {

std::string Upper(std::string_view text) { return *InCase(text, LetterCase::kUpper); }
std::string Lower(std::string_view text) { return *InCase(text, LetterCase::kLower); }

TEST(LetterCase, OfAscii) {
  EXPECT_EQ(Upper("aZ09[`{@"), "AZ09[`{@");
  EXPECT_EQ(Lower("aZ09[`{@"), "az09[`{@");
  EXPECT_EQ(Lower(""), "");
}

TEST(LetterCase, OfScriptsThatHaveOne) {
  EXPECT_EQ(Upper("äöüÿžłж"), "ÄÖÜŸŽŁЖ");
  EXPECT_EQ(Lower("ÄÖÜŸŽŁЖ"), "äöüÿžłж");
  EXPECT_EQ(Upper("σς"), "ΣΣ");
  EXPECT_EQ(Lower("Σ"), "σ");
  EXPECT_EQ(Lower("𐐀"), "𐐨");  // beyond 16 bits
  EXPECT_EQ(Upper("日本語"), "日本語");
}

// What would become several code points stays.
TEST(LetterCase, OneCodePointForOne) {
  EXPECT_EQ(Upper("straße ﬀ ŉ"), "STRAßE ﬀ ŉ");
  EXPECT_EQ(Lower("İ"), "i");
  EXPECT_EQ(Upper("ıi"), "II");
}

TEST(LetterCase, NoUtf8IsRefused) {
  EXPECT_EQ(InCase("a\xff", LetterCase::kUpper).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(InCase("\xc3", LetterCase::kLower).status().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace ge
