#include "plugins/cpu/native/conv/winograd.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>
#include <tuple>

#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/kit/price.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/conv/algorithm.h"

namespace ge_engines::cpu::native {
namespace {

int64_t Ceil(int64_t a, int64_t b) { return (a + b - 1) / b; }

// A distance in floats that is an odd number of cache lines, so that vectors of all positions do
// not meet in the same sets of the first cache.
int64_t OddLines(int64_t floats) {
  const int64_t lines = Ceil(floats, 16);
  return (lines + (lines % 2 == 0 ? 1 : 0)) * 16;
}

// The rows that turn three taps into values at a point, see simd/winograd.cc.
std::vector<std::vector<double>> WeightRows(int64_t pixels) {
  if (pixels == 2) return {{-1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}};
  const double a = double{kWinogradA}, b = double{kWinogradB}, a2 = a * a, b2 = b * b;
  std::vector<std::vector<double>> rows = {{1 / (a2 * b2), 0, 0}};
  const double of_a = 1 / (2 * a2 * (a2 - b2)), of_b = 1 / (2 * b2 * (b2 - a2));
  for (double sign : {1.0, -1.0}) rows.push_back({of_a, sign * a * of_a, a2 * of_a});
  for (double sign : {1.0, -1.0}) rows.push_back({of_b, sign * b * of_b, b2 * of_b});
  rows.push_back({0, 0, 1});
  return rows;
}

// Where channel c of a slice of a volume starts, and the distances of its pixels; an image is one
// slice.
struct Image {
  Image(const Layout& l, int64_t n, int64_t slice)
      : base(n * l.stride[0] + (l.rank > 4 ? slice * l.stride[2] : 0)),
        channel(l.cblock > 0 ? l.stride[1] / l.cblock : 1),
        row(l.stride[l.rank - 2]),
        column(l.stride[l.rank - 1]),
        blocked(l.cblock > 0) {}
  // Of a channel that starts a block.
  int64_t At(int64_t c, int64_t y, int64_t x) const {
    return base + c * channel + y * row + x * column;
  }
  int64_t base, channel, row, column;
  bool blocked;
};

class WinogradConv final : public Loop {
 public:
  WinogradConv(const Simd& simd, const WinogradPlan& plan, const Layout& x, const Layout& y,
               std::vector<TilePostOp> post_ops)
      : simd_(simd), s_(plan), x_(x), y_(y), post_ops_(std::move(post_ops)) {}

  void Run(float* const* p) const override {
    const int64_t jobs = s_.images * s_.blocks * s_.parts;
    ForJobs(s_.threads, jobs, p[4], s_.workspace_floats(),
            [&](int64_t i, float* room) { Job(p, i, room); });
  }

 private:
  // Tiles [first, first + count) of a slice of the result, the taps in depth that they read by, and
  // where they are worked on.
  struct Part {
    int64_t volume, slice, tap, end, first, count;
    float *v, *m, *tile, *operand;
  };

  void Job(float* const* p, int64_t i, float* room) const {
    const int64_t part = i % s_.parts, block = i / s_.parts % s_.blocks;
    Part b;
    const int64_t image = i / s_.parts / s_.blocks;
    b.volume = image / s_.dst_d;
    b.slice = image % s_.dst_d;
    std::tie(b.tap, b.end) = s_.TapsOf(b.slice);
    b.first = block * s_.tiles;
    b.count = std::min(s_.tiles, s_.tiles_h * s_.tiles_w - b.first);
    b.v = room;
    b.m = b.v + s_.positions() * s_.v_position();
    b.tile = b.m + s_.positions() * s_.m_position();
    b.operand = b.tile + s_.h * s_.w * s_.group();
    for (int64_t k = 0; k < WinogradGroups(b.count); ++k) {
      const int64_t next = WinogradGroup(b.count, k + 1);
      for (int64_t t = WinogradGroup(b.count, k); t < next; ++t) Transform(p[1], b, k, t);
    }
    const int64_t end = s_.groups() * (part + 1) / s_.parts, of_tap = s_.depth() / s_.taps;
    for (int64_t g = s_.groups() * part / s_.parts; g < end; ++g) {
      const int64_t wide = s_.VectorsOf(g) * s_.lanes;
      const float* u = p[2] + g * s_.positions() * s_.depth() * s_.group() + b.tap * of_tap * wide;
      for (int64_t q = 0; q < s_.positions(); ++q) {
        simd_.winograd_product(u + q * s_.depth() * wide, b.v + q * s_.v_position(),
                               b.m + q * s_.m_position(), b.count, (b.end - b.tap) * of_tap,
                               s_.VectorsOf(g));
      }
      for (int64_t t = 0; t < b.count; ++t) Finish(p, b, t, g);
    }
  }

