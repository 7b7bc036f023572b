#include "plugins/cpu/native/quantized/integer_product.h"

#include <omp.h>

#include <cstring>
#include <numeric>

#include "plugins/cpu/kit/conv_loop.h"
#include "plugins/cpu/kit/im2col_tiles.h"
#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/kit/thresholds.h"
#include "plugins/cpu/native/quantized/scratch.h"

namespace ge_engines::cpu::native {
namespace {

// The factors of a run, and what is added to each sum.
struct Scales {
  const double* scale = nullptr;
  const double* bias = nullptr;
  int64_t bias_step = 0;
  double zero = 0, least = 0, most = 0;

  const double* BiasAt(int64_t i) const { return bias + i * bias_step; }
};

uint64_t ScaleBytes(const QuantResult& r) {
  return Padded(static_cast<uint64_t>(r.w_scales) * sizeof(double)) +
         Padded(static_cast<uint64_t>(std::max<int64_t>(1, r.biases)) * sizeof(double));
}

Scales ScalesOf(const QuantResult& r, float* const* p, Room* room) {
  Scales s;
  auto* scale = room->Take<double>(r.w_scales);
  auto* bias = room->Take<double>(std::max<int64_t>(1, r.biases));
  if (!r.codes) return s;
  const double x = FloatAt(p[kXScale]), y = FloatAt(p[kYScale]);
  for (int64_t i = 0; i < r.w_scales; ++i) scale[i] = x * FloatAt(p[kWScale], i) / y;
  bias[0] = 0;
  for (int64_t i = 0; i < r.biases; ++i) {
    const double w = FloatAt(p[kWScale], r.w_scales > 1 ? i : 0);
    bias[i] = r.bias_floats ? FloatAt(p[kBias], i) / (x * w)
                            : reinterpret_cast<const int32_t*>(p[kBias])[i];
  }
  s.scale = scale;
  s.bias = bias;
  s.bias_step = r.biases > 0 ? 1 : 0;
  s.zero = r.y_zero ? Int8At(p[kYZero], r.y_signed) : 0;
  s.least = r.least();
  s.most = r.most();
  return s;
}

class ProductLoop final : public Loop {
 public:
  ProductLoop(const Simd& simd, const IntegerProductPlan& plan) : simd_(simd), p_(plan) {}

  void Run(float* const* p) const override {
    Room room{reinterpret_cast<char*>(p[kScratch])};
    const Scales scales = ScalesOf(p_.result, p, &room);
    const int64_t at_once = std::min(kInt8Rows, p_.m);
    auto* a = room.Take<int16_t>(Blocks(at_once) * p_.pairs * kIntegerRows * 2);
    auto* row = room.Take<int16_t>(p_.k);
    auto* total = room.Take<int32_t>(at_once);
    for (int64_t r = 0; r < p_.m; r += kInt8Rows) {
      const int64_t rows = std::min(kInt8Rows, p_.m - r);
      PackRows(p, r, rows, row, a, total);
      const bool wide = rows * p_.n * p_.k > kParallelQuantized;
      ForRange(wide, p_.panels, [&](int64_t panel) { Panel(p, scales, panel, r, rows, a, total); });
    }
  }

 private:
  static int64_t Blocks(int64_t rows) { return (rows + kIntegerRows - 1) / kIntegerRows; }

  // a: [block][pairs][rows of a block][2]; total: the sum of each row.
  void PackRows(float* const* p, int64_t first, int64_t rows, int16_t* row, int16_t* a,
                int32_t* total) const {
    const auto* x = reinterpret_cast<const uint8_t*>(p[kX]);
    const int32_t zero = p_.result.x_zero ? Int8At(p[kXZero], p_.result.x_signed) : 0;
    for (int64_t r = 0; r < rows; ++r) {
      simd_.widen_row(x + (first + r) * p_.k, p_.result.x_signed, zero, row, p_.k);
      total[r] = std::accumulate(row, row + p_.k, int32_t{0});
      int16_t* to = a + r / kIntegerRows * p_.pairs * kIntegerRows * 2 + r % kIntegerRows * 2;
      for (int64_t k = 0; k + 2 <= p_.k; k += 2, to += kIntegerRows * 2) {
        std::memcpy(to, row + k, 2 * sizeof(int16_t));
      }
      if (p_.k % 2 != 0) {
        to[0] = row[p_.k - 1];
        to[1] = 0;
      }
    }
  }

