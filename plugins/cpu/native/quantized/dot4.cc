#include "plugins/cpu/native/quantized/dot4.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/kit/thresholds.h"
#include "plugins/cpu/native/quantized/scratch.h"
#include "plugins/units/window.h"

namespace ge_engines::cpu::native {
namespace {

// A kernel reads up to this many bytes behind the last run of an image.
constexpr int64_t kReadBeyond = 64;
// Pixels whose windows stay in a cache while all panels of weights pass.
constexpr int64_t kDot4Pixels = 48;
// With a bias beyond this beside the sums, their total may leave int32.
constexpr int64_t kMostBias = int64_t{1} << 30;

// The factors of sums, in the kernels' order of columns.
struct Finished {
  int32_t* add;
  float* scale;
  double* exact;
  double* bias;
  int32_t* apart;  // one: whether the bias is not in `add`

  Finished(const Dot4Plan& plan, char* at) {
    Room room{at};
    const int64_t n = plan.groups_columns();
    add = room.Take<int32_t>(n);
    scale = room.Take<float>(n);
    exact = room.Take<double>(n);
    bias = room.Take<double>(n);
    apart = room.Take<int32_t>(1);
  }
};

// Inputs by Placed, of which those are read that the result has.
int32_t ZeroOf(const QuantResult& r, const void* const* p) {  // of uint8, moved up
  const int32_t zero = r.x_zero ? Int8At(p[kXZero], r.x_signed) : 0;
  return zero + (r.x_signed ? 128 : 0);
}

void MakeFinish(const Dot4Plan& plan, const void* const* p, const int32_t* sums,
                const Finished& f) {
  const QuantResult& r = plan.result;
  const int64_t n = plan.groups_columns();
  const auto zero = static_cast<uint32_t>(ZeroOf(r, p));
  for (int64_t i = 0; i < n; ++i) {
    f.add[i] = static_cast<int32_t>(0u - zero * static_cast<uint32_t>(sums[i]));
  }
  *f.apart = 0;
  if (!r.codes) return;
  const auto* scales = static_cast<const float*>(p[kWScale]);
  const double x = FloatAt(static_cast<const float*>(p[kXScale]));
  const double y = FloatAt(static_cast<const float*>(p[kYScale]));
  const auto* whole = static_cast<const int32_t*>(p[kBias]);
  const auto* floats = static_cast<const float*>(p[kBias]);
  bool apart = r.bias_floats;
  for (int64_t i = 0; i < r.biases && !r.bias_floats; ++i) {
    apart |= std::abs(int64_t{whole[i]}) > kMostBias;
  }
  for (int64_t i = 0; i < n; ++i) {
    const int64_t c = plan.channel(i);
    const double w = c < 0 ? 0 : FloatAt(scales, r.w_scales > 1 ? c : 0);
    f.exact[i] = x * w / y;
    f.scale[i] = static_cast<float>(f.exact[i] * (1 << kDot4Point));
    apart |= !std::isfinite(f.scale[i]);
    f.bias[i] = c < 0 || r.biases == 0 ? 0 : r.bias_floats ? floats[c] / (x * w) : whole[c];
  }
  for (int64_t i = 0; i < n && !apart && r.biases > 0; ++i) {
    f.add[i] = static_cast<int32_t>(static_cast<uint32_t>(f.add[i]) +
                                    static_cast<uint32_t>(static_cast<int32_t>(f.bias[i])));
  }
  *f.apart = apart ? 1 : 0;
}

class Dot4Conv final : public Loop {
 public:
  Dot4Conv(const Dot4Kernels& kernels, const Dot4Plan& plan) : k_(kernels), p_(plan) {}

  void Run(float* const* p) const override {
    Room room{reinterpret_cast<char*>(p[kScratch])};
    const Dot4Finish finish = Prepare(p, room.Take<char>(p_.settled ? 0 : p_.finish_bytes()));
    uint8_t* copy = room.Take<uint8_t>(p_.image_bytes());
    const auto* x = reinterpret_cast<const uint8_t*>(p[kX]);
    const bool wide = p_.threads > 1 && p_.macs() > kParallelQuantized;
    for (int64_t i = 0; i < p_.batch; ++i) {
      const uint8_t* image = x + i * p_.h * p_.w * p_.pixel();
      if (p_.copies) {
        Copy(p, image, copy, wide);
        image = copy;
      }
      auto* y = reinterpret_cast<uint8_t*>(p[kY]) + i * p_.pixels() * p_.pixel_out();
      if (p_.depthwise) {
        Depthwise(p, image, finish, y, copy, wide);
      } else {
        Products(p, image, finish, y, wide);
      }
    }
  }

