// Lists of engines with options and quotes, and options as plugins read them.
#include "ge/engine/engine_list.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ge/ge_plugin.hpp"

namespace ge {
namespace {

// "name|options" of each item, or the code and the fault.
std::string Parsed(std::string_view list) {
  auto specs = ParseEngineList(list);
  if (!specs.ok()) return std::string(CodeName(specs.status().code()));
  std::string text;
  for (const EngineSpec& s : *specs) {
    text += fmt::format("{}{}|{}", text.empty() ? "" : " ", s.name, s.options);
  }
  return text;
}

std::string Options(std::string_view text) {
  std::string out;
  for (plugin::OptionText o; plugin::NextOption(&text, &o);) {
    out += fmt::format("{}<{}>", o.key, o.value);
  }
  return out;
}

TEST(EngineList, NamesAndOptions) {
  EXPECT_EQ(Parsed(""), "");
  EXPECT_EQ(Parsed("ref"), "ref|");
  EXPECT_EQ(Parsed("onednn,devsim:wrap=ref;delay=3,./a/b.so"),
            "onednn| devsim|wrap=ref;delay=3 ./a/b.so|");
  EXPECT_EQ(Parsed("a:,b"), "a| b|");
  EXPECT_EQ(Parsed("a:k=;l=2;"), "a|k=;l=2;");
  EXPECT_EQ(Parsed("a:k=x:y=z"), "a|k=x:y=z");    // a colon or equals sign in a value is plain
  EXPECT_EQ(Parsed("a:k=1\"2'3"), "a|k=1\"2'3");  // and so is a quote that does not begin it
}

TEST(EngineList, QuotesProtect) {
  EXPECT_EQ(Parsed("devsim:wrap=\"a;b,c\";delay=7,ref"), "devsim|wrap=\"a;b,c\";delay=7 ref|");
  EXPECT_EQ(Parsed("x:k='a\"b,c'"), "x|k='a\"b,c'");
  EXPECT_EQ(Parsed("\"./a,b:c/d.so\":k=1,'e'"), "./a,b:c/d.so|k=1 e|");
  EXPECT_EQ(Parsed("x:k=\"\""), "x|k=\"\"");
}

TEST(EngineList, Refusals) {
  for (const char* bad : {",", "a,", ",a", "a,,b", ":k=1", "a:k", "a:k=1;l", "a:=1", "a:k=\"1",
                          "'a", "a:k=\"1\"2", "\"a\"b", "a:k='1' ;l=2", "\"\""}) {
    EXPECT_EQ(Parsed(bad), "INVALID_ARGUMENT") << bad;
  }
  EXPECT_NE(ParseEngineList("a:fast").status().message().find(
                "engine list 'a:fast' has the option 'fast' without a value; write key=value"),
            std::string::npos);
  EXPECT_NE(ParseEngineList("a:k=\"x").status().message().find("a quote that does not end"),
            std::string::npos);
  EXPECT_NE(ParseEngineList("a:k=\"x\"y").status().message().find("text behind the quotes of"),
            std::string::npos);
}

TEST(EngineList, Precisions) {
  EXPECT_EQ(*PrecisionFromName("f32", "x"), Precision::kF32);
  EXPECT_EQ(*PrecisionFromName("bf16", "x"), Precision::kBf16);
  EXPECT_EQ(PrecisionFromName("BF16", "--precision").status().message(),
            "--precision is 'BF16', wanted f32 or bf16");
  EXPECT_NE(PrecisionFromName("f16", "x").status().message().find("no engine here multiplies in"),
            std::string::npos);
}

TEST(EngineList, PluginsReadWhatTheHostPassesOn) {
  EXPECT_EQ(Options(""), "");
  EXPECT_EQ(Options("a=1;b=2"), "a<1>b<2>");
  EXPECT_EQ(Options(";a=1;;b=;"), "a<1>b<>");
  EXPECT_EQ(Options("a=\"x;y,z\";b='\"';c=d'e"), "a<x;y,z>b<\">c<d'e>");
  EXPECT_EQ(Options("flag;a=1"), "flag<>a<1>");
  EXPECT_EQ(Options("a=\"never ends"), "a<never ends>");  // no list of the host's passes this on
  const std::string_view text = "wrap=\"a;b,c\";delay=7";
  EXPECT_EQ(plugin::Option(plugin::Str(text), "wrap", "?"), "a;b,c");
  EXPECT_EQ(plugin::Option(plugin::Str(text), "delay", "?"), "7");
  EXPECT_EQ(plugin::Option(plugin::Str(text), "b,c\"", "?"), "?");
}

}  // namespace
}  // namespace ge