  void Panel(float* const* p, const Scales& s, int64_t panel, int64_t first, int64_t rows,
             const int16_t* a, const int32_t* total) const {
    alignas(kLine) int32_t sums[kInt8Rows * 32];
    const int64_t columns = p_.columns;
    const auto* packed = reinterpret_cast<const uint8_t*>(p[kW]);
    const uint8_t* b = packed + panel * p_.pairs * columns * 2;
    const auto* zeros =
        reinterpret_cast<const int32_t*>(packed + p_.code_bytes()) + panel * columns;
    for (int64_t k = 0; k < p_.pairs; k += kInt8Pairs) {
      const int64_t n = std::min(kInt8Pairs, p_.pairs - k);
      for (int64_t r = 0; r < rows; r += kIntegerRows) {
        simd_.int8_product(a + (r * p_.pairs + k * kIntegerRows) * 2, b + k * columns * 2, n, k > 0,
                           sums + r * columns, columns, std::min(kIntegerRows, rows - r));
      }
    }
    const int64_t at = panel * columns, n = std::min(columns, p_.n - at);
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t j = 0; j < n; ++j) {  // modulo 2^32: the parts may leave int32, the sum does not
        sums[r * columns + j] =
            static_cast<int32_t>(static_cast<uint32_t>(sums[r * columns + j]) -
                                 static_cast<uint32_t>(zeros[j]) * static_cast<uint32_t>(total[r]));
      }
      const int64_t to = (first + r) * p_.n + at;
      if (p_.result.codes) {
        const int64_t step = p_.result.w_scales > 1 ? 1 : 0;
        simd_.requantize_row(sums + r * columns, s.BiasAt(at), s.bias_step, s.scale + at * step,
                             step, s.zero, s.least, s.most, reinterpret_cast<uint8_t*>(p[kY]) + to,
                             n);
      } else {
        std::memcpy(p[kY] + to, sums + r * columns, static_cast<size_t>(n) * sizeof(int32_t));
      }
    }
  }

  const Simd& simd_;
  IntegerProductPlan p_;
};

class ConvLoop final : public Loop {
 public:
  ConvLoop(const Simd& simd, const IntegerConvPlan& plan) : simd_(simd), p_(plan) {}

  void Run(float* const* p) const override {
    Room room{reinterpret_cast<char*>(p[kScratch])};
    const Scales scales = ScalesOf(p_.result, p, &room);
    auto* image = room.Take<int16_t>(p_.image_count());
    const bool wide = p_.threads > 1 && p_.pixels * p_.out * p_.depth > kParallelQuantized;
    for (int64_t g = 0; g < p_.batch * p_.groups; ++g) {
      Widen(p, g, image);
      ForRange(wide, p_.tiles, [&](int64_t tile) {
        const auto thread = static_cast<uint64_t>(wide ? omp_get_thread_num() : 0);
        Tile(p, scales, g, tile, image, {room.at + thread * p_.thread_bytes()});
      });
    }
  }

 private:
  // The image of one group, padded by what takes off to zero.
  void Widen(float* const* p, int64_t g, int16_t* image) const {
    const auto* x = reinterpret_cast<const uint8_t*>(p[kX]) + g * p_.in * p_.h * p_.w;
    const int32_t zero = p_.result.x_zero ? Int8At(p[kXZero], p_.result.x_signed) : 0;
    const int64_t count = std::min(p_.w, p_.wide - p_.pad[1]);
    for (int64_t c = 0; c < p_.in; ++c) {
      for (int64_t y = 0; y < p_.high; ++y) {
        int16_t* to = image + (c * p_.high + y) * p_.wide;
        const int64_t from = y - p_.pad[0];
        if (from < 0 || from >= p_.h || count <= 0) {
          std::fill(to, to + p_.wide, int16_t{0});
          continue;
        }
        std::fill(to, to + p_.pad[1], int16_t{0});
        simd_.widen_row(x + (c * p_.h + from) * p_.w, p_.result.x_signed, zero, to + p_.pad[1],
                        count);
        std::fill(to + p_.pad[1] + count, to + p_.wide, int16_t{0});
      }
    }
    std::fill(image + p_.in * p_.high * p_.wide, image + p_.image_count(), int16_t{0});
  }

  // Where pixel i of the walk starts in the padded image.
  int64_t Start(int64_t i) const {
    if (p_.runs) return i;
    return i / p_.out_w * p_.stride[0] * p_.wide + i % p_.out_w * p_.stride[1];
  }