 private:
  Dot4Finish Prepare(float* const* p, char* room) const {
    const QuantResult& r = p_.result;
    auto* weights = reinterpret_cast<char*>(p[kW]);
    char* const packed = weights + p_.code_bytes() + p_.sum_bytes();
    const Finished f(p_, p_.settled ? packed + p_.less_bytes() : room);
    if (!p_.settled) {
      const void* inputs[kScratch];
      std::copy(p, p + kScratch, inputs);
      MakeFinish(p_, inputs, reinterpret_cast<const int32_t*>(weights + p_.code_bytes()), f);
    }
    Dot4Finish out;
    out.add = f.add;
    if (p_.w_zeros > 0) out.less = reinterpret_cast<const int32_t*>(packed);
    if (!r.codes) return out;
    out.scale = f.scale;
    out.exact = f.exact;
    out.bias = *f.apart != 0 ? f.bias : nullptr;
    out.zero = static_cast<int16_t>(r.y_zero ? Int8At(p[kYZero], r.y_signed) : 0);
    out.least = static_cast<int16_t>(r.least());
    out.most = static_cast<int16_t>(r.most());
    return out;
  }

  // Copies the image with its padding; padding is the zero point.
  void Copy(float* const* p, const uint8_t* x, uint8_t* copy, bool wide) const {
    const int64_t c = p_.pixel(), row = p_.wide * c;
    const void* inputs[kScratch];
    std::copy(p, p + kScratch, inputs);
    const int32_t zero = ZeroOf(p_.result, inputs);
    const int64_t before = std::min(p_.pad[1], p_.wide);
    const int64_t count = std::clamp<int64_t>(p_.wide - before, 0, p_.w);
    ForRange(wide, p_.high, [&](int64_t i) {
      uint8_t* to = copy + i * row;
      const int64_t from = i - p_.pad[0];
      if (from < 0 || from >= p_.h) {
        std::memset(to, zero, static_cast<size_t>(row));
        return;
      }
      std::memset(to, zero, static_cast<size_t>(before * c));
      const uint8_t* line = x + from * p_.w * c;
      if (p_.result.x_signed) {
        k_.turn(line, to + before * c, count * c);
      } else {
        std::memcpy(to + before * c, line, static_cast<size_t>(count * c));
      }
      std::memset(to + (before + count) * c, zero, static_cast<size_t>(row - (before + count) * c));
    });
  }

  const uint8_t* WindowOf(const uint8_t* image, int64_t i) const {
    const int64_t y = i / p_.out_w * p_.stride[0], x = i % p_.out_w * p_.stride[1];
    return image + (y * p_.wide + x) * p_.pixel();
  }

  // Chunks of pixels, each by all panels, or by one where there are few chunks.
  void Products(float* const* p, const uint8_t* image, const Dot4Finish& f, uint8_t* y,
                bool wide) const {
    const int64_t chunks = CeilDiv(p_.pixels(), kDot4Pixels), panels = p_.groups * p_.panels;
    const bool apart = wide && chunks < 4 * p_.threads;
    ForRange(wide, apart ? chunks * panels : chunks, [&](int64_t job) {
      const int64_t chunk = apart ? job / panels : job, first = apart ? job % panels : 0;
      for (int64_t i = first; i < (apart ? first + 1 : panels); ++i) {
        Panel(p, image, f, y, i, p_.pixels() * chunk / chunks, p_.pixels() * (chunk + 1) / chunks);
      }
    });
  }

