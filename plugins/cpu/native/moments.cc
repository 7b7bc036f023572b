#include "plugins/cpu/native/moments.h"

#include <algorithm>
#include <cmath>

#include "plugins/cpu/kit/loop_parts.h"

namespace ge_engines::cpu::native {
namespace {

// Channels that a thread takes together: one plane at a time, or up to 16 side by side in rows.
struct Channels {
  explicit Channels(const Layout& l) : images(l.dim[0]), channels(l.dim[1]), image(l.stride[0]) {
    for (int i = 2; i < l.rank; ++i) area *= l.dim[i];
    lanes = l.cblock > 0 ? l.cblock : l.dense() ? 1 : kMostLanes;
    group = l.cblock > 0 ? l.stride[1] : lanes * l.stride[1];
    row = l.cblock > 0 ? l.cblock : lanes == 1 ? 1 : channels;
    padded = l.cblock > 0;
    groups = (channels + lanes - 1) / lanes;
  }
  // Lanes in memory of a group, and those of them that are channels.
  int64_t Width(int64_t g) const { return padded ? lanes : Used(g); }
  int64_t Used(int64_t g) const { return std::min(lanes, channels - g * lanes); }
  int64_t count() const { return images * area; }
  int64_t elements() const { return count() * channels; }

  // f(offset, rows) for parts of the group's images.
  template <class F>
  void ForParts(int64_t g, F f) const {
    for (int64_t i = 0; i < images; ++i) {
      for (int64_t r = 0; r < area; r += kSumRows) {
        f(i * image + g * group + r * row, std::min(kSumRows, area - r));
      }
    }
  }

  int64_t images, channels, image, area = 1, lanes = 1, group = 1, row = 1, groups = 1;
  bool padded = false;
};

struct Sums {
  double first[kMostLanes] = {}, second[kMostLanes] = {};
  // Adds what f makes of zeros.
  template <class F>
  void Add(int64_t width, F f) {
    float a[kMostLanes] = {}, b[kMostLanes] = {};
    f(a, b);
    for (int64_t k = 0; k < width; ++k) {
      first[k] += static_cast<double>(a[k]);
      second[k] += static_cast<double>(b[k]);
    }
  }
};

class Moments final : public Loop {
 public:
  Moments(const Simd& simd, const Layout& x) : simd_(simd), c_(x) {}

  void Run(float* const* p) const override {
    ForRange(c_.elements() > kParallel, c_.groups, [&](int64_t g) { One(g, p); });
  }

 private:
  // About the first number of each channel, so that a mean far from 0 costs no digits.
  void One(int64_t g, float* const* p) const {
    const float* const x = p[2];
    const int64_t width = c_.Width(g);
    float shift[kMostLanes] = {};
    for (int64_t k = 0; k < width; ++k) shift[k] = x[g * c_.group + k];
    Sums sums;
    c_.ForParts(g, [&](int64_t at, int64_t rows) {
      sums.Add(width, [&](float* sum, float* square) {
        if (c_.lanes == 1) {
          simd_.moment_sums(x + at, shift[0], rows, sum, square);
        } else {
          simd_.moment_rows(x + at, rows, c_.row, shift, sum, square, width);
        }
      });
    });
    const auto n = static_cast<double>(c_.count());
    for (int64_t k = 0; k < c_.Used(g); ++k) {
      const double mean = sums.first[k] / n;
      p[0][g * c_.lanes + k] = static_cast<float>(static_cast<double>(shift[k]) + mean);
      const double variance = sums.second[k] / n - mean * mean;
      // A NaN stays one.
      p[1][g * c_.lanes + k] = static_cast<float>(variance < 0 ? 0 : variance);
    }
  }

  const Simd& simd_;
  const Channels c_;
};

class BatchNormGrad final : public Loop {
 public:
  BatchNormGrad(const Simd& simd, const Layout& x, float epsilon)
      : simd_(simd), c_(x), epsilon_(static_cast<double>(epsilon)) {}

  void Run(float* const* p) const override {
    ForRange(c_.elements() > kParallel, c_.groups, [&](int64_t g) { One(g, p); });
  }

 private:
  void One(int64_t g, float* const* p) const {
    const float *dy = p[3], *x = p[4], *scale = p[5], *means = p[6], *variance = p[7];
    const int64_t width = c_.Width(g), first = g * c_.lanes;
    float mean[kMostLanes] = {}, a[kMostLanes] = {}, b[kMostLanes] = {}, shift[kMostLanes] = {};
    std::copy(means + first, means + first + c_.Used(g), mean);
    Sums sums;
    c_.ForParts(g, [&](int64_t at, int64_t rows) {
      sums.Add(width, [&](float* sum, float* product) {
        if (c_.lanes == 1) {
          simd_.slope_sums(dy + at, x + at, mean[0], rows, sum, product);
        } else {
          simd_.slope_rows(dy + at, x + at, rows, c_.row, mean, sum, product, width);
        }
      });
    });
    const auto n = static_cast<double>(c_.count());
    for (int64_t k = 0; k < c_.Used(g); ++k) {
      const double spread = static_cast<double>(variance[first + k]) + epsilon_;
      const double inverse = 1 / std::sqrt(spread);
      p[1][first + k] = static_cast<float>(sums.second[k] * inverse);
      p[2][first + k] = static_cast<float>(sums.first[k]);
      const double by = static_cast<double>(scale[first + k]) * inverse;
      const double pull = -by * sums.second[k] / (n * spread);
      a[k] = static_cast<float>(by), b[k] = static_cast<float>(pull);
      shift[k] = static_cast<float>(-by * sums.first[k] / n - pull * static_cast<double>(mean[k]));
    }
    c_.ForParts(g, [&](int64_t at, int64_t rows) {
      if (c_.lanes == 1) {
        simd_.blend_row(dy + at, x + at, a[0], b[0], shift[0], p[0] + at, rows);
      } else {
        simd_.blend_rows(dy + at, x + at, rows, c_.row, a, b, shift, p[0] + at, width);
      }
    });
  }

  const Simd& simd_;
  const Channels c_;
  const double epsilon_;
};

}  // namespace

bool HasChannelRows(const Layout& l) {
  if (l.rank < 2 || l.cblock > kMostLanes) return false;
  return l.dense() || (l.cblock > 0 && l == Layout::Blocked(l.dims(), l.cblock)) ||
         (l.cblock == 0 && l == Layout::ChannelsLast(l.dims()));
}

std::unique_ptr<Loop> MomentsLoop(const Simd& simd, const Layout& x) {
  return std::make_unique<Moments>(simd, x);
}

std::unique_ptr<Loop> BatchNormGradLoop(const Simd& simd, const Layout& x, float epsilon) {
  return std::make_unique<BatchNormGrad>(simd, x, epsilon);
}

}  // namespace ge_engines::cpu::native
