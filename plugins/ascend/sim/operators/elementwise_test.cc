// Functions of elements against double loops: dtypes, strides, blocks, repetition.
#include <gtest/gtest.h>

#include <cmath>

#include "plugins/ascend/sim/operators/operands_testing.h"

namespace ge_engines::ascend::sim {
namespace {

struct Function {
  const char* name;
  double least, most;
  double (*of)(double);
};
const Function kFunctions[] = {
    {"Abs", -9, 9, [](double x) { return std::fabs(x); }},
    {"Acos", -1, 1, [](double x) { return std::acos(x); }},
    {"Acosh", 1, 9, [](double x) { return std::acosh(x); }},
    {"Asin", -1, 1, [](double x) { return std::asin(x); }},
    {"Asinh", -9, 9, [](double x) { return std::asinh(x); }},
    {"Atan", -9, 9, [](double x) { return std::atan(x); }},
    {"Atanh", -0.5, 0.5, [](double x) { return std::atanh(x); }},
    {"Ceil", -9, 9, [](double x) { return std::ceil(x); }},
    {"Cos", -9, 9, [](double x) { return std::cos(x); }},
    {"Cosh", -4, 4, [](double x) { return std::cosh(x); }},
    {"Erf", -4, 4, [](double x) { return std::erf(x); }},
    {"Exp", -9, 4, [](double x) { return std::exp(x); }},
    {"Floor", -9, 9, [](double x) { return std::floor(x); }},
    {"Gelu", -9, 9, [](double x) { return x / 2 * (1 + std::erf(x / std::sqrt(2))); }},
    {"Hardsigmoid", -5, 5, [](double x) { return std::fmax(0, std::fmin(1, x / 6 + 0.5)); }},
    {"Hardswish", -5, 5, [](double x) { return x * std::fmax(0, std::fmin(1, x / 6 + 0.5)); }},
    {"Log", 0.125, 9, [](double x) { return std::log(x); }},
    {"Neg", -9, 9, [](double x) { return -x; }},
    {"Reciprocal", 0.125, 9, [](double x) { return 1 / x; }},
    {"Relu", -9, 9, [](double x) { return std::fmax(0, x); }},
    {"Round", -9, 9, [](double x) { return std::nearbyint(x); }},
    {"Rsqrt", 0.125, 9, [](double x) { return 1 / std::sqrt(x); }},
    {"Sigmoid", -9, 9, [](double x) { return 1 / (1 + std::exp(-x)); }},
    {"Sign", -1, 1, [](double x) { return x > 0   ? 1.0
                                          : x < 0 ? -1.0
                                                  : 0.0; }},
    {"Silu", -9, 9, [](double x) { return x / (1 + std::exp(-x)); }},
    {"Sin", -9, 9, [](double x) { return std::sin(x); }},
    {"Sinh", -4, 4, [](double x) { return std::sinh(x); }},
    {"Sqrt", 0, 9, [](double x) { return std::sqrt(x); }},
    {"Tan", -1, 1, [](double x) { return std::tan(x); }},
    {"Tanh", -9, 9, [](double x) { return std::tanh(x); }},
};

const Dims kShapes[] = {{}, {0}, {1}, {15}, {16}, {17}, {33}, {3, 1, 5}, {2, 0, 3}, {2, 3, 4, 5}};
const Dims kImages[] = {{1, 1, 1, 1},  {2, 15, 2, 3}, {1, 16, 3, 1},
                        {2, 17, 2, 2}, {1, 33, 1, 2}, {0, 17, 2, 2}};

// Calls use(x, y of the same dims and format).
void EachOperand(acl::DataType type, Random* random,
                 const std::function<void(Operand*, Operand*)>& use) {
  for (const Dims& dims : kShapes) {
    Operand x(dims, type, acl::kNd, Operand::kStrided, random),
        y(dims, type, acl::kNd, Operand::kStrided, random);
    use(&x, &y);
  }
  for (const Dims& dims : kImages) {
    Operand x(dims, type, acl::kNc1hwc0), y(dims, type, acl::kNc1hwc0);
    Operand plain(dims, type, acl::kNd);
    plain.FillRandom(random, 0, 9);
    ASSERT_EQ(Launch("NpuFormatCast", {In(plain), Out(x)}), "");
    use(&x, &y);
  }
}

TEST(Elementwise, FunctionsOfOneTensor) {
  constexpr uint32_t kSeed = 11;
  Random random(kSeed);
  const uint64_t padded = PaddedLaneReads();
  for (const Function& f : kFunctions) {
    for (const acl::DataType type : kRealTypes) {
      EachOperand(type, &random, [&](Operand* x, Operand* y) {
        x->FillRandom(&random, f.least, f.most);
        ASSERT_EQ(Launch(f.name, {In(*x), Out(*y)}), "");
        Reals wanted = x->Values();
        for (double& v : wanted) v = f.of(v);
        ExpectNear(y->Values(), wanted, 2 * BoundOf(type), Label(f.name, x->tensor(), kSeed));
        EXPECT_TRUE(y->OthersAsBefore());
      });
    }
  }
  EXPECT_EQ(PaddedLaneReads(), padded);
}

TEST(Elementwise, IntegersOfOneTensor) {
  Random random(12);
  for (const acl::DataType type : {acl::kI8, acl::kI16, acl::kI32, acl::kI64}) {
    for (const char* name : {"Abs", "Neg", "Relu", "Sign"}) {
      Operand x({3, 17}, type, acl::kNd, Operand::kStrided, &random), y({3, 17}, type);
      x.FillRandom(&random, -100, 100);
      ASSERT_EQ(Launch(name, {In(x), Out(y)}), "");
      Reals wanted = x.Values();
      for (double& v : wanted) {
        for (const Function& f : kFunctions) {
          if (std::string(f.name) == name && std::string(name) != "Sign") v = f.of(v);
        }
        if (std::string(name) == "Sign") v = v > 0 ? 1 : v < 0 ? -1 : 0;
      }
      EXPECT_EQ(y.Values(), wanted) << name;
    }
  }
}

struct Two {
  const char* name;
  double least, most;
  bool flags;
  double (*of)(double, double);
};
const Two kTwo[] = {
    {"Div", 1, 9, false, [](double x, double y) { return x / y; }},
    {"FmodTensor", 1, 9, false, [](double x, double y) { return std::fmod(x, y); }},
    {"Maximum", -9, 9, false, [](double x, double y) { return std::fmax(x, y); }},
    {"Minimum", -9, 9, false, [](double x, double y) { return std::fmin(x, y); }},
    {"Mul", -9, 9, false, [](double x, double y) { return x * y; }},
    {"PowTensorTensor", 1, 3, false, [](double x, double y) { return std::pow(x, y); }},
    {"EqTensor", 0, 1, true, [](double x, double y) { return (x == y) ? 1.0 : 0.0; }},
    {"GeTensor", 0, 1, true, [](double x, double y) { return (x >= y) ? 1.0 : 0.0; }},
    {"GtTensor", 0, 1, true, [](double x, double y) { return (x > y) ? 1.0 : 0.0; }},
    {"LeTensor", 0, 1, true, [](double x, double y) { return (x <= y) ? 1.0 : 0.0; }},
    {"LtTensor", 0, 1, true, [](double x, double y) { return (x < y) ? 1.0 : 0.0; }},
    {"LogicalAnd", 0, 1, true, [](double x, double y) { return (x != 0 && y != 0) ? 1.0 : 0.0; }},
    {"LogicalOr", 0, 1, true, [](double x, double y) { return (x != 0 || y != 0) ? 1.0 : 0.0; }},
    {"LogicalXor", 0, 1, true,
     [](double x, double y) { return ((x != 0) != (y != 0)) ? 1.0 : 0.0; }},
};
const Dims kPairs[][3] = {
    {{}, {}, {}},
    {{17}, {17}, {17}},
    {{17}, {1}, {17}},
    {{}, {3, 2}, {3, 2}},
    {{4, 1, 3}, {5, 1}, {4, 5, 3}},
    {{2, 3, 0}, {3, 1}, {2, 3, 0}},
    {{1}, {2, 33}, {2, 33}},
    {{2, 15, 4}, {2, 15, 4}, {2, 15, 4}},
};

Reals WantedOf(const Two& f, const Operand& x, const Operand& y, const Dims& dims) {
  const Reals a = x.Values(), b = y.Values();
  return Values(Count(dims), [&](int64_t i) {
    return f.of(a[static_cast<size_t>(RepeatedPlace(x.tensor().dims, dims, i))],
                b[static_cast<size_t>(RepeatedPlace(y.tensor().dims, dims, i))]);
  });
}

TEST(Elementwise, FunctionsOfTwoTensors) {
  constexpr uint32_t kSeed = 13;
  Random random(kSeed);
  for (const Two& f : kTwo) {
    for (const acl::DataType type : {acl::kF32, acl::kF16, acl::kBf16, acl::kI32, acl::kI64}) {
      const std::string name = f.name;
      if (!IsReal(type) && (name == "Div" || name == "PowTensorTensor")) continue;
      for (const auto& pair : kPairs) {
        Operand x(pair[0], type, acl::kNd, Operand::kStrided, &random),
            y(pair[1], type, acl::kNd, Operand::kStrided, &random),
            z(pair[2], f.flags ? acl::kBool : type, acl::kNd, Operand::kStrided, &random);
        x.FillRandom(&random, f.least, f.most);
        y.FillRandom(&random, f.least, f.most);
        ASSERT_EQ(Launch(f.name, {In(x), In(y), Out(z)}), "");
        ExpectNear(z.Values(), WantedOf(f, x, y, pair[2]), 2 * BoundOf(type),
                   Label(f.name, z.tensor(), kSeed));
        EXPECT_TRUE(z.OthersAsBefore());
      }
    }
  }
}

TEST(Elementwise, TwoImagesInBlocks) {
  constexpr uint32_t kSeed = 14;
  Random random(kSeed);
  const Two add = {"Add", -9, 9, false, [](double x, double y) { return x - 0.5 * y; }};
  const uint64_t padded = PaddedLaneReads();
  for (const int64_t channels : {1, 15, 16, 17, 33}) {
    for (const acl::DataType type : kRealTypes) {
      const Dims dims = {2, channels, 3, 2}, one = {1, channels, 1, 1};
      Operand x(dims, type, acl::kNc1hwc0), y(one, type, acl::kNc1hwc0),
          z(dims, type, acl::kNc1hwc0);
      x.FillRandom(&random, -9, 9);
      y.FillRandom(&random, -9, 9);
      ASSERT_EQ(Launch("Add", {In(x), In(y), Scalar(-0.5f), Out(z)}), "");
      ExpectNear(z.Values(), WantedOf(add, x, y, dims), BoundOf(type),
                 Label("Add", z.tensor(), kSeed));
      EXPECT_TRUE(z.OthersAsBefore());
    }
  }
  EXPECT_EQ(PaddedLaneReads(), padded);
}

TEST(Elementwise, SumsOfIntegersAreExact) {
  Operand x({2}, acl::kI64), y({2}, acl::kI64), z({2}, acl::kI64);
  x.Fill({0x1p52, 7});
  y.Fill({3, -5});
  ASSERT_EQ(Launch("Add", {In(x), In(y), Whole(2), Out(z)}), "");
  EXPECT_EQ(z.Values(), Reals({0x1p52 + 6, -3}));
  ASSERT_EQ(Launch("Sub", {In(x), In(y), Whole(1), Out(z)}), "");
  EXPECT_EQ(z.Values(), Reals({0x1p52 - 3, 12}));
}

struct Scaled {
  const char* name;
  std::vector<float> numbers;
  double (*of)(double);
};
const Scaled kScaled[] = {
    {"Adds", {3, 0.5f}, [](double x) { return x + 1.5; }},
    {"Clamp", {-1, 2}, [](double x) { return std::fmax(-1, std::fmin(2, x)); }},
    {"Elu", {2, 0.5f, 3}, [](double x) { return x > 0 ? x / 2 : std::expm1(3 * x); }},
    {"LeakyRelu", {0.25f}, [](double x) { return x > 0 ? x : x / 4; }},
    {"Muls", {-3}, [](double x) { return -3 * x; }},
    {"PowTensorScalar", {3}, [](double x) { return x * x * x; }},
    {"Softplus", {2, 20}, [](double x) { return std::log1p(std::exp(2 * x)) / 2; }},
};

TEST(Elementwise, FunctionsOfATensorAndNumbers) {
  constexpr uint32_t kSeed = 15;
  Random random(kSeed);
  for (const Scaled& f : kScaled) {
    for (const acl::DataType type : kRealTypes) {
      EachOperand(type, &random, [&](Operand* x, Operand* y) {
        x->FillRandom(&random, -4, 4);
        Arguments given = {In(*x)};
        for (const float number : f.numbers) given.push_back(Scalar(number));
        given.push_back(Out(*y));
        ASSERT_EQ(Launch(f.name, given), "");
        Reals wanted = x->Values();
        for (double& v : wanted) v = f.of(v);
        ExpectNear(y->Values(), wanted, 2 * BoundOf(type), Label(f.name, x->tensor(), kSeed));
      });
    }
  }
}

TEST(Elementwise, ClampTakesOneBound) {
  Operand x({3}, acl::kI32), y({3}, acl::kI32);
  x.Fill({-5, 0, 5});
  const Argument none = None(Argument::Kind::kScalar);
  ASSERT_EQ(Launch("Clamp", {In(x), Whole(-1), none, Out(y)}), "");
  EXPECT_EQ(y.Values(), Reals({-1, 0, 5}));
  ASSERT_EQ(Launch("Clamp", {In(x), none, Whole(1), Out(y)}), "");
  EXPECT_EQ(y.Values(), Reals({-5, 0, 1}));
  EXPECT_EQ(Launch("Clamp", {In(x), none, none, Out(y)}), "min and max are both null");
}

TEST(Elementwise, ChoicesCastsAndFills) {
  Random random(16);
  Operand condition({3, 1}, acl::kBool), x({4}, acl::kI64), y({3, 4}, acl::kI64),
      z({3, 4}, acl::kI64, acl::kNd, Operand::kStrided, &random);
  condition.Fill({1, 0, 1});
  x.Fill({1, 2, 3, 4});
  y.Fill(Values(12, [](int64_t i) { return 10.0 + static_cast<double>(i); }));
  ASSERT_EQ(Launch("SWhere", {In(condition), In(x), In(y), Out(z)}), "");
  EXPECT_EQ(z.Values(), Reals({1, 2, 3, 4, 14, 15, 16, 17, 1, 2, 3, 4}));
  Operand real({4}, acl::kF16), whole({4}, acl::kI8), flags({4}, acl::kBool);
  real.Fill({-2.75, 0, 0.5, 300});
  ASSERT_EQ(Launch("Cast", {In(real), Number(acl::kI8), Out(whole)}), "");
  EXPECT_EQ(whole.Values(), Reals({-2, 0, 0, 127}));
  ASSERT_EQ(Launch("Cast", {In(real), Number(acl::kBool), Out(flags)}), "");
  EXPECT_EQ(flags.Values(), Reals({1, 0, 1, 1}));
  ASSERT_EQ(Launch("LogicalNot", {In(real), Out(flags)}), "");
  EXPECT_EQ(flags.Values(), Reals({0, 1, 0, 0}));
  ASSERT_EQ(Launch("InplaceCopy", {Out(z), In(real)}), "");
  EXPECT_EQ(z.Values(), Reals({-2, 0, 0, 300, -2, 0, 0, 300, -2, 0, 0, 300}));
  ASSERT_EQ(Launch("InplaceFillScalar", {Out(z), Whole(-7)}), "");
  EXPECT_EQ(z.Values(), Reals(12, -7));
  ASSERT_EQ(Launch("InplaceZero", {Out(z)}), "");
  EXPECT_EQ(z.Values(), Reals(12, 0));
  EXPECT_TRUE(z.OthersAsBefore());
}

}  // namespace
}  // namespace ge_engines::ascend::sim