  // Pixels [from, end) by one panel, in tiles of about as many rows each.
  void Panel(float* const* p, const uint8_t* image, const Dot4Finish& finish, uint8_t* y,
             int64_t panel, int64_t from, int64_t end) const {
    const int64_t group = panel / p_.panels, first = panel % p_.panels * kDot4Columns;
    Dot4Tile t;
    t.at = p_.at.data();
    t.runs = static_cast<int64_t>(p_.at.size());
    t.quads = p_.quads;
    t.bytes = p_.run;
    t.columns = std::min(kDot4Columns, p_.out - first);
    t.vectors = CeilDiv(t.columns, kDot4Lanes);
    t.w = reinterpret_cast<const int8_t*>(p[kW]) + panel * p_.panel_bytes();
    Dot4Finish f = finish;
    const int64_t column = group * p_.columns() + first;
    f.add += column;
    if (f.less != nullptr) f.less += column;
    if (f.scale != nullptr) {
      f.scale += column;
      f.exact += column;
    }
    if (f.bias != nullptr) f.bias += column;
    const int64_t size = p_.result.codes ? 1 : static_cast<int64_t>(sizeof(int32_t));
    uint8_t* to = y + (group * p_.out + first) * size;
    const int64_t count = end - from, tiles = CeilDiv(count, k_.rows(t.vectors));
    int64_t i = from, left = p_.out_w - from % p_.out_w;  // pixels to the end of the line
    const uint8_t* window = WindowOf(image, i) + group * p_.in;
    for (int64_t tile = 0; tile < tiles; ++tile) {
      t.rows = from + count * (tile + 1) / tiles - i;
      for (int64_t r = 0; r < t.rows; ++r, ++i) {
        t.x[r] = window;
        t.y[r] = to + i * p_.pixel_out();
        window += p_.stride[1] * p_.pixel();
        if (--left > 0) continue;
        left = p_.out_w;
        window = WindowOf(image, i + 1) + group * p_.in;
      }
      k_.product(t, f);
    }
  }

  // 64 channels at a time, `together` lines of the result: what the windows read of the lines above
  // each other comes side by side first.
  void Depthwise(float* const* p, const uint8_t* image, const Dot4Finish& finish, uint8_t* y,
                 uint8_t* room, bool wide) const {
    ForRange(wide, CeilDiv(p_.out_h, p_.together), [&](int64_t job) {
      uint8_t* quads = room + (wide ? omp_get_thread_num() : 0) * p_.line_bytes();
      const int64_t from = job * p_.together, end = std::min(from + p_.together, p_.out_h);
      for (int64_t b = 0; b < p_.panels; ++b) {
        const int64_t first = b * kDot4Columns;
        const int64_t channels = std::min(kDot4Columns, p_.groups - first);
        Lines(p, image + first, from, channels, quads);
        Dot4Finish f = finish;
        f.add += first;
        if (f.scale != nullptr) {
          f.scale += first;
          f.exact += first;
        }
        if (f.bias != nullptr) f.bias += first;
        const int64_t pixel = p_.quads * kDot4Depth, out = p_.pixel_out();
        const int64_t size = out / p_.groups;
        const auto* w = reinterpret_cast<const int8_t*>(p[kW]) + b * p_.panel_bytes();
        for (int64_t row = from; row < end; ++row, w += p_.tap_bytes()) {
          k_.depthwise({quads, p_.stride[1] * pixel, p_.dilation[1] * pixel, p_.kw, p_.quads, w,
                        p_.out_w, channels, y + row * p_.out_w * out + first * size, out},
                       f);
        }
      }
    });
  }

  // The lines that lines of the result from `row` on read, padding included.
  void Lines(float* const* p, const uint8_t* x, int64_t row, int64_t channels,
             uint8_t* quads) const {
    alignas(64) uint8_t padding[kDot4Columns];
    std::memset(padding, p_.result.x_zero ? Int8At(p[kXZero], p_.result.x_signed) : 0,
                sizeof padding);
    const int64_t before = std::min(p_.pad[1], p_.wide);
    const int64_t count = std::clamp<int64_t>(p_.wide - before, 0, p_.w);
    const int64_t c = p_.pixel(), step = p_.quads * kDot4Depth;
    for (int64_t q = 0; q < p_.quads; ++q) {
      Dot4Lines lines = {{}, {}, 0, channels, p_.result.x_signed, quads + q * kDot4Depth, step};
      const auto take = [&](bool inside, int64_t pixels) {
        for (int64_t i = 0; i < 4; ++i) {
          const int64_t tap = q * 4 + i;
          const int64_t h = row * p_.stride[0] - p_.pad[0] + tap * p_.dilation[0];
          const bool there = inside && tap < p_.lines() && h >= 0 && h < p_.h;
          lines.line[i] = there ? x + h * p_.w * c : padding;
          lines.step[i] = there ? c : 0;
        }
        lines.pixels = pixels;
        k_.lines(lines);
        lines.to += pixels * step;
      };
      take(false, before);
      take(true, count);
      take(false, p_.wide - before - count);
    }
  }