  // Tile t, of the group k of tiles.
  void Transform(const float* x, const Part& b, int64_t k, int64_t t) const {
    const int64_t first = WinogradGroup(b.count, k), some = WinogradGroup(b.count, k + 1) - first;
    const int64_t y0 = (b.first + t) / s_.tiles_w * s_.h - s_.pad_h;
    const int64_t x0 = (b.first + t) % s_.tiles_w * s_.w - s_.pad_w;
    const bool inside =
        y0 >= 0 && x0 >= 0 && y0 + s_.h + 2 <= s_.src_h && x0 + s_.w + 2 <= s_.src_w;
    float* to = b.v + (first * (b.end - b.tap) * s_.in_blocks() + t - first) * s_.lanes;
    for (int64_t k = b.tap; k < b.end; ++k) {
      const int64_t slice = s_.SliceOf(b.slice, k);
      const bool there = slice >= 0 && slice < s_.src_d;
      const Image from(x_, b.volume, there ? slice : 0);
      for (int64_t c = 0; c < s_.in; c += s_.lanes, to += some * s_.lanes) {
        if (there && inside && (from.blocked || c + s_.lanes <= s_.in)) {
          simd_.winograd_input(s_.h, s_.w, x + from.At(c, y0, x0), from.row, from.column, to,
                               s_.v_position());
        } else {
          Stage(x, from, c, y0, there ? x0 : s_.src_w, to);
        }
      }
    }
  }

  // A tile that reaches over a border, with zeros there; beyond it, it is all zeros.
  void Stage(const float* x, const Image& from, int64_t c, int64_t y0, int64_t x0,
             float* to) const {
    constexpr int kMost = 36 * 16;
    alignas(64) float tile[kMost] = {};
    const int64_t n = std::min(s_.lanes, s_.in - c), width = s_.w + 2;
    const int64_t top = std::max<int64_t>(0, -y0),
                  bottom = std::min<int64_t>(s_.h + 2, s_.src_h - y0);
    const int64_t left = std::max<int64_t>(0, -x0), right = std::min(width, s_.src_w - x0);
    for (int64_t i = top; i < bottom && left < right; ++i) {
      simd_.copy_rows(x + from.At(c, y0 + i, x0 + left), from.column,
                      tile + (i * width + left) * s_.lanes, s_.lanes, right - left, n);
    }
    simd_.winograd_input(s_.h, s_.w, tile, width * s_.lanes, s_.lanes, to, s_.v_position());
  }

  // Output group g of one tile: back to pixels, posts, and into the result.
  void Finish(float* const* p, const Part& b, int64_t t, int64_t g) const {
    const int vectors = s_.VectorsOf(g);
    const int64_t pixel = vectors * s_.lanes, c = g * s_.group();
    bool finite = true;
    for (int64_t j = 0; j < pixel; j += s_.lanes) {
      finite &= simd_.winograd_output(s_.h, s_.w, b.m + t * pixel + j, s_.m_position(),
                                      p[3] + c + j, b.tile + j, pixel);
    }
    if (!finite) Direct(p, b, t, g);
    const int64_t n = s_.h * s_.w * pixel;
    size_t operand = 6;
    for (const TilePostOp& q : post_ops_) {
      if (!q.binary) {
        simd_.unary(q.fn, q.a, q.b, b.tile, b.tile, n);
        continue;
      }
      Exchange(p[operand++], b, t, g, b.operand, false);
      simd_.binary(q.fn, b.tile, b.operand, b.tile, n);
    }
    if (y_.padded() && c + pixel > s_.out) {
      for (int64_t i = 0; i < s_.h * s_.w; ++i) {
        std::fill(b.tile + i * pixel + s_.out - c, b.tile + (i + 1) * pixel, 0.0f);
      }
    }
    Exchange(p[0], b, t, g, b.tile, true);
  }

