// The sign of zero: what native makes of 0 and -0 is what ref does, bit for bit, for functions that
// keep or turn it, by vectors and in what is left behind them.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "frontend/text/text.h"
#include "tests/unit/graph_session.h"

namespace ge::test {
namespace {

constexpr int64_t kCount = 37;  // vectors of every width, and a rest

const std::vector<std::string>& Calls() {
  static const std::vector<std::string> calls = {"Neg(x)",
                                                 "Tanh(x)",
                                                 "Sin(x)",
                                                 "Tan(x)",
                                                 "Asin(x)",
                                                 "Atan(x)",
                                                 "Sinh(x)",
                                                 "Asinh(x)",
                                                 "Atanh(x)",
                                                 "Erf(x)",
                                                 "Sqrt(x)",
                                                 "Floor(x)",
                                                 "Ceil(x)",
                                                 "Round(x)",
                                                 "Sign(x)",
                                                 "Abs(x)",
                                                 "Elu(x)",
                                                 "LeakyRelu(x)",
                                                 "Selu(x)",
                                                 "Softsign(x)",
                                                 "Sum(x)",
                                                 "Max(x)",
                                                 "Mul(x, two)",
                                                 "Mul(x, less)",
                                                 "Mul(two, x)",
                                                 "Mul(x, zero)",
                                                 "Mul(x, y)",
                                                 "Div(x, two)",
                                                 "Div(x, less)",
                                                 "Div(x, y)",
                                                 "Add(x, zero)",
                                                 "Sub(x, zero)",
                                                 "Sub(zero, x)",
                                                 "Pow(x, one)",
                                                 "Mod(x, one) {fmod=1}",
                                                 "Mod(x, less) {fmod=1}",
                                                 "Mod(x, y) {fmod=1}"};
  return calls;
}

std::string TextOf(const std::string& dtype) {
  const std::string type = dtype + "[" + std::to_string(kCount) + "]";
  std::string text = "ge 1\nopset \"\" 28\n", results;
  for (const char* c : {"zero : @[] = 0", "one : @[] = 1", "two : @[] = 2", "less : @[] = -3"}) {
    std::string line = c;
    text += "const " + line.replace(line.find('@'), 1, dtype) + "\n";
  }
  std::string body;
  for (size_t i = 0; i < Calls().size(); ++i) {
    const std::string name = "r" + std::to_string(i);
    results += (i == 0 ? "" : ", ") + name;
    body.append("  ").append(name).append(": ").append(type).append(" = ");
    body.append(Calls()[i]).append("\n");
  }
  return text + "fn main(x: " + type + ", y: " + type + ") -> (" + results + ") {\n" + body +
         "}\nentry infer \"main\" = main\n";
}

// 0, -0, 0, ... and ones, in a type of so many bytes; `one`: the bits of 1 there.
Bytes InputsOf(size_t width, uint64_t one) {
  Bytes in(2, std::vector<char>(kCount * width, 0));
  for (size_t i = 0; i < kCount; ++i) {
    if (i % 2 != 0) in[0][(i + 1) * width - 1] = static_cast<char>(0x80);
    std::copy_n(reinterpret_cast<const char*>(&one), width, &in[1][i * width]);
  }
  return in;
}

Bytes RunOn(const std::string& engines, const std::string& text, DType dtype, Bytes in) {
  auto graph = ParseText(text, "zeros.gt");
  EXPECT_TRUE(graph.ok()) << graph.status().ToString();
  if (!graph.ok()) return {};
  auto session = OpenGraph(engines, *std::move(graph));
  EXPECT_TRUE(session.ok()) << session.status().ToString();
  if (!session.ok()) return {};
  std::vector<TensorView> views, results(Calls().size());
  for (auto& bytes : in) views.push_back({dtype, {kCount}, bytes.data(), bytes.size()});
  Bytes out(Calls().size(), std::vector<char>(in[0].size(), 'x'));
  for (size_t i = 0; i < out.size(); ++i) {
    results[i].data = out[i].data();
    results[i].bytes = out[i].size();
  }
  const Status ran = (*session)->Run("main", views, results);
  EXPECT_TRUE(ran.ok()) << ran.ToString();
  return out;
}

TEST(ZeroSigns, NativeMakesThoseOfTheReference) {
  struct Float {
    const char* text;
    DType type;
    size_t width;
    uint64_t one;
  };
  for (const Float& f : {Float{"f32", DType::kFloat, 4, 0x3f800000},
                         Float{"f64", DType::kDouble, 8, 0x3ff0000000000000},
                         Float{"f16", DType::kFloat16, 2, 0x3c00}}) {
    const std::string text = TextOf(f.text);
    const Bytes in = InputsOf(f.width, f.one);
    const Bytes want = RunOn("ref", text, f.type, in), got = RunOn("native,ref", text, f.type, in);
    ASSERT_EQ(want.size(), got.size());
    size_t minus = 0;
    for (size_t i = 0; i < want.size(); ++i) {
      EXPECT_EQ(want[i], got[i]) << f.text << ": " << Calls()[i];
      minus += want[i][f.width - 1] != 0 || want[i][2 * f.width - 1] != 0;
    }
    EXPECT_GT(minus, Calls().size() / 2) << "-0 of functions that keep or turn it";
  }
}

}  // namespace
}  // namespace ge::test
