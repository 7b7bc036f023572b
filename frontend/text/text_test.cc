#include "frontend/text/text.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <random>

#include "frontend/text/diff.h"
#include "frontend/text/elements.h"
#include "frontend/text/lexer.h"

namespace ge {
namespace {

constexpr char kRich[] = R"(ge 1
module "m"
producer "p"
opset "" 28
opset "ge" 1
meta "k" = "v"
symbol N in 1..64 multiple 2 from "x axis 0"
loc 1 = "a.py":1:2-3:4 scope "s"
loc 2 = "b.py":5:6 caller 1
const w : f32[2,2] = [1, 2.5, -0, nan]
const e : f32[10] = external "w.bin" @4 +40 sha256 "00"
const z : i64[100] = splat -7
const t : str[2] = ["a", "b\x00"]
state s : f32[2] param trainable init w alias "g"
state h : f16[2] opt init make() master s
fn make() -> (w) {
}
fn main(x: f32[N,4] loc 1, %2: seq(f32[?])) -> (y, _) overload "o" attrs [a] effects [state s, collective 3 seq 4] inline always recursive derived "BWD" of make in "10" out "1" policy "p" pass "q" version "1" jvp make vjp make loc 2 next 99 doc "d" unknown hex"c80c07" {
  value lost: token
  c: f32[2,2] loc 2 = const w
  y: f32[2*N+1,floordiv(N, 4)], _, z = ge.Op(x, _, c, w, lost) {i=1, f=0.1f, s="x", l=[1, 2], fl=[0.5], ty=type pack(make), d=dim N+1, r=$a, k=const t, g=fn make} "name" id 7 calls {body=make} effects [state s, rng 1] after [3] loc 1 from ["a", "b"] from "p" ["c"] hints {remat=never, priority=2} unknown hex"c80c07"
}
entry infer "main" = main
)";

TEST(Text, PrintedTextParsesToTheSameGraph) {
  auto graph = ParseText(kRich, "rich");
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  const std::string text = PrintText(*graph);
  EXPECT_EQ(text, kRich);
  auto again = ParseText(text, "again");
  ASSERT_TRUE(again.ok()) << again.status().ToString();
  EXPECT_EQ(DiffGraphs(*graph, *again), "");
}

// The comparison that the round trips rest on must see a change of every token's meaning.
TEST(Text, DiffSeesEachChange) {
  const std::pair<const char*, const char*> changes[] = {
      {"module \"m\"", "module \"n\""},
      {"opset \"\" 28", "opset \"\" 26"},
      {"\"k\" = \"v\"", "\"k\" = \"w\""},
      {"in 1..64", "in 1..63"},
      {"multiple 2", "multiple 4"},
      {"axis 0", "axis 1"},
      {"1:2-3:4", "1:2-3:5"},
      {"caller 1", ""},
      {"[1, 2.5, -0, nan]", "[1, 2.5, 0, nan]"},
      {"@4 +40", "@8 +40"},
      {"sha256 \"00\"", "sha256 \"01\""},
      {"splat -7", "splat -8"},
      {"\"b\\x00\"", "\"b\\x01\""},
      {"param trainable", "buffer trainable"},
      {"trainable init", "init"},
      {"alias \"g\"", "alias \"h\""},
      {"master s", ""},
      {"overload \"o\"", "overload \"p\""},
      {"attrs [a]", "attrs [b]"},
      {"seq 4", "seq 5"},
      {"inline always", "inline never"},
      {" recursive", ""},
      {"in \"10\"", "in \"11\""},
      {"jvp make", "jvp main"},
      {"next 99", "next 98"},
      {"doc \"d\"", "doc \"e\""},
      {"{\n  value", "unknown hex\"c80c08\" {\n  value"},
      {"lost: token", "lost: zero(token)"},
      {"i=1", "i=2"},
      {"f=0.1f", "f=0.1"},
      {"l=[1, 2]", "l=[1, 3]"},
      {"dim N+1", "dim N+2"},
      {"k=const t", "k=const w"},
      {"\"name\" id 7", "\"name\" id 8"},
      {"calls {body=make}", "calls {body=main}"},
      {"rng 1", "rng 2"},
      {"after [3]", "after [4]"},
      {"loc 1 from", "loc 2 from"},
      {"[\"a\", \"b\"]", "[\"a\"]"},
      {"remat=never", "remat=always"},
      {"priority=2", "priority=3"},
      {"Op(x, _, c, w", "Op(x, _, w, c"},
      {"entry infer", "entry eval"},
      {"(y, _) overload", "(y, x) overload"},
  };
  auto graph = ParseText(kRich, "rich");
  ASSERT_TRUE(graph.ok());
  for (const auto& [from, to] : changes) {
    std::string text = kRich;
    const size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    text.replace(at, std::strlen(from), to);
    auto changed = ParseText(text, "changed");
    ASSERT_TRUE(changed.ok()) << from << ": " << changed.status().ToString();
    EXPECT_NE(DiffGraphs(*graph, *changed), "") << from;
    EXPECT_NE(PrintText(*changed), kRich) << from;
  }
}

// Whatever the text, the parser answers; what it accepts prints and parses again.
// The text of a change that is made in one place would name a function that is not there.
TEST(Text, DiffSeesTheNameOfAFunction) {
  auto one = ParseText("ge 1\nfn a(x: f32[1]) -> (x) {\n}\n", "one");
  auto two = ParseText("ge 1\nfn b(x: f32[1]) -> (x) {\n}\n", "two");
  ASSERT_TRUE(one.ok()) << one.status().ToString();
  ASSERT_TRUE(two.ok()) << two.status().ToString();
  EXPECT_EQ(DiffGraphs(*one, *one), "");
  EXPECT_NE(DiffGraphs(*one, *two).find("name"), std::string::npos) << DiffGraphs(*one, *two);
}

TEST(Text, DamagedTextsAreRefusedOrRoundTrip) {
  std::mt19937 random(1);
  const std::string alphabet = "(){}[]<>,:;=@+-*.%$?\"\\#/ \n0129axN_\xc3\xff";
  for (int i = 0; i < 4000; ++i) {
    std::string text = kRich;
    for (int edits = 1 + static_cast<int>(random() % 3); edits > 0; --edits) {
      const size_t at = random() % text.size();
      switch (random() % 3) {
        case 0:
          text[at] = alphabet[random() % alphabet.size()];
          break;
        case 1:
          text.erase(at, 1 + random() % 8);
          break;
        default:
          text.insert(at, text.substr(random() % text.size(), random() % 12));
      }
    }
    auto graph = ParseText(text, "damaged");
    if (!graph.ok()) {
      EXPECT_NE(graph.status().message().find("damaged:"), std::string::npos);
      continue;
    }
    const std::string printed = PrintText(*graph);
    auto again = ParseText(printed, "printed");
    ASSERT_TRUE(again.ok()) << again.status().ToString() << "\n" << text << "\n---\n" << printed;
    EXPECT_EQ(DiffGraphs(*graph, *again), "") << text;
    EXPECT_EQ(PrintText(*again), printed);
  }
  for (size_t n = 0; n < sizeof kRich; n += 3) {
    const auto graph = ParseText(std::string_view(kRich, n), "cut");
    (void)graph;
  }
}

TEST(Text, IdsOutOfRangeArePrintedAndRefused) {
  Graph g;
  Function& f = g.AddFunction("f");
  Node n;
  n.op = "Op";
  n.id = 1;
  n.inputs = {77};
  n.outputs = {78};
  n.callees.push_back({"body", 9});
  n.effects.push_back({EffectKind::kState, 5, 0});
  n.attrs.push_back({"c", ConstRef{12}});
  f.nodes.push_back(n);
  f.results = {99};
  g.entries.push_back({"e", 44, Entry::Role::kInfer});
  const std::string text = PrintText(g);
  EXPECT_NE(text.find("!77"), std::string::npos);
  EXPECT_NE(text.find("!99"), std::string::npos);
  EXPECT_FALSE(ParseText(text, "t").ok());
}

// What no checked graph holds is still printed, for whoever looks for the fault.
TEST(Text, WhatIsIllegalIsPrintedAsItIs) {
  Graph g;
  const float numbers[] = {1, 2};
  Const c = MakeConst(TensorType(DType::kFloat, std::vector<int64_t>{2}), numbers, sizeof numbers);
  c.name = "short";
  c.type.dims[0] = KnownDim(3);
  g.AddConst(std::move(c));
  Type few;  // of a function: fewer types than parameters
  few.kind = TypeKind::kFunc;
  few.params = 3;
  few.elems = {UnrankedTensor(DType::kFloat)};
  Type tuple;
  tuple.kind = TypeKind::kTuple;
  tuple.elems = {UnrankedTensor(DType::kFloat), UnrankedTensor(DType::kInt64)};
  tuple.field_names = {"one"};
  Type sequence, ragged;
  sequence.kind = TypeKind::kSequence;
  ragged.kind = TypeKind::kRagged;
  ragged.elems = {UnrankedTensor(DType::kFloat)};
  Function& f = g.AddFunction("f");
  for (const Type& t : {few, tuple, sequence, ragged}) {
    f.params.push_back(static_cast<ValueId>(f.values.size()));
    f.values.push_back({});
    f.values.back().type = t;
  }
  const std::string text = PrintText(g);
  for (const char* wanted : {"f32[3] = hex\"0000803f00000040\"", "func((f32[?]) -> ())",
                             "tuple(f32[?], i64[?])", "seq(!)", "ragged(f32[?], !)"}) {
    EXPECT_NE(text.find(wanted), std::string::npos) << wanted << " in\n" << text;
  }
}

TEST(Text, LimitsAreKept) {
  ParseLimits limits;
  limits.max_bytes = 10;
  EXPECT_EQ(ParseText(kRich, "t", limits).status().code(), Code::kLimitExceeded);
  std::string deep = "ge 1\nfn f(x: f32[";
  deep += std::string(100000, '(') + "N" + std::string(100000, ')') + "]) -> () { }";
  EXPECT_EQ(ParseText(deep, "t").status().code(), Code::kLimitExceeded);
  std::string lists = "ge 1\nfn f() -> () { Op() {a=" + std::string(100000, '[') + "} }";
  EXPECT_FALSE(ParseText(lists, "t").ok());
  const std::string elements = "ge 1\nconst c : f32[1] = " + std::string(100000, '[') + "1";
  const std::string said = ParseText(elements, "t").status().ToString();
  EXPECT_NE(said.find("wanted fewer nested lists"), std::string::npos) << said;
}

TEST(Text, WordsOfTheLanguageMayNameDomainsAndOperators) {
  const std::string text =
      "ge 1\nopset \"const\" 1\nfn f(x: f32[2]) -> (y, z) {\n  y = const.Op(x)\n  z = "
      "const(y)\n}\n";
  const auto g = ParseText(text, "t");
  ASSERT_TRUE(g.ok()) << g.status().ToString();
  EXPECT_EQ(PrintText(*g), text);
  EXPECT_EQ(g->functions[1].nodes[0].domain, "const");
  EXPECT_EQ(g->functions[1].nodes[1].op, "const");
}

TEST(Text, DifferencesOfSizesArePrintedAsTheyAreTyped) {
  for (const char* dim : {"N-M", "N-2*M", "2*N-3*M+4", "N+M", "N-5"}) {
    const std::string text =
        std::string("ge 1\nsymbol N\nsymbol M\nfn f(x: f32[") + dim + "]) -> () {\n}\n";
    const auto g = ParseText(text, "t");
    ASSERT_TRUE(g.ok()) << g.status().ToString();
    EXPECT_EQ(PrintText(*g), text);
  }
}

TEST(Text, TypesNestAsDeepAsTheLimitSays) {
  ParseLimits limits;
  limits.max_depth = 3;
  EXPECT_TRUE(ParseText("ge 1\nfn f(x: seq(seq(seq(token)))) -> () {\n}\n", "t", limits).ok());
  EXPECT_EQ(ParseText("ge 1\nfn f(x: seq(seq(seq(seq(token))))) -> () {\n}\n", "t", limits)
                .status()
                .code(),
            Code::kLimitExceeded);
}

TEST(Text, ShownIntsAreComments) {
  auto g = ParseText("ge 1\nfn f(x: f32[N]) -> (s) {\n  s: i64[1] = Shape(x)\n}\n", "t");
  ASSERT_TRUE(g.ok());
  Function& f = g->functions[1];
  f.values[f.results[0]].ints = std::vector<Dim>{f.values[f.params[0]].type.dims[0]};
  const std::string text = PrintText(*g, {false, true});
  EXPECT_NE(text.find("Shape(x)  # holds [N]\n"), std::string::npos) << text;
  EXPECT_TRUE(ParseText(text, "t").ok());
}

TEST(Text, LooksLikeText) {
  EXPECT_TRUE(LooksLikeText("# a comment\n\nge 1\n"));
  EXPECT_FALSE(LooksLikeText("gecko"));
  EXPECT_FALSE(LooksLikeText("# ge 1"));
  EXPECT_FALSE(LooksLikeText(""));
}

// Every 16-bit float, through text and back.
TEST(Elements, AllHalvesAreExact) {
  for (const DType dtype : {DType::kFloat16, DType::kBfloat16}) {
    for (uint32_t bits = 0; bits < 65536; ++bits) {
      const auto value = static_cast<uint16_t>(bits);
      std::string text, bytes;
      if (!text::AppendElement(dtype, reinterpret_cast<const std::byte*>(&value), 0, &text)) {
        const uint32_t fraction = dtype == DType::kFloat16 ? 0x3ff : 0x7f;
        EXPECT_NE(bits & fraction, 0u);  // a NaN with a payload
        continue;
      }
      ASSERT_TRUE(text::ParseElement(dtype, text, &bytes)) << text;
      uint16_t back;
      std::memcpy(&back, bytes.data(), 2);
      ASSERT_EQ(back, value) << text;
    }
  }
}

TEST(Elements, RoundsToNearestEven) {
  auto half = [](const char* text) {
    std::string bytes;
    EXPECT_TRUE(text::ParseElement(DType::kFloat16, text, &bytes));
    uint16_t h;
    std::memcpy(&h, bytes.data(), 2);
    return h;
  };
  EXPECT_EQ(half("1.00048828125"), 0x3c00);  // half way between 1 and the next: to even
  EXPECT_EQ(half("1.00146484375"), 0x3c02);
  EXPECT_EQ(half("65519"), 0x7bff);
  EXPECT_EQ(half("65520"), 0x7c00);
  EXPECT_EQ(half("-1e10"), 0xfc00);
  EXPECT_EQ(half("2e-8"), 0x0000);
  EXPECT_EQ(half("4e-8"), 0x0001);
}

TEST(Elements, RandomFloatsAreExact) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 20000; ++i) {
    const uint64_t bits = random();
    for (const DType dtype : {DType::kFloat, DType::kDouble}) {
      std::string text, bytes;
      if (!text::AppendElement(dtype, reinterpret_cast<const std::byte*>(&bits), 0, &text))
        continue;
      ASSERT_TRUE(text::ParseElement(dtype, text, &bytes)) << text;
      ASSERT_EQ(std::memcmp(bytes.data(), &bits, bytes.size()), 0) << text;
    }
  }
}

TEST(Lexer, QuoteAndUnquoteAreInverse) {
  std::mt19937 random(3);
  for (int i = 0; i < 2000; ++i) {
    std::string bytes(random() % 12, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    const std::string quoted = text::Quote(bytes);
    std::string back;
    ASSERT_TRUE(text::Unquote(std::string_view(quoted).substr(1, quoted.size() - 2), &back));
    EXPECT_EQ(back, bytes);
    EXPECT_EQ(quoted.find('\n'), std::string::npos);
  }
}

}  // namespace
}  // namespace ge