  // The same group of a tile by its definition, up to the bias: infinities, NaN and sums that
  // overflow stay where they belong. Sums are of double precision, so that only results that are
  // beyond a float become infinite.
  void Direct(float* const* p, const Part& b, int64_t t, int64_t g) const {
    const int64_t y0 = (b.first + t) / s_.tiles_w * s_.h - s_.pad_h;
    const int64_t x0 = (b.first + t) % s_.tiles_w * s_.w - s_.pad_w;
    const int64_t pixel = s_.VectorsOf(g) * s_.lanes, first = g * s_.group();
    const int64_t some = std::min(pixel, s_.out - first);
    std::vector<double> sums(static_cast<size_t>(some * kPixels), 0.0);
    for (int64_t i = 0; i < s_.in * s_.taps; ++i) {
      const int64_t c = i / s_.taps, k = i % s_.taps, slice = s_.SliceOf(b.slice, k);
      if (slice < 0 || slice >= s_.src_d) continue;
      double window[36];
      Window(p[1], Image(x_, b.volume, slice), c, y0, x0, window);
      AddWindow(reinterpret_cast<const char*>(p[5]) + (first * s_.in * s_.taps + i) * 9 * 4, some,
                window, sums.data());
    }
    for (int64_t o = 0; o < some; ++o) {
      for (int64_t i = 0; i < s_.h * s_.w; ++i) {
        const double sum = sums[static_cast<size_t>(o * kPixels + i)];
        b.tile[i * pixel + o] = static_cast<float>(sum + double{p[3][first + o]});
      }
    }
  }

  // A window by the 3 x 3 taps of `some` outputs, the first of which lie at `taps`.
  void AddWindow(const char* taps, int64_t some, const double* window, double* sums) const {
    for (int64_t o = 0; o < some; ++o) {
      float w[9];  // a constant of the host's, maybe unaligned
      std::memcpy(w, taps + o * s_.in * s_.taps * 9 * 4, sizeof(w));
      double* sum = sums + o * kPixels;
      for (int64_t k = 0; k < 9; ++k) {
        const double* at = window + k / 3 * (s_.w + 2) + k % 3;
        for (int i = 0; i < s_.h; ++i, at += s_.w + 2) {
          for (int j = 0; j < s_.w; ++j) sum[i * s_.w + j] += double{w[k]} * at[j];
        }
      }
    }
  }

  // Channel c of the pixels that a tile reads, with zeros beyond the borders.
  void Window(const float* x, const Image& from, int64_t c, int64_t y0, int64_t x0,
              double* to) const {
    const int64_t inner = from.blocked ? c % s_.lanes : 0;
    for (int64_t y = y0; y < y0 + s_.h + 2; ++y) {
      for (int64_t at = x0; at < x0 + s_.w + 2; ++at, ++to) {
        const bool inside = y >= 0 && y < s_.src_h && at >= 0 && at < s_.src_w;
        *to = inside ? double{x[from.At(c - inner, y, at) + inner]} : 0.0;
      }
    }
  }

  // Between a tile and the tensor `y`, laid out as the result, one way or the other.
  void Exchange(float* y, const Part& b, int64_t t, int64_t g, float* tile, bool out) const {
    const Image at(y_, b.volume, b.slice);
    const int64_t pixel = s_.VectorsOf(g) * s_.lanes, c = g * s_.group();
    const int64_t y0 = (b.first + t) / s_.tiles_w * s_.h, x0 = (b.first + t) % s_.tiles_w * s_.w;
    const int64_t rows = std::min<int64_t>(s_.h, s_.dst_h - y0);
    const int64_t columns = std::min<int64_t>(s_.w, s_.dst_w - x0);
    const int64_t step = at.blocked ? s_.lanes : pixel;
    const int64_t n = at.blocked ? s_.lanes : std::min(pixel, s_.out - c);
    for (int64_t j = 0; j < pixel; j += step) {
      for (int64_t i = 0; i < rows; ++i) {
        float* inner = tile + i * s_.w * pixel + j;
        float* outer = y + at.At(c + j, y0 + i, x0);
        if (out) {
          simd_.copy_rows(inner, pixel, outer, at.column, columns, n);
        } else {
          simd_.copy_rows(outer, at.column, inner, pixel, columns, n);
        }
      }
    }
  }

