// Products and convolutions of 8-bit integers against plain sums of 64 bits, in each instruction
// set of this host: both signs, zero points of both sides, one or many, depths beyond one block of
// pairs, more rows than wait at once, borders, strides, dilations, groups, several threads, sums
// and quantized results.
#include "plugins/cpu/native/quantized/integer_product.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "plugins/cpu/kit/aligned_block.h"
#include "plugins/cpu/kit/isa_sets_testing.h"
#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/kit/simd/kernels.h"
#include "plugins/cpu/native/quantized/dot4.h"
#include "plugins/cpu/native/quantized/dot4_kernels.h"
#include "plugins/cpu/native/quantized/rows.h"
#include "plugins/units/conv/conv.h"

namespace ge_engines::cpu::native {
namespace {

class IntegerProduct : public ::testing::TestWithParam<IsaSet> {
 protected:
  const Simd& simd() const { return *GetParam().simd; }
};
INSTANTIATE_TEST_SUITE_P(Isa, IntegerProduct, ::testing::ValuesIn(IsaSets()), NameOfIsaSet);

std::vector<uint8_t> Codes(int64_t n, std::mt19937* random) {
  std::vector<uint8_t> v(static_cast<size_t>(n));
  for (uint8_t& x : v) x = static_cast<uint8_t>((*random)());
  return v;
}
int64_t CodeOf(const std::vector<uint8_t>& v, int64_t i, bool is_signed) {
  const uint8_t c = v[static_cast<size_t>(i)];
  return is_signed ? static_cast<int8_t>(c) : c;
}
float* Floats(void* p) { return static_cast<float*>(p); }

// Everything that a loop is given beside its shape, and what a sum becomes.
struct Setting {
  QuantResult result;
  bool w_signed = false;
  std::vector<uint8_t> x_zero, y_zero;
  std::vector<int32_t> w_zero, bias;
  std::vector<float> x_scale = {0.03f}, w_scale, y_scale = {7.5f};