  void PackPixels(const int16_t* image, int64_t first, int64_t pair, int64_t pairs,
                  int16_t* b) const {
    int64_t start[32];
    if (!p_.runs) {
      for (int64_t j = 0; j < p_.columns; ++j) start[j] = Start(std::min(first + j, p_.pixels - 1));
    }
    for (int64_t k = 2 * pair; k < 2 * (pair + pairs); k += 2, b += 2 * p_.columns) {
      const int16_t *even = image + p_.tap[static_cast<size_t>(k)],
                    *odd = image + p_.tap[static_cast<size_t>(k + 1)];
      if (p_.runs) {
        simd_.pair_rows(even + first, odd + first, b, p_.columns);
        continue;
      }
      for (int64_t j = 0; j < p_.columns; ++j) {
        b[2 * j] = even[start[j]];
        b[2 * j + 1] = odd[start[j]];
      }
    }
  }

  void Tile(float* const* p, const Scales& s, int64_t g, int64_t tile, const int16_t* image,
            Room room) const {
    auto* b = room.Take<int16_t>(kInt8Pairs * p_.columns * 2);
    auto* sums = room.Take<int32_t>(p_.out * p_.columns);
    const auto* weights = reinterpret_cast<const int16_t*>(p[kW]) +
                          g % p_.groups * p_.blocks * p_.pairs * kIntegerRows * 2;
    const int64_t first = tile * p_.columns;
    for (int64_t k = 0; k < p_.pairs; k += kInt8Pairs) {
      const int64_t n = std::min(kInt8Pairs, p_.pairs - k);
      PackPixels(image, first, k, n, b);
      for (int64_t r = 0; r < p_.out; r += kIntegerRows) {
        simd_.integer_product(weights + (r * p_.pairs + k * kIntegerRows) * 2, b, n, k > 0,
                              sums + r * p_.columns, p_.columns,
                              std::min(kIntegerRows, p_.out - r));
      }
    }
    const int64_t size = p_.out_h * p_.out_w;
    for (int64_t o = 0; o < p_.out; ++o) {
      Im2colTiles(first, [&](int64_t from, int64_t to, int64_t n) {
        Put(p, s, g % p_.groups * p_.out + o, sums + o * p_.columns + from,
            (g * p_.out + o) * size + to, n);
      });
    }
  }

  // f(from in the tile, to in the output's image, count) for the pixels of a tile that are kept.
  template <class F>
  void Im2colTiles(int64_t first, F f) const {
    const int64_t end = std::min(first + p_.columns, p_.pixels);
    if (!p_.runs) return f(0, first, end - first);
    for (int64_t at = first; at < end;) {
      const int64_t y = at / p_.wide, x = at % p_.wide;
      if (x < p_.out_w) {
        f(at - first, y * p_.out_w + x, std::min(p_.out_w - x, end - at));
      }
      at += p_.wide - x;
    }
  }

  void Put(float* const* p, const Scales& s, int64_t filter, const int32_t* sums, int64_t to,
           int64_t n) const {
    if (!p_.result.codes) {
      std::memcpy(p[kY] + to, sums, static_cast<size_t>(n) * sizeof(int32_t));
      return;
    }
    simd_.requantize_row(sums, s.BiasAt(filter), 0, s.scale + (p_.result.w_scales > 1 ? filter : 0),
                         0, s.zero, s.least, s.most, reinterpret_cast<uint8_t*>(p[kY]) + to, n);
  }

  const Simd& simd_;
  IntegerConvPlan p_;
};

}  // namespace

IntegerProductPlan::IntegerProductPlan(const Simd& simd, int64_t rows, int64_t cols, int64_t depth,
                                       QuantResult r)
    : m(rows),
      n(cols),
      k(depth),
      pairs((depth + 1) / 2),
      columns(2 * simd.lanes),
      panels((cols + columns - 1) / columns),
      result(r) {}

uint64_t IntegerProductPlan::scratch_bytes() const {
  const int64_t rows = (std::min(kInt8Rows, m) + kIntegerRows - 1) / kIntegerRows * kIntegerRows;
  return ScaleBytes(result) + Padded(static_cast<uint64_t>(rows * pairs * 2) * sizeof(int16_t)) +
         Padded(static_cast<uint64_t>(k) * sizeof(int16_t)) +
         Padded(static_cast<uint64_t>(std::min(kInt8Rows, m)) * sizeof(int32_t));
}