  const Dot4Kernels& k_;
  const Dot4Plan p_;
};

}  // namespace

bool Dot4Plan::Suits(const ConvSpec& spec, bool symmetric) {
  const int64_t in = spec.src[1] / spec.groups, out = spec.dst[1] / spec.groups;
  return spec.groups == 1 || (in == 1 && out == 1 && symmetric) || in % 4 == 0;
}

Dot4Plan::Dot4Plan(const ConvSpec& spec, int thread_count, const QuantResult& r)
    : batch(spec.src[0]),
      groups(spec.groups),
      in(spec.src[1] / spec.groups),
      out(spec.dst[1] / spec.groups),
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
  kh = of(spec.weights, 0, 1);
  kw = of(spec.weights, 1, 1);
  for (int axis : {0, 1}) {
    stride[axis] = of(spec.stride, axis, 1);
    dilation[axis] = of(spec.dilation, axis, 1);
    pad[axis] = of(spec.pad_l, axis, 0);
  }
  Finish();
}

Dot4Plan::Dot4Plan(int64_t m, int64_t n, int64_t k, bool transposed, int thread_count,
                   const QuantResult& r)
    : in(k), out(n), w(m), out_w(m), by_rows(!transposed), threads(thread_count), result(r) {
  Finish();
}

void Dot4Plan::Finish() {
  depthwise = groups > 1 && in == 1 && out == 1;
  high = (out_h - 1) * stride[0] + (kh - 1) * dilation[0] + 1;
  wide = (out_w - 1) * stride[1] + (kw - 1) * dilation[1] + 1;
  const bool joined = groups == 1 && dilation[1] == 1;  // taps of a line lie side by side
  run = joined ? kw * in : in;
  quads = CeilDiv(depthwise ? kh : run, 4);
  if (depthwise && dilation[0] == 1) together = (4 * quads - kh) / stride[0] + 1;
  copies = !depthwise &&
           (result.x_signed || pad[0] > 0 || pad[1] > 0 || high > h || wide > w || run % 4 != 0);
  if (!copies && !depthwise) {
    high = h;
    wide = w;
  }
  for (int64_t y = 0; y < kh; ++y) {
    for (int64_t x = 0; x < (joined ? 1 : kw); ++x) {
      at.push_back((y * dilation[0] * wide + x * dilation[1]) * pixel());
    }
  }
  panels = CeilDiv(depthwise ? groups : out, kDot4Columns);
}

int64_t Dot4Plan::groups_columns() const { return (depthwise ? 1 : groups) * columns(); }

int64_t Dot4Plan::panel_bytes() const {
  if (depthwise) return together * tap_bytes();
  return static_cast<int64_t>(at.size()) * quads * 4 * kDot4Columns;
}

uint64_t Dot4Plan::code_bytes() const {
  return static_cast<uint64_t>((depthwise ? 1 : groups) * panels * panel_bytes());
}

uint64_t Dot4Plan::sum_bytes() const {
  return Padded(static_cast<uint64_t>(groups_columns()) * sizeof(int32_t));
}

int64_t Dot4Plan::finish_bytes() const {
  const auto n = static_cast<uint64_t>(groups_columns());
  return static_cast<int64_t>(Padded(n * sizeof(int32_t)) + Padded(n * sizeof(float)) +
                              2 * Padded(n * sizeof(double)) + Padded(sizeof(int32_t)));
}

uint64_t Dot4Plan::less_bytes() const { return w_zeros > 0 ? sum_bytes() : 0; }

uint64_t Dot4Plan::weight_bytes() const {
  return code_bytes() + sum_bytes() + less_bytes() +
         (settled ? static_cast<uint64_t>(finish_bytes()) : 0);
}

uint64_t Dot4Plan::scratch_bytes() const {
  return (settled ? 0 : Padded(static_cast<uint64_t>(finish_bytes()))) +
         Padded(static_cast<uint64_t>(image_bytes()));
}

int64_t Dot4Plan::line_bytes() const { return wide * quads * kDot4Depth; }

int64_t Dot4Plan::image_bytes() const {
  if (depthwise) return threads * line_bytes();
  return copies ? high * wide * pixel() + kReadBeyond : 0;
}

int64_t Dot4Plan::macs() const { return pixels() * groups * out * in * taps(); }

