// Dtypes' numbers, formats of storage and their padding, and what a first phase refuses.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "plugins/ascend/sim/operators/operands_testing.h"

namespace ge_engines::ascend::sim {
namespace {

TEST(Numbers, HalvesAreRoundedToNearestEven) {
  for (uint32_t code = 0; code < 0x10000; ++code) {
    const auto half = static_cast<uint16_t>(code);
    const float x = FloatOfHalf(half);
    if (std::isnan(x)) {
      EXPECT_TRUE(std::isnan(FloatOfHalf(HalfOf(x))));
    } else {
      ASSERT_EQ(HalfOf(x), half);
    }
    const float brain = FloatOfBrain(half);
    if (!std::isnan(brain)) {
      ASSERT_EQ(BrainOf(brain), half);
    }
    if ((code & 0x7fffu) >= 0x7bffu) continue;  // there is no next one
    // Half way to the next, the even one; a little off, the nearer one.
    const float next = FloatOfHalf(static_cast<uint16_t>(half + 1)), middle = (x + next) / 2;
    ASSERT_EQ(HalfOf(middle), code % 2 == 0 ? half : half + 1) << code;
    ASSERT_EQ(HalfOf(std::nextafter(middle, x)), half);
    ASSERT_EQ(HalfOf(std::nextafter(middle, next)), half + 1);
  }
  EXPECT_EQ(HalfOf(65519.99f), 0x7bff);
  EXPECT_EQ(HalfOf(65520.0f), 0x7c00);
  EXPECT_EQ(HalfOf(-1e30f), 0xfc00);
  EXPECT_EQ(BrainOf(std::bit_cast<float>(0x3f808000u)), 0x3f80);
  EXPECT_EQ(BrainOf(std::bit_cast<float>(0x3f818000u)), 0x3f82);
  EXPECT_EQ(BrainOf(std::bit_cast<float>(0x3f808001u)), 0x3f81);
}

TEST(Numbers, PoisonIsKnownInEachDtype) {
  const auto poison = std::bit_cast<float>(kPoison);
  EXPECT_TRUE(IsPoison(poison));
  EXPECT_TRUE(IsPoison(FloatOfHalf(HalfOf(poison))));
  EXPECT_TRUE(IsPoison(FloatOfBrain(BrainOf(poison))));
  EXPECT_TRUE(IsPoison(-poison));
  EXPECT_TRUE(IsPoison(poison * 3 + 1));
  EXPECT_FALSE(IsPoison(std::nanf("")));
  EXPECT_FALSE(IsPoison(0));
}

TEST(Numbers, RealsAreCutWithinTheirIntegers) {
  EXPECT_EQ(ElementOf<int8_t>(-2.9f), -2);
  EXPECT_EQ(ElementOf<int8_t>(1e9f), 127);
  EXPECT_EQ(ElementOf<uint8_t>(-3.0f), 0);
  EXPECT_EQ(ElementOf<int64_t>(0x1p63f), INT64_MAX);
  EXPECT_EQ(ElementOf<int64_t>(-0x1p63f), INT64_MIN);
  EXPECT_EQ(ElementOf<int32_t>(std::nanf("")), 0);
}

struct Stored {
  Dims dims;
  acl::Format format;
  Operand::Layout layout;
};

std::vector<Stored> StoredOnes() {
  std::vector<Stored> all;
  for (const int64_t size : {0, 1, 15, 16, 17, 33}) {
    all.push_back({{2, size, 2, 3}, acl::kNc1hwc0, Operand::kDense});
    all.push_back({{1, size, 1, 1}, acl::kNc1hwc0, Operand::kDense});
    for (const Operand::Layout layout : {Operand::kDense, Operand::kTurned}) {
      all.push_back({{size, 17}, acl::kFractalNz, layout});
      all.push_back({{2, 3, 1, size}, acl::kFractalNz, layout});
    }
  }
  return all;
}

TEST(Formats, ThereAndBack) {
  Random random(61);
  const uint64_t padded = PaddedLaneReads();
  for (const acl::DataType type : kRealTypes) {
    for (const Stored& s : StoredOnes()) {
      Operand x(s.dims, type, acl::kNd, Operand::kStrided, &random),
          y(s.dims, type, s.format, s.layout),
          z(s.dims, type, acl::kNd, Operand::kStrided, &random);
      x.FillRandom(&random, -9, 9);
      ASSERT_EQ(Launch("NpuFormatCast", {In(x), Out(y)}), "") << Label("cast", y.tensor(), 61);
      EXPECT_EQ(y.Values(), x.Values()) << Label("cast", y.tensor(), 61);
      EXPECT_TRUE(y.OthersAsBefore()) << Label("padding", y.tensor(), 61);
      ASSERT_EQ(Launch("NpuFormatCast", {In(y), Out(z)}), "");
      EXPECT_EQ(z.Values(), x.Values());
      EXPECT_TRUE(z.OthersAsBefore());
    }
  }
  EXPECT_EQ(PaddedLaneReads(), padded);
}

// All places that hold no element, and no others.
TEST(Formats, PaddingIsFilled) {
  for (const acl::DataType type : kRealTypes) {
    for (const Stored& s : StoredOnes()) {
      const Operand y(s.dims, type, s.format, s.layout);
      const Reals before = y.Values();
      FillPadding(y.tensor(), 7);
      int64_t filled = 0;
      const int64_t all = Count(y.tensor().storage);
      for (int64_t i = 0; i < all; ++i) filled += y.At(i) == 7 ? 1 : 0;
      EXPECT_EQ(filled, all - y.count()) << Label("filled", y.tensor(), 0);
      EXPECT_EQ(y.Values(), before) << Label("filled", y.tensor(), 0);
    }
  }
}

// Who reads a private format's storage as if it were dense meets the padding, whatever becomes of
// it.
TEST(Formats, ReadingThePaddingIsCounted) {
  for (const acl::DataType type : kRealTypes) {
    Operand x({1, 17, 2, 2}, type, acl::kNc1hwc0), plain({1, 17, 2, 2}, type),
        flags({1, 2, 2, 2, 16}, acl::kBool);
    plain.FillRandom(std::make_unique<Random>(62).get(), -9, 9);
    ASSERT_EQ(Launch("NpuFormatCast", {In(plain), Out(x)}), "");
    const Dims storage = {1, 2, 2, 2, 16};
    const Operand dense = x.As(storage, DenseStrides(storage), acl::kNd, storage);
    const uint64_t before = PaddedLaneReads();
    ASSERT_EQ(Launch("GtTensor", {In(dense), In(dense), Out(flags)}), "");
    EXPECT_EQ(PaddedLaneReads() - before, 2u * 4 * 15);  // both operands, fifteen lanes a place
  }
}

// ---- refusals ----------------------------------------------------------------------------------

// A tensor of a first phase, whose data nobody reads.
struct Seen {
  Dims dims;
  acl::DataType type = acl::kF32;
  acl::Format format = acl::kNd;
};
Argument At(const Seen& seen, Argument::Kind kind = Argument::Kind::kIn) {
  Argument a;
  a.kind = kind;
  a.tensor.dims = seen.dims;
  a.tensor.strides = DenseStrides(seen.dims);
  a.tensor.type = seen.type;
  a.tensor.format = seen.format;
  a.tensor.storage = seen.dims;
  a.tensor.data = reinterpret_cast<void*>(uintptr_t{512});
  return a;
}
Argument To(const Seen& seen) { return At(seen, Argument::Kind::kOut); }

std::string Refusal(const char* name, const Arguments& given) {
  return FindOperation(name)->check(given);
}

TEST(Refusals, DtypesAndDims) {
  const Seen x = {{2, 3}}, half = {{2, 3}, acl::kF16}, whole = {{2, 3}, acl::kI32};
  EXPECT_EQ(Refusal("Exp", {At(x), To(x)}), "");
  EXPECT_EQ(Refusal("Exp", {At(whole), To(whole)}), "self: int32 is not taken");
  EXPECT_EQ(Refusal("Exp", {At({{2}, acl::kF64}), To(x)}), "self: float64 is not taken");
  EXPECT_EQ(Refusal("Exp", {At(x), To(half)}), "out: float16, wanted float32");
  EXPECT_EQ(Refusal("Exp", {At(x), To({{3, 2}})}), "out: dims [3, 2], wanted [2, 3]");
  EXPECT_EQ(Refusal("Exp", {None(), To(x)}), "self: null, wanted a tensor");
  EXPECT_EQ(Refusal("Mul", {At(x), At(half), To(x)}), "other: float16, wanted float32");
  EXPECT_EQ(Refusal("Mul", {At(x), At({{2}}), To(x)}),
            "self and other: dims [2, 3] and [2] do not meet");
  EXPECT_EQ(Refusal("GtTensor", {At(x), At(x), To(x)}), "out: float32 is not taken");
  EXPECT_EQ(Refusal("Adds", {At(whole), Scalar(1), Whole(1), To(whole)}),
            "the first number: a real of integers");
  EXPECT_EQ(Refusal("Cast", {At(x), Number(acl::kF16), To(x)}),
            "out: float32, the cast is to float16");
  EXPECT_EQ(Refusal("Softmax", {At(x), Number(2), To(x)}), "axis 2 of 2");
  EXPECT_EQ(Refusal("ReduceSum", {At(x), Ints({0, 0}), Number(1), Number(0), To({{1, 3}})}),
            "dims: [0, 0] of 2 axes");
  EXPECT_EQ(Refusal("Amax", {At({{2, 0}}), Ints({1}), Number(0), To({{2}})}),
            "self: dims [2, 0], no element has none more");
  EXPECT_EQ(Refusal("Topk", {At(x), Number(4), Number(1), Number(1), Number(1), To({{2, 4}}),
                             To({{2, 4}, acl::kI64})}),
            "k: 4 of 3 elements");
  EXPECT_EQ(Refusal("Cat", {List({}), Number(0), To(x)}), "tensors: wanted one or more");
}

TEST(Refusals, PlacesOfElements) {
  Argument beyond = At({{2, 3}}), shared = To({{2, 3}}), back = At({{2, 3}});
  beyond.tensor.offset = 1;
  shared.tensor.strides = {0, 1};
  back.tensor.strides = {-3, 1};
  EXPECT_EQ(Refusal("Exp", {beyond, To({{2, 3}})}),
            "self: dims [2, 3] with strides [3, 1] and offset 1 reach beyond its storage [2, 3]");
  EXPECT_EQ(Refusal("Exp", {At({{2, 3}}), shared}), "out: elements of a result share a place");
  EXPECT_EQ(Refusal("Exp", {back, To({{2, 3}})}), "self: strides [-3, 1]");
}

Seen Image(const Dims& dims, acl::DataType type = acl::kF16) {
  return {dims, type, dims.size() == 3 ? acl::kNcl : dims.size() == 4 ? acl::kNchw : acl::kNcdhw};
}
Argument Blocked(const Dims& dims, Argument::Kind kind = Argument::Kind::kIn) {
  Argument a = At({dims, acl::kF16, acl::kNc1hwc0}, kind);
  a.tensor.storage = StorageOf(dims, acl::kNc1hwc0);
  return a;
}

TEST(Refusals, Formats) {
  Argument wrong = Blocked({1, 17, 2, 2});
  wrong.tensor.storage[1] = 1;
  const Argument out = Blocked({1, 17, 2, 2}, Argument::Kind::kOut);
  EXPECT_EQ(Refusal("Relu", {Blocked({1, 17, 2, 2}), out}), "");
  EXPECT_EQ(Refusal("Relu", {wrong, out}),
            "self: format 3: storage [1, 1, 2, 2, 16], wanted [1, 2, 2, 2, 16]");
  EXPECT_EQ(Refusal("Relu", {At(Image({1, 17, 2, 2})), out}), "out: format 3, wanted 0");
  EXPECT_EQ(Refusal("Permute", {Blocked({1, 17, 2, 2}), Ints({0, 1, 2, 3}), out}),
            "self: format 3 is not taken");
  EXPECT_EQ(Refusal("Matmul", {At({{2, 3}, acl::kF16, acl::kFractalNz}), At({{3, 4}, acl::kF16}),
                               To({{2, 4}, acl::kF16}), Number(0)}),
            "self: format 29 is not taken");
  EXPECT_EQ(Refusal("Relu", {At({{2, 3}, acl::kF16, static_cast<acl::Format>(1)}),
                             To({{2, 3}, acl::kF16})}),
            "self: format 1 is not taken");
}

Arguments Convolved(const Argument& x, const Seen& w, const Argument& bias, const Dims& pads,
                    const Seen& y) {
  return {x,         At(w),        bias,      Ints({1, 1}), Ints(pads), Ints({1, 1}),
          Number(0), Ints({0, 0}), Number(1), To(y),        Number(0)};
}

TEST(Refusals, Windows) {
  const Argument x = At(Image({1, 3, 5, 5}));
  const Seen w = Image({4, 3, 3, 3}), y = Image({1, 4, 3, 3});
  EXPECT_EQ(Refusal("Convolution", Convolved(x, w, None(), {0, 0}, y)), "");
  EXPECT_EQ(Refusal("Convolution", Convolved(At({{1, 3, 5, 5}, acl::kF16}), w, None(), {0, 0}, y)),
            "input: format 2 of rank 4, wanted an image's: NCL, NCHW or NCDHW");
  EXPECT_EQ(Refusal("Convolution", Convolved(x, Image({4, 2, 3, 3}), None(), {0, 0}, y)),
            "weight: dims [4, 2, 3, 3] do not fit [1, 3, 5, 5] in 1 groups");
  EXPECT_EQ(Refusal("Convolution", Convolved(x, w, None(), {0}, y)),
            "padding: 1 numbers, wanted 2");
  EXPECT_EQ(Refusal("Convolution", Convolved(x, w, None(), {1, 1}, y)),
            "out: dims [1, 4, 3, 3], wanted [1, 4, 5, 5]");
  EXPECT_EQ(Refusal("Convolution", Convolved(x, w, At({{3}, acl::kF16}), {0, 0}, y)),
            "bias: dims [3], wanted [4]");
  const Argument image = At(Image({1, 3, 5, 5}));
  EXPECT_EQ(Refusal("AvgPool2d", {image, Ints({2, 2}), Ints({1, 1}), Ints({2, 0}), Number(0),
                                  Number(0), Number(0), Number(0), To(Image({1, 3, 8, 4}))}),
            "padding: [2, 0], wanted at most half the window");
  EXPECT_EQ(Refusal("MaxPool", {image, Ints({2, 2}), Ints({1, 1}), Number(0), Ints({0, 0}),
                                Ints({1, 1}), Number(0), To(Image({1, 3, 4, 4}))}),
            "pads: 2 numbers, wanted 4");
}

TEST(Refusals, Products) {
  const auto product = [](const Dims& x, const Dims& y, const Dims& z, double math) {
    return Refusal("Matmul", {At({x}), At({y}), To({z}), Number(math)});
  };
  EXPECT_EQ(product({2, 3}, {3, 4}, {2, 4}, 1), "");
  EXPECT_EQ(product({2, 3}, {4, 4}, {2, 4}, 0),
            "self and other: dims [2, 3] and [4, 4] do not meet");
  EXPECT_EQ(product({2, 2, 3}, {3, 3, 4}, {2, 2, 4}, 0),
            "self and other: dims [2, 2, 3] and [3, 3, 4]: their batches do not meet");
  EXPECT_EQ(product({2, 3}, {3, 4}, {2, 4}, 3), "cubeMathType 3, wanted 0 to 2");
  EXPECT_EQ(product({}, {3, 4}, {4}, 0),
            "self and other: dims [] and [3, 4], wanted one axis or more");
  EXPECT_EQ(Refusal("BatchMatMul", {At({{2, 3}}), At({{3, 4}}), To({{2, 4}}), Number(0)}),
            "self: dims [2, 3], wanted 3 to 3 axes");
}

}  // namespace
}  // namespace ge_engines::ascend::sim