void IntegerProductPlan::Pack(const uint8_t* w, bool is_signed, const std::vector<int32_t>& zeros,
                              void* packed) const {
  auto* to = static_cast<uint8_t*>(packed);
  std::fill(to, to + weight_bytes(), uint8_t{0});
  const int32_t up = is_signed ? 128 : 0;
  auto* zero = reinterpret_cast<int32_t*>(to + code_bytes());
  for (int64_t j = 0; j < n; ++j) {
    zero[j] = up + (zeros.size() == 1 ? zeros[0] : zeros[static_cast<size_t>(j)]);
  }
  for (int64_t i = 0; i < k; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      to[((j / columns * pairs + i / 2) * columns + j % columns) * 2 + i % 2] =
          static_cast<uint8_t>(Int8At(w, is_signed, transposed ? j * k + i : i * n + j) + up);
    }
  }
}

std::unique_ptr<Loop> IntegerProductLoop(const Simd& simd, const IntegerProductPlan& plan) {
  return std::make_unique<ProductLoop>(simd, plan);
}

IntegerConvPlan::IntegerConvPlan(const Simd& simd, const ConvSpec& spec, int thread_count,
                                 QuantResult r)
    : batch(spec.src[0]),
      groups(spec.groups),
      in(spec.src[1] / spec.groups),
      out(spec.dst[1] / spec.groups),
      columns(2 * simd.lanes),
      threads(thread_count),
      result(r) {
  const bool line = spec.src.size() == 3;  // as images one pixel high
  const auto of = [&](const Dims& d, int axis, int64_t absent) {
    return line ? (axis == 0 ? absent : d.back()) : d[d.size() - 2 + static_cast<size_t>(axis)];
  };
  h = of(spec.src, 0, 1);
  w = of(spec.src, 1, 1);
  out_h = of(spec.dst, 0, 1);
  out_w = of(spec.dst, 1, 1);
  const int64_t kh = of(spec.weights, 0, 1), kw = of(spec.weights, 1, 1);
  const int64_t dh = of(spec.dilation, 0, 1), dw = of(spec.dilation, 1, 1);
  for (int axis : {0, 1}) {
    stride[axis] = of(spec.stride, axis, 1);
    pad[axis] = of(spec.pad_l, axis, 0);
  }
  high = (out_h - 1) * stride[0] + (kh - 1) * dh + 1;
  wide = (out_w - 1) * stride[1] + (kw - 1) * dw + 1;
  runs = stride[0] == 1 && stride[1] == 1;
  pixels = runs ? (out_h - 1) * wide + out_w : out_h * out_w;
  tiles = (pixels + columns - 1) / columns;
  depth = in * kh * kw;
  pairs = (depth + 1) / 2;
  blocks = (out + kIntegerRows - 1) / kIntegerRows;
  for (int64_t k = 0; k < depth; ++k) {
    tap.push_back((k / (kh * kw) * high + k / kw % kh * dh) * wide + k % kw * dw);
  }
  if (depth % 2 != 0) tap.push_back(0);  // its weights are zeros
}

uint64_t IntegerConvPlan::thread_bytes() const {
  return Padded(static_cast<uint64_t>(kInt8Pairs * columns * 2) * sizeof(int16_t)) +
         Padded(static_cast<uint64_t>(out * columns) * sizeof(int32_t));
}

uint64_t IntegerConvPlan::scratch_bytes() const {
  return ScaleBytes(result) + Padded(static_cast<uint64_t>(image_count()) * sizeof(int16_t)) +
         thread_bytes() * static_cast<uint64_t>(threads);
}

void IntegerConvPlan::Pack(const uint8_t* w8, bool is_signed, const std::vector<int32_t>& zeros,
                           void* packed) const {
  auto* to = static_cast<int16_t*>(packed);
  std::fill(to, to + weight_bytes() / sizeof(int16_t), int16_t{0});
  for (int64_t f = 0; f < groups * out; ++f) {
    const int32_t zero = zeros.size() == 1 ? zeros[0] : zeros[static_cast<size_t>(f)];
    const int64_t g = f / out, o = f % out;
    int16_t* block = to + ((g * blocks + o / kIntegerRows) * pairs * kIntegerRows) * 2;
    for (int64_t k = 0; k < depth; ++k) {
      block[(k / 2 * kIntegerRows + o % kIntegerRows) * 2 + k % 2] =
          static_cast<int16_t>(Int8At(w8, is_signed, f * depth + k) - zero);
    }
  }
}

std::unique_ptr<Loop> IntegerConvLoop(const Simd& simd, const IntegerConvPlan& plan) {
  return std::make_unique<ConvLoop>(simd, plan);
}

}  // namespace ge_engines::cpu::native