int64_t Dot4Plan::channel(int64_t i) const {
  if (!depthwise) {
    const int64_t column = i % columns();
    return column < out ? i / columns() * out + column : -1;
  }
  const int64_t lane = i % kDot4Columns;
  const int64_t c = i - lane + GE_DEPTHWISE_CHANNEL(lane / kDot4Lanes, lane % kDot4Lanes);
  return c < groups ? c : -1;
}

std::string Dot4Plan::PackKey() const {
  const QuantResult& r = result;
  std::string key = "dot4 weights " + ToText({groups, in, out, kh, kw, run, by_rows ? 1 : 0});
  if (together > 1) key += " together " + ToText({together, stride[0]});
  if (w_zeros > 0) key += " less " + std::to_string(w_zeros);
  if (!settled) return key;
  return key + " finished " +
         ToText({r.x_signed ? 1 : 0, r.x_zero ? 1 : 0, r.codes ? 1 : 0, r.w_scales, r.biases,
                 r.bias_floats ? 1 : 0});
}

void Dot4Plan::Settle(const void* const* inputs, void* packed) const {
  auto* to = static_cast<char*>(packed) + code_bytes();
  MakeFinish(*this, inputs, reinterpret_cast<const int32_t*>(to),
             Finished(*this, to + sum_bytes() + less_bytes()));
}

void Dot4Plan::Pack(const uint8_t* w8, bool is_signed, const uint8_t* zeros, void* packed) const {
  auto* to = static_cast<uint8_t*>(packed);
  std::memset(to, 0, weight_bytes());
  auto* sums = reinterpret_cast<int32_t*>(to + code_bytes());
  auto* less = reinterpret_cast<int32_t*>(to + code_bytes() + sum_bytes());
  const uint8_t turn = is_signed ? 0 : 0x80;    // makes int8 of uint8
  const auto at_column = [&](int64_t filter) {  // of the sums
    if (!depthwise) return filter / out * columns() + filter % out;
    const int64_t lane = filter % kDot4Columns;
    return filter - lane + (lane % 16 / 4) * kDot4Lanes + lane / 16 * 4 + lane % 4;
  };
  const int64_t per_run = depthwise ? 1 : run / in;  // taps of a run
  for (int64_t filter = 0; filter < groups * out; ++filter) {
    const int64_t column = at_column(filter), lane = column % kDot4Columns;
    uint8_t* panel = to + column / kDot4Columns * panel_bytes() + lane * 4;
    const int64_t first = depthwise ? 0 : filter % out / kDot4Columns * kDot4Columns;
    const int64_t row =
        4 * (depthwise ? kDot4Columns
                       : CeilDiv(std::min(kDot4Columns, out - first), kDot4Lanes) * kDot4Lanes);
    int32_t sum = 0;
    for (int64_t tap = 0; tap < taps(); ++tap) {
      const uint8_t* from = w8 + (by_rows ? filter : filter * in * taps() + tap);
      const int64_t step = by_rows ? out : taps();
      // The byte's place among those that a row is read in.
      int64_t k = depthwise ? tap % kw * quads * 4 + tap / kw
                            : tap / per_run * quads * 4 + tap % per_run * in;
      for (int64_t c = 0; c < in; ++c, ++k, from += step) {
        const auto code = static_cast<uint8_t>(*from ^ turn);
        for (int64_t l = 0; l < together; ++l) {
          const int64_t at = k + l * stride[0];
          panel[l * tap_bytes() + at / 4 * row + at % 4] = code;
        }
        sum += static_cast<int8_t>(code);
      }
    }
    if (w_zeros > 0) {
      less[column] = -static_cast<int8_t>(zeros[w_zeros > 1 ? filter : 0] ^ turn);
      sum += static_cast<int32_t>(in * taps()) * less[column];
    }
    sums[column] = sum;
  }
}

std::unique_ptr<Loop> Dot4Loop(const Dot4Kernels& kernels, const Dot4Plan& plan) {
  return std::make_unique<Dot4Conv>(kernels, plan);
}

const Dot4Kernels* Dot4KernelsOf(uint32_t isa) {
  __builtin_cpu_init();
  if (isa >= GE_ISA_AVX512 && __builtin_cpu_supports("avx512vnni")) return &kDot4KernelsAvx512;
  return isa >= GE_ISA_AVX2 ? &kDot4KernelsAvx2 : nullptr;
}

}  // namespace ge_engines::cpu::native