  Setting(int variant, int64_t filters, std::mt19937* random) {
    const bool many = variant % 2 != 0;
    result.x_signed = variant % 3 == 0;
    result.y_signed = variant % 3 == 1;
    result.x_zero = variant != 2;
    result.codes = variant >= 3;
    result.biases = variant == 4 ? filters : 0;
    w_signed = variant % 2 == 0;
    x_zero = Codes(1, random);
    y_zero = Codes(1, random);
    const int64_t n = many ? filters : 1;
    const std::vector<uint8_t> zeros = Codes(n, random);
    for (int64_t i = 0; i < n; ++i) {
      w_zero.push_back(static_cast<int32_t>(CodeOf(zeros, i, w_signed)));
      w_scale.push_back(0.01f + 0.001f * static_cast<float>(i));
    }
    if (result.codes) result.w_scales = n;
    for (int64_t i = 0; i < filters; ++i) bias.push_back(static_cast<int32_t>(100 * i - 3000));
  }
  int64_t XZero() const { return result.x_zero ? CodeOf(x_zero, 0, result.x_signed) : 0; }
  int64_t WZero(int64_t filter) const {
    return w_zero[static_cast<size_t>(w_zero.size() == 1 ? 0 : filter)];
  }
  void Expect(const std::vector<int32_t>& y, int64_t i, int64_t filter, int64_t sum) const {
    if (!result.codes) {
      ASSERT_EQ(y[static_cast<size_t>(i)], sum) << i;
      return;
    }
    if (result.biases > 0) sum += bias[static_cast<size_t>(filter)];
    const auto at = static_cast<size_t>(result.w_scales == 1 ? 0 : filter);
    const double v = static_cast<double>(sum) * (double{x_scale[0]} * w_scale[at] / y_scale[0]);
    const double least = result.y_signed ? -128 : 0;
    const double zero = static_cast<double>(CodeOf(y_zero, 0, result.y_signed));
    const double want = std::clamp(std::nearbyint(v) + zero, least, least + 255);
    const auto* bytes = reinterpret_cast<const uint8_t*>(y.data());
    const double got = result.y_signed ? static_cast<int8_t>(bytes[i]) : bytes[i];
    ASSERT_EQ(got, want) << i;
  }
  // Places behind result, x and weights.
  std::vector<float*> Rest(void* scratch) {
    return {Floats(x_zero.data()),  Floats(x_scale.data()), Floats(w_scale.data()),
            Floats(y_scale.data()), Floats(y_zero.data()),  Floats(bias.data()),
            Floats(scratch)};
  }
};

// Packed weights of a plan, whose factors are packed, too, where they are settled.
AlignedBlock PackedOf(const Dot4Plan& plan, const std::vector<uint8_t>& w, Setting* s) {
  AlignedBlock packed(plan.weight_bytes());
  const std::vector<uint8_t> zeros(s->w_zero.begin(), s->w_zero.end());
  plan.Pack(w.data(), s->w_signed, zeros.data(), packed.data());
  if (!plan.settled) return packed;
  std::vector<const void*> inputs(3);  // result, x, weights
  for (const float* p : s->Rest(nullptr)) inputs.push_back(p);
  plan.Settle(inputs.data(), packed.data());
  return packed;
}

// On as many threads as the plan is for: its scratch has room for no more.
std::vector<int32_t> RunLoop(int threads, const Loop& loop, std::vector<uint8_t> x, void* weights,
                             uint64_t scratch_bytes, Setting* s, int64_t count) {
  std::vector<int32_t> y(static_cast<size_t>(count) + 1, 0x5a5a5a5a);
  AlignedBlock scratch(scratch_bytes);
  std::vector<float*> places = {Floats(y.data()), Floats(x.data()), Floats(weights)};
  for (float* p : s->Rest(scratch.data())) places.push_back(p);
  const int before = omp_get_max_threads();
  omp_set_num_threads(threads);
  loop.Run(places.data());
  omp_set_num_threads(before);
  EXPECT_EQ(y.back(), 0x5a5a5a5a);
  return y;
}

// As exporters of signed, symmetric weights have it: no zero point, or 128 where they are unsigned.
void MakeSymmetric(Setting* s) { s->w_zero = {s->w_signed ? 0 : 128}; }
// Every other time; answers how many zero points a plan has then.
int64_t MaybeSymmetric(Setting* s, bool symmetric) {
  if (symmetric) MakeSymmetric(s);
  return symmetric ? 0 : static_cast<int64_t>(s->w_zero.size());
}

TEST_P(IntegerProduct, RowsTimesAMatrix) {
  std::mt19937 random(7);
  const int64_t shapes[][3] = {{1, 1, 1}, {1, 70, 1030}, {7, 33, 5}, {100, 40, 64}, {13, 64, 513}};
  for (const auto& [m, n, k] : shapes) {
    for (int variant = 0; variant < 6; ++variant) {
      SCOPED_TRACE(testing::Message() << m << "x" << n << "x" << k << " variant " << variant);
      Setting s(variant, n, &random);
      s.result.biases = 0;
      const IntegerProductPlan plan(simd(), m, n, k, s.result);
      const auto x = Codes(m * k, &random), w = Codes(k * n, &random);
      AlignedBlock packed(plan.weight_bytes());
      plan.Pack(w.data(), s.w_signed, s.w_zero, packed.data());
      const auto y = RunLoop(2, *IntegerProductLoop(simd(), plan), x, packed.data(),
                             plan.scratch_bytes(), &s, m * n);
      for (int64_t i = 0; i < m * n; ++i) {
        int64_t sum = 0;
        for (int64_t d = 0; d < k; ++d) {
          sum += (CodeOf(x, i / n * k + d, s.result.x_signed) - s.XZero()) *
                 (CodeOf(w, d * n + i % n, s.w_signed) - s.WZero(i % n));
        }
        s.Expect(y, i, i % n, sum);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(IntegerProduct, RowsByFours) {
  const Dot4Kernels* kernels = Dot4KernelsOf(GetParam().isa);
  if (kernels == nullptr) GTEST_SKIP() << "this processor has no dot4 kernels here";
  std::mt19937 random(17);
  const int64_t shapes[][3] = {{1, 1, 1}, {1, 70, 1030}, {7, 33, 5}, {100, 40, 64}, {13, 200, 513}};
  for (const auto& [m, n, k] : shapes) {
    for (int variant = 0; variant < 24; ++variant) {
      const bool transposed = variant / 6 % 2 != 0;
      SCOPED_TRACE(testing::Message() << m << "x" << n << "x" << k << " variant " << variant);
      Setting s(variant % 6, n, &random);
      const int64_t zeros = MaybeSymmetric(&s, variant < 12);
      Dot4Plan plan(m, n, k, transposed, 1 + variant % 2, s.result);
      plan.w_zeros = zeros;
      plan.settled = variant % 4 < 2;
      const auto x = Codes(m * k, &random), w = Codes(k * n, &random);
      const AlignedBlock packed = PackedOf(plan, w, &s);
      const auto y = RunLoop(plan.threads, *Dot4Loop(*kernels, plan), x, packed.data(),
                             plan.scratch_bytes(), &s, m * n);
      for (int64_t i = 0; i < m * n; ++i) {
        int64_t sum = 0;
        for (int64_t d = 0; d < k; ++d) {
          const int64_t at = transposed ? i % n * k + d : d * n + i % n;
          sum += (CodeOf(x, i / n * k + d, s.result.x_signed) - s.XZero()) *
                 (CodeOf(w, at, s.w_signed) - s.WZero(i % n));
        }
        s.Expect(y, i, i % n, sum);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// Sums in the middle between two quantized values, and beside it by less than floats tell: an even
// scale makes half a quantum of odd sums.
TEST_P(IntegerProduct, MiddlesByFours) {
  const Dot4Kernels* kernels = Dot4KernelsOf(GetParam().isa);
  if (kernels == nullptr) GTEST_SKIP() << "this processor has no dot4 kernels here";
  std::mt19937 random(19);
  const int64_t m = 40, n = 90, k = 12;
  const float more = 1 + std::numeric_limits<float>::epsilon(), most = 2 * more - 1;
  // The second is half a quantum but for 2^-46, which only doubles tell.
  const float scales[][3] = {{1, 0.5f, 1},           {more, 0.5f * more, most},
                             {1, 0.5f * most, more}, {1, 0.5f * more, 1},
                             {1, 1e-3f, 1},          {1, 3e6f, 1},
                             {1, 1e30f, 1},          {0.5f, most, more}};
  for (const auto& [x_scale, w_scale, y_scale] : scales) {
    Setting s(4, n, &random);
    MakeSymmetric(&s);
    s.result.w_scales = 1;
    s.x_scale = {x_scale};
    s.y_scale = {y_scale};
    s.w_scale = {w_scale};
    for (int32_t& bias : s.bias) bias = static_cast<int32_t>(random() % 401) - 200;
    s.bias[1] = INT32_MAX;
    s.bias[2] = INT32_MIN;
    for (const bool large : {false, true}) {  // with and without a bias that sums cannot take
      if (!large) s.bias[1] = s.bias[2] = 7;
      Dot4Plan plan(m, n, k, false, 1, s.result);
      plan.settled = large;
      auto x = Codes(m * k, &random), w = Codes(k * n, &random);
      for (uint8_t& code : x) code %= 3;
      for (uint8_t& code : w) code = static_cast<uint8_t>(code % 5 - 2 + (s.w_signed ? 0 : 128));
      const AlignedBlock packed = PackedOf(plan, w, &s);
      const auto y = RunLoop(plan.threads, *Dot4Loop(*kernels, plan), x, packed.data(),
                             plan.scratch_bytes(), &s, m * n);
      for (int64_t i = 0; i < m * n; ++i) {
        int64_t sum = 0;
        for (int64_t d = 0; d < k; ++d) {
          sum += (CodeOf(x, i / n * k + d, s.result.x_signed) - s.XZero()) *
                 (CodeOf(w, d * n + i % n, s.w_signed) - s.WZero(0));
        }
        s.Expect(y, i, i % n, sum);
        if (HasFatalFailure()) return;
      }
    }
  }
}

struct Shape {
  int64_t images, groups, in, out, h, w, kh, kw, sh, sw, dh, dw, pad;
};
constexpr Shape kShapes[] = {
    {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0},    {2, 1, 3, 7, 9, 11, 3, 3, 1, 1, 1, 1, 1},
    {1, 1, 70, 13, 6, 40, 3, 3, 1, 1, 1, 1, 1}, {1, 3, 2, 5, 8, 9, 3, 2, 2, 3, 1, 1, 1},
    {1, 4, 1, 1, 12, 35, 3, 3, 1, 1, 2, 2, 2},  {1, 1, 5, 6, 10, 10, 1, 1, 2, 2, 1, 1, 0},
    {2, 70, 1, 1, 9, 11, 3, 3, 1, 2, 1, 1, 1},  {1, 130, 1, 1, 8, 8, 5, 4, 2, 1, 1, 1, 2},
    {1, 2, 8, 70, 5, 6, 3, 3, 1, 1, 1, 2, 2},   {1, 1, 16, 150, 5, 5, 1, 1, 1, 1, 1, 1, 0}};

ConvSpec SpecOf(const Shape& conv_case) {
  ConvSpec s;
  const int64_t oh =
      (conv_case.h + 2 * conv_case.pad - (conv_case.kh - 1) * conv_case.dh - 1) / conv_case.sh + 1;
  const int64_t ow =
      (conv_case.w + 2 * conv_case.pad - (conv_case.kw - 1) * conv_case.dw - 1) / conv_case.sw + 1;
  s.src = {conv_case.images, conv_case.groups * conv_case.in, conv_case.h, conv_case.w};
  s.dst = {conv_case.images, conv_case.groups * conv_case.out, oh, ow};
  s.weights = {conv_case.out, conv_case.in, conv_case.kh, conv_case.kw};
  if (conv_case.groups > 1) s.weights.insert(s.weights.begin(), conv_case.groups);
  s.stride = {conv_case.sh, conv_case.sw};
  s.dilation = {conv_case.dh, conv_case.dw};
  s.pad_l = s.pad_r = {conv_case.pad, conv_case.pad};
  s.groups = conv_case.groups;
  return s;
}

// Each element of y, whose channels are first, against plain sums.
void ExpectConvolution(const Shape& c, const ConvSpec& spec, const Setting& s,
                       const std::vector<uint8_t>& x, const std::vector<uint8_t>& w,
                       const std::vector<int32_t>& y) {
  const int64_t filters = c.groups * c.out, depth = c.in * c.kh * c.kw;
  const int64_t size = spec.dst[2] * spec.dst[3], count = c.images * filters * size;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t filter = i / size % filters, image = i / size / filters;
    const int64_t oy = i % size / spec.dst[3], ox = i % spec.dst[3];
    int64_t sum = 0;
    for (int64_t d = 0; d < depth; ++d) {
      const int64_t iy = oy * c.sh + d / c.kw % c.kh * c.dh - c.pad;
      const int64_t ix = ox * c.sw + d % c.kw * c.dw - c.pad;
      if (iy < 0 || iy >= c.h || ix < 0 || ix >= c.w) continue;
      const int64_t plane = (image * c.groups + filter / c.out) * c.in + d / (c.kh * c.kw);
      sum += (CodeOf(x, (plane * c.h + iy) * c.w + ix, s.result.x_signed) - s.XZero()) *
             (CodeOf(w, filter * depth + d, s.w_signed) - s.WZero(filter));
    }
    s.Expect(y, i, filter, sum);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST_P(IntegerProduct, Convolutions) {
  std::mt19937 random(11);
  for (const Shape& c : kShapes) {
    for (int variant = 0; variant < 6; ++variant) {
      SCOPED_TRACE(testing::Message() << c.in << " to " << c.out << ", " << c.h << "x" << c.w
                                      << " variant " << variant);
      const ConvSpec spec = SpecOf(c);
      const int64_t filters = c.groups * c.out, depth = c.in * c.kh * c.kw;
      Setting s(variant, filters, &random);
      const IntegerConvPlan plan(simd(), spec, 1 + variant % 2, s.result);
      const auto x = Codes(c.images * c.groups * c.in * c.h * c.w, &random);
      const auto w = Codes(filters * depth, &random);
      AlignedBlock packed(plan.weight_bytes());
      plan.Pack(w.data(), s.w_signed, s.w_zero, packed.data());
      const auto y = RunLoop(plan.threads, *IntegerConvLoop(simd(), plan), x, packed.data(),
                             plan.scratch_bytes(), &s, Product(spec.dst));
      ExpectConvolution(c, spec, s, x, w, y);
      if (HasFatalFailure()) return;
    }
  }
}

// Elements of [images][channels][pixels] as [images][pixels][channels], or the other way around.
template <class T>
void Reorder(const T* from, const Dims& d, bool last, T* to) {
  const int64_t pixels = d[2] * d[3];
  for (int64_t i = 0; i < d[0] * d[1] * pixels; ++i) {
    const int64_t image = i / (d[1] * pixels), channel = i / pixels % d[1], pixel = i % pixels;
    const int64_t at = (image * pixels + pixel) * d[1] + channel;
    to[last ? at : i] = from[last ? i : at];
  }
}

TEST_P(IntegerProduct, ConvolutionsByFours) {
  const Dot4Kernels* kernels = Dot4KernelsOf(GetParam().isa);
  if (kernels == nullptr) GTEST_SKIP() << "this processor has no dot4 kernels here";
  std::mt19937 random(13);
  for (const Shape& c : kShapes) {
    const ConvSpec spec = SpecOf(c);
    for (int variant = 0; variant < 12; ++variant) {
      if (!Dot4Plan::Suits(spec, variant < 6)) continue;
      SCOPED_TRACE(testing::Message() << c.in << " to " << c.out << ", " << c.h << "x" << c.w
                                      << " variant " << variant);
      const int64_t filters = c.groups * c.out, depth = c.in * c.kh * c.kw;
      Setting s(variant % 6, filters, &random);
      const int64_t zeros = MaybeSymmetric(&s, variant < 6);
      Dot4Plan plan(spec, 1 + variant % 2, s.result);
      plan.w_zeros = zeros;
      plan.settled = variant % 4 < 2;
      const auto x = Codes(c.images * c.groups * c.in * c.h * c.w, &random);
      const auto w = Codes(filters * depth, &random);
      const AlignedBlock packed = PackedOf(plan, w, &s);
      std::vector<uint8_t> last(x.size());
      Reorder(x.data(), spec.src, true, last.data());
      const auto made = RunLoop(plan.threads, *Dot4Loop(*kernels, plan), last, packed.data(),
                                plan.scratch_bytes(), &s, Product(spec.dst));
      std::vector<int32_t> y(made.size());
      if (s.result.codes) {
        Reorder(reinterpret_cast<const uint8_t*>(made.data()), spec.dst, false,
                reinterpret_cast<uint8_t*>(y.data()));
      } else {
        Reorder(made.data(), spec.dst, false, y.data());
      }
      ExpectConvolution(c, spec, s, x, w, y);
      if (HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace ge_engines::cpu::native