  static constexpr int64_t kPixels = 16;  // of a tile, at most

  const Simd& simd_;
  const WinogradPlan s_;
  const Layout x_, y_;
  const std::vector<TilePostOp> post_ops_;
};

}  // namespace

// Weights of a volume beyond these, 4 MiB, stay as they are: they are those of deep layers with few
// pixels, which are a tenth of the time of such nets, and transformed they would be most of their
// memory (r3d_18: 290 MB in place of 220).
constexpr int64_t kMostOfVolumes = int64_t{1} << 20;

bool IsWinograd(const ConvSpec& spec, const Machine& machine) {
  const size_t rank = spec.src.size();
  if (machine.exact || spec.transposed || spec.groups != 1 || rank < 4 || rank > 5) return false;
  if (rank == 5 && Product(spec.weights) > kMostOfVolumes) return false;
  for (size_t k = rank - 4; k < rank - 2; ++k) {
    if (spec.weights[k + 2] != 3 || spec.stride[k] != 1 || spec.dilation[k] != 1) return false;
  }
  // Transforms are of whole vectors of channels; with few of them direct sums take as long at most.
  // Direct / Winograd on an AMD EPYC, 56 to 224 pixels a side: AVX-512 3 -> 16 channels 0.40, 8 ->
  // 8 0.41, 3 -> 32 0.65, 16 -> 16 1.7; AVX2 3 -> 16 0.64, 8 -> 8 1.2; SSE4.2 3 -> 3 0.44, 4 -> 4
  // 0.9, 3 -> 16 1.02.
  const int64_t few = 6 * (machine.isa >= GE_ISA_AVX512 ? 16 : machine.isa == GE_ISA_AVX2 ? 8 : 4);
  return spec.src[1] * spec.dst[1] > few;
}

WinogradPlan::WinogradPlan(const ConvSpec& spec, const Machine& machine, int tile_h, int tile_w)
    : h(tile_h), w(tile_w), threads(machine.threads) {
  lanes = machine.isa >= GE_ISA_AVX512 ? 16 : machine.isa == GE_ISA_AVX2 ? 8 : 4;
  const size_t r = spec.src.size();
  in = spec.src[1];
  out = spec.dst[1];
  src_h = spec.src[r - 2];
  src_w = spec.src[r - 1];
  dst_h = spec.dst[r - 2];
  dst_w = spec.dst[r - 1];
  pad_h = spec.pad_l[r - 4];
  pad_w = spec.pad_l[r - 3];
  if (r > 4) {
    src_d = spec.src[2];
    dst_d = spec.dst[2];
    taps = spec.weights[2];
    stride_d = spec.stride[0];
    dilation_d = spec.dilation[0];
    pad_d = spec.pad_l[0];
  }
  images = spec.src[0] * dst_d;
  vectors = std::min<int64_t>(machine.isa >= GE_ISA_AVX512 ? 4 : 2, Ceil(out, lanes));
  tiles_h = Ceil(dst_h, h);
  tiles_w = Ceil(dst_w, w);
  const int64_t all = tiles_h * tiles_w;
  // Weights that stay in the second cache (1.25 to 2 MiB) leave little room there to tiles; others
  // should be read seldom.
  const int64_t tile_bytes = positions() * taps * in_blocks() * lanes * 4;
  const int64_t most = std::max<int64_t>((Near() ? 160 << 10 : 768 << 10) / tile_bytes, 6);
  blocks = Ceil(all, most);
  if (images * blocks < threads && all >= 12 * threads) blocks = threads;
  tiles = Ceil(all, blocks);
  blocks = Ceil(all, tiles);
  parts = images * blocks < threads ? std::min<int64_t>(threads, groups()) : 1;
}

WinogradPlan WinogradPlan::Best(const ConvSpec& spec, const Machine& machine) {
  WinogradPlan best(spec, machine, 4, 4);
  for (const auto& [rows, columns] : {std::pair(2, 4), {4, 2}, {2, 2}}) {
    const WinogradPlan other(spec, machine, rows, columns);
    if (other.ns(machine) < best.ns(machine)) best = other;
  }
  return best;
}

int WinogradPlan::VectorsOf(int64_t g) const {
  return static_cast<int>(std::min(vectors, Ceil(out - g * group(), lanes)));
}
std::pair<int64_t, int64_t> WinogradPlan::TapsOf(int64_t d) const {
  int64_t first = 0, end = taps;
  while (first < end && SliceOf(d, first) < 0) ++first;
  while (end > first && SliceOf(d, end - 1) >= src_d) --end;
  return first < end ? std::pair(first, end) : std::pair<int64_t, int64_t>(0, 1);
}

int64_t WinogradPlan::v_position() const { return OddLines(taps * in_blocks() * tiles * lanes); }
int64_t WinogradPlan::m_position() const { return OddLines(tiles * group()); }
uint64_t WinogradPlan::weight_floats() const {
  return static_cast<uint64_t>(positions() * depth() * Ceil(out, lanes) * lanes);
}
uint64_t WinogradPlan::workspace_floats() const {
  return static_cast<uint64_t>(positions() * (v_position() + m_position()) + 2 * h * w * group());
}

bool WinogradPlan::Near() const { return weight_floats() * 4 <= (768u << 10); }

// Measured on one thread at 2.8 GHz, see docs/decisions/0005-winograd.md: products at 105 GF/s
// (AVX-512) and 68 (AVX2), weights from memory at 10 bytes a ns and again from the third cache at
// 25, both beside the products, and 4.5 ns a vector of a transformed tile.
double WinogradPlan::ns(const Machine& machine) const {
  const auto count = [](int64_t n) { return static_cast<double>(n); };
  const double all = count(images * tiles_h * tiles_w), to = count(Ceil(out, lanes));
  const double rate = ByIsa(machine, 105, 68, 20) * machine.compute;
  double slices = 0;  // that a slice of the result reads, in the mean
  for (int64_t d = 0; d < dst_d; ++d) slices += count(TapsOf(d).second - TapsOf(d).first);
  slices /= count(std::max<int64_t>(dst_d, 1));
  const double products = 2 * count(positions() * in * lanes) * slices * to * all / rate;
  const double bytes = 4 * static_cast<double>(weight_floats());
  const double again = Near() ? 0 : count(images * blocks - 1) * bytes / (25 * machine.stream[1]);
  const double stream = bytes / (10 * machine.stream[2]) + again;
  const double cell = count(positions()) * ByIsa(machine, 4.5, 4, 4.5) / machine.compute;
  const double busy = std::min<double>(threads, count(images * blocks * parts));
  const double cells = all * (slices * count(in_blocks()) + to);
  return (products + stream + cells * cell) / (busy > 1 ? 0.9 * busy : 1);
}

bool WinogradKeepsFinite(const void* weights, int64_t n) {
  // A transformed weight is at most 1.93 times the greatest of its nine (4 x 4 tiles). The bits of
  // magnitudes are in order, those of infinities and NaN last; the sign of a difference tells which
  // are beyond, in vectors, so that weights are looked through at the speed of memory.
  constexpr auto kMost = std::bit_cast<uint32_t>(1e38f);
  const auto* from = static_cast<const char*>(weights);
  uint32_t beyond = 0;
#pragma omp simd reduction(| : beyond)
  for (int64_t i = 0; i < n; ++i) {
    uint32_t bits;
    std::memcpy(&bits, from + i * 4, sizeof(bits));
    beyond |= kMost - (bits & 0x7fffffffu);
  }
  return (beyond >> 31) == 0;
}

namespace {

// One input channel's 3 x 3 taps of `n` outputs, from `taps` on and `apart` floats from one output
// to the next, transformed; position q goes to to[q * step]. Side by side, since neighbours in the
// result are: by outputs alone each number written would touch a line of its own. Zeros follow up
// to `lanes`: those outputs are thrown away, but what had lain there could make a tile look
// infinite, and Direct() do it once more.
template <class Rows>
void TransformTaps(const Rows& rows, const Rows& columns, const float* taps, int64_t apart,
                   int64_t n, int64_t lanes, float* to, int64_t step) {
  double w[9][kMostLanes];
  for (int64_t l = 0; l < n; ++l) {
    for (size_t k = 0; k < 9; ++k) w[k][l] = double{taps[l * apart + static_cast<int64_t>(k)]};
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    double half[3][kMostLanes];
    for (size_t k = 0; k < 3; ++k) {
#pragma omp simd
      for (int64_t l = 0; l < n; ++l) {
        half[k][l] = rows[i][0] * w[k][l] + rows[i][1] * w[k + 3][l] + rows[i][2] * w[k + 6][l];
      }
    }
    for (size_t j = 0; j < columns.size(); ++j, to += step) {
#pragma omp simd
      for (int64_t l = 0; l < n; ++l) {
        to[l] = static_cast<float>(columns[j][0] * half[0][l] + columns[j][1] * half[1][l] +
                                   columns[j][2] * half[2][l]);
      }
      std::fill(to + n, to + lanes, 0.0f);
    }
  }
}

}  // namespace

std::string WinogradPlan::PackKey() const {
  const std::string key = "winograd " + ToText({h, w, lanes, vectors, in, out});
  return taps == 1 ? key : key + " by " + std::to_string(taps);
}

void WinogradWeights(const WinogradPlan& plan, const float* weights, float* u) {
  const auto rows = WeightRows(plan.h), columns = WeightRows(plan.w);
  const int64_t lanes = std::min(plan.lanes, kMostLanes), blocks = (plan.out + lanes - 1) / lanes;
  ForRange(true, blocks, [&](int64_t b) {
    const int64_t o = b * lanes, n = std::min(lanes, plan.out - o);
    const int64_t g = o / plan.group(), wide = plan.VectorsOf(g) * plan.lanes;
    float* to = u + g * plan.positions() * plan.depth() * plan.group() + o % plan.group();
    for (int64_t row = 0; row < plan.depth(); ++row) {
      const int64_t of_tap = plan.depth() / plan.taps, c = row % of_tap;
      if (c < plan.in) {
        const float* taps = weights + ((o * plan.in + c) * plan.taps + row / of_tap) * 9;
        TransformTaps(rows, columns, taps, plan.in * plan.taps * 9, n, lanes, to + row * wide,
                      plan.depth() * wide);
        continue;
      }
      for (int64_t q = 0; q < plan.positions(); ++q) {  // by what is zero, too
        std::fill_n(to + (q * plan.depth() + row) * wide, lanes, 0.0f);
      }
    }
  });
}

std::unique_ptr<Loop> WinogradLoop(const Simd& simd, const WinogradPlan& plan, const Layout& x,
                                   const Layout& result, std::vector<TilePostOp> post_ops) {
  return std::make_unique<WinogradConv>(simd, plan, x, result, std::move(post_ops));
}

namespace {

// Whether the weights stay finite once they are transformed.
bool KeepsFinite(const Unit& u, NativeBuilder* b) {
  const uint32_t w = u.in[1];
  const void* data = b->parser().value(w).data;
  const auto known = [&](const Program& program) {
    const auto it = program.looked_through.find(w);
    return it != program.looked_through.end() && it->second == data;
  };
  Program& program = b->program();
  const bool finite = (program.like != nullptr && known(*program.like)) ||
                      WinogradKeepsFinite(data, Product(b->parser().dims(w)));
  if (finite) program.looked_through[w] = data;
  return finite;
}

// At other dims the tiles stay whose weights are there, if they are not much slower.
WinogradPlan WinogradPlanOf(const Unit& u, const ConvSpec& c, NativeBuilder* b) {
  constexpr double kMuchSlower = 1.5;
  const Machine& m = b->machine();
  const Program* like = b->program().like;
  WinogradPlan best = WinogradPlan::Best(c, m);
  if (like == nullptr || like->wanted.count({best.PackKey(), {u.in[1]}}) > 0) return best;
  for (int h : {2, 4}) {
    for (int w : {2, 4}) {
      WinogradPlan plan(c, m, h, w);
      const bool there = like->wanted.count({plan.PackKey(), {u.in[1]}}) > 0;
      if (there && plan.ns(m) <= kMuchSlower * best.ns(m)) return plan;
    }
  }
  return best;
}

class WinogradAlgorithm final : public ConvAlgorithm {
 public:
  bool Takes(const ConvSpec& spec, bool constants, const Machine& machine) const override {
    return constants && IsWinograd(spec, machine);
  }
  std::optional<std::pair<LayoutTag, LayoutTag>> PreferredLayouts(const ConvSpec&) const override {
    return std::pair(LayoutTag{0, true}, LayoutTag{0, true});
  }
  bool AnyLayout(const Machine& m) const override { return m.isa >= GE_ISA_AVX2; }
  Price PriceOf(const Unit& unit, const ConvSpec& spec, const Parser& parser,
                const Machine& machine) const override {
    Price out;
    const WinogradPlan plan = WinogradPlan::Best(spec, machine);
    const double n = static_cast<double>(Product(unit.dims));
    const double bytes =
        PostOpBytes(unit, parser) + BytesOf(parser, unit.in[0]) + BytesOf(parser, unit.out[0]);
    out.work_ns = kLoopNs + (machine.threads > 1 ? kForkNs : 0) +
                  std::max(plan.ns(machine) + PostOpsNs(unit, machine, n) / machine.threads,
                           StreamNs(machine, bytes));
    out.workspace = 4 * plan.workspace_floats() * static_cast<uint64_t>(machine.threads);
    out.packed = 4 * plan.weight_floats();
    return out;
  }
  void Emit(const Unit& unit, const ConvSpec& spec, NativeBuilder* builder) const override {
    // Else as with weights that are none for that.
    if (!KeepsFinite(unit, builder))
      return AlgorithmOf(spec, false, builder->machine()).Emit(unit, spec, builder);
    const WinogradPlan plan = WinogradPlanOf(unit, spec, builder);
    const Rep x = builder->Channels(unit.in[0]);
    const Layout blocked = Layout::Blocked(unit.dims, static_cast<int>(builder->simd().lanes));
    const Layout last = Layout::ChannelsLast(unit.dims);
    Layout target = x.layout.cblock > 0 ? blocked : last;
    for (const Layout& l : {blocked, last}) {
      if (builder->Leaf(unit.out[0], l) != nullptr) target = l;
    }
    const BufferRef weights = builder->Pack(
        {unit.in[1]}, plan.PackKey(), plan.weight_floats() * sizeof(float),
        [plan](const void* const* from, void* to) {
          WinogradWeights(plan, static_cast<const float*>(from[0]), static_cast<float*>(to));
        });
    const int64_t channels = plan.groups() * plan.group();
    const uint64_t room = plan.workspace_floats() * sizeof(float);
    std::vector<BufferRef> reads = {
        x.place, weights, builder->BiasOf(unit, plan.out, channels),
        builder->NewInternal(0, room * static_cast<uint64_t>(plan.threads)),
        builder->KeptConstant(unit.in[1]).place};
    std::vector<TilePostOp> post_ops = builder->PostOpsOfTiles(unit, target, &reads);
    const size_t taken = post_ops.size();
    builder->AddTiled(unit, taken, target,
                      "winograd " + builder->Sizes({plan.h, plan.w}) + " " + ToText(unit.dims),
                      WinogradLoop(builder->simd(), plan, x.layout, target, std::move(post_ops)),
                      std::move(reads));
  }
};

}  // namespace

const ConvAlgorithm& conv_winograd() {
  static const WinogradAlgorithm kAlgorithm;
  return kAlgorithm;
}

}  // namespace ge_engines::cpu::native
