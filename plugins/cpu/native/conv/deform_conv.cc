// DeformConv of float32: the moved taps of some pixels become columns, which the weights multiply.
#include "plugins/units/conv/deform_conv.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/im2col_tiles.h"
#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/kit/price.h"
#include "plugins/cpu/kit/thresholds.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/price.h"

namespace ge_engines::cpu::native {

namespace {

// Pixels that a thread takes at once: their columns stay in the second cache.
int64_t DeformPixels(const DeformConvSpec& s) {
  const int64_t most =
      std::max<int64_t>(kGatheredColumns, kGatheredFloats / (s.channels() * s.taps()) / 16 * 16);
  return std::min(most, s.dst_pixels());
}
// Floats of a thread's buffer: columns, then the products of one group.
uint64_t DeformFloats(const DeformConvSpec& s) {
  return static_cast<uint64_t>((s.channels() * s.taps() + s.out) * DeformPixels(s));
}

// [group][out][in][tap] becomes [group][tap][in][out].
void TurnWeights(const DeformConvSpec& s, const float* from, float* to) {
  const int64_t taps = s.taps();
  for (int64_t g = 0; g < s.groups; ++g) {
    for (int64_t o = 0; o < s.out; ++o) {
      for (int64_t ch = 0; ch < s.in; ++ch) {
        for (int64_t k = 0; k < taps; ++k) {
          to[((g * taps + k) * s.in + ch) * s.out + o] = *from++;
        }
      }
    }
  }
}

// Buffers: result, x with its channels last, turned weights, offsets, a buffer of DeformFloats()
// for each thread, then the bias and the mask, if there are any.
class DeformedConv final : public Loop {
 public:
  DeformedConv(const Simd& simd, const DeformConvSpec& spec, int threads)
      : simd_(simd), s_(spec), threads_(threads), pixels_(DeformPixels(spec)) {}

  void Run(float* const* p) const override {
    const int64_t pieces = CeilDiv(s_.dst_pixels(), pixels_);
    ForJobs(threads_, s_.images * pieces, p[4], DeformFloats(s_), [&](int64_t i, float* own) {
      const int64_t first = i % pieces * pixels_;
      Piece(p, i / pieces, first, std::min(pixels_, s_.dst_pixels() - first), own);
    });
  }

 private:
  // n pixels of an image from the first on. A pixel's column is [group][tap][channel].
  void Piece(float* const* p, int64_t image, int64_t first, int64_t n, float* columns) const {
    const int64_t depth = s_.in * s_.taps(), area = s_.dst_pixels();
    for (int64_t g = 0; g < s_.offset_groups; ++g) {
      for (int64_t k = 0; k < s_.taps(); ++k) Tap(p, image, g, k, first, n, columns);
    }
    float* const tile = columns + s_.groups * depth * pixels_;
    for (int64_t g = 0; g < s_.groups; ++g) {
      float* y = p[0] + (image * s_.groups + g) * s_.out * area + first;
      simd_.thin_product(columns + g * depth, s_.groups * depth, p[2] + g * depth * s_.out, s_.out,
                         tile, s_.out, n, s_.out, depth);
      simd_.transpose(tile, s_.out, y, area, n, s_.out);
      for (int64_t o = 0; s_.bias && o < s_.out; ++o) {
        simd_.unary(Fn::kLinear, 1, p[5][g * s_.out + o], y + o * area, y + o * area, n);
      }
    }
  }

  // Tap k of the channels of one group of offsets.
  void Tap(float* const* p, int64_t image, int64_t group, int64_t k, int64_t first, int64_t n,
           float* columns) const {
    const int64_t area = s_.dst_pixels(), row = (image * s_.offset_groups + group) * s_.taps() + k;
    const float* down = p[3] + 2 * row * area + first;
    const float* mask = s_.mask ? p[s_.bias ? 6 : 5] + row * area + first : nullptr;
    const float* x = p[1] + image * s_.src_pixels() * s_.channels();
    int64_t at_y = first / s_.dst[1], at_x = first % s_.dst[1];
    const int64_t tap_y = k / s_.kernel[1] * s_.dilation[0] - s_.pad[0];
    const int64_t tap_x = k % s_.kernel[1] * s_.dilation[1] - s_.pad[1];
    for (int64_t i = 0; i < n; ++i) {
      const Axis v(static_cast<double>(at_y * s_.stride[0] + tap_y) + down[i], s_.src[0]);
      const Axis h(static_cast<double>(at_x * s_.stride[1] + tap_x) + down[area + i], s_.src[1]);
      const double by = mask != nullptr ? mask[i] : 1.0;
      // What does not count is not read: it may be infinite.
      const float* from[4];
      float weight[4];
      int64_t corners = 0;
      for (int c = 0; c < 4; ++c) {
        weight[corners] = static_cast<float>(v.share[c / 2] * h.share[c % 2] * by);
        from[corners] = x + (v.at[c / 2] * s_.src[1] + h.at[c % 2]) * s_.channels();
        corners += weight[corners] != 0 ? 1 : 0;
      }
      Channels(group, k, from, weight, corners, columns + i * s_.channels() * s_.taps());
      if (++at_x == s_.dst[1]) {
        at_x = 0;
        ++at_y;
      }
    }
  }

  // The channels of a group of offsets, which may meet several groups of the product.
  void Channels(int64_t group, int64_t k, const float* const* from, const float* weight,
                int64_t corners, float* column) const {
    const int64_t shared = s_.channels() / s_.offset_groups, end = (group + 1) * shared;
    for (int64_t ch = group * shared; ch < end;) {
      const int64_t g = ch / s_.in, n = std::min(end, (g + 1) * s_.in) - ch;
      const float* rows[4];
      for (int64_t c = 0; c < corners; ++c) rows[c] = from[c] + ch;
      simd_.weigh_rows(rows, weight, corners, column + (g * s_.taps() + k) * s_.in + ch - g * s_.in,
                       n);
      ch += n;
    }
  }

  // The two neighbours of a place along an axis, with their shares: 0 for one outside.
  struct Axis {
    Axis(double place, int64_t size) {
      const double low = std::floor(place);
      if (!(low >= -1 && low < static_cast<double>(size))) return;  // NaN, too
      const auto i = static_cast<int64_t>(low);
      const double beyond = place - low;
      if (i >= 0) {
        at[0] = i;
        share[0] = 1 - beyond;
      }
      if (i + 1 < size) {
        at[1] = i + 1;
        share[1] = beyond;
      }
    }
    int64_t at[2] = {0, 0};
    double share[2] = {0, 0};
  };

  const Simd& simd_;
  DeformConvSpec s_;
  int threads_;
  int64_t pixels_;
};

class DeformConvKind final : public KindOf<DeformConvSpec> {
 public:
  bool Takes(const Unit& u, const Parser&, const Machine& m, Why* why) const override {
    return BuffersFit(DeformFloats(SpecOf(u)) * sizeof(float), m.threads, why);
  }
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    const DeformConvSpec& s = SpecOf(unit);
    const auto columns = static_cast<double>(s.images * s.taps() * s.dst_pixels());
    const auto in = static_cast<double>(s.channels());
    const double flops = 2 * columns * in * static_cast<double>(s.out);
    const double ns = columns * static_cast<double>(s.offset_groups) * 14 +
                      columns * in * ByIsa(machine, 0.15, 0.25, 0.5) +
                      flops / ByIsa(machine, 105, 50, 15);
    const auto pieces = static_cast<double>(s.images * CeilDiv(s.dst_pixels(), DeformPixels(s)));
    Price out = TiledPrice(unit, parser, machine,
                           ns / machine.compute / std::min<double>(machine.threads, pieces));
    out.workspace = DeformFloats(s) * sizeof(float) * static_cast<uint64_t>(machine.threads);
    return out;
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    const DeformConvSpec& s = SpecOf(u);
    const int threads = b->machine().threads;
    b->NeedWorkspace(DeformFloats(s) * sizeof(float) * static_cast<uint64_t>(threads));
    std::vector<BufferRef> reads = {
        b->Get(u.in[0], Layout::ChannelsLast(b->parser().dims(u.in[0]))).place, Weights(u, b),
        b->GetDense(u.in[2]).place, b->Workspace()};
    for (size_t k = 3; k < u.in.size(); ++k) reads.push_back(b->GetDense(u.in[k]).place);
    b->AddPlain(u, "deformed conv", std::make_unique<DeformedConv>(b->simd(), s, threads),
                std::move(reads));
  }

 private:
  static BufferRef Weights(const Unit& u, NativeBuilder* b) {
    const DeformConvSpec& s = SpecOf(u);
    const uint32_t w = u.in[1];
    const auto bytes = static_cast<uint64_t>(Product(b->parser().dims(w))) * sizeof(float);
    if (b->parser().constant(w)) {
      const std::string key = "deform " + std::to_string(s.groups) + " " + std::to_string(s.taps());
      return b->Pack({w}, key, bytes, [s](const void* const* from, void* to) {
        TurnWeights(s, static_cast<const float*>(from[0]), static_cast<float*>(to));
      });
    }
    const BufferRef turned = b->NewInternal(0, bytes);
    b->AddStep("turned weights", LoopOf([s](float* const* p) { TurnWeights(s, p[1], p[0]); }),
               {turned, b->GetDense(w).place});
    return turned;
  }
};

const DeformConvKind kDeformConvKind;
}  // namespace

GE_NATIVE_KINDS(deform_conv, &kDeformConvKind)

}  // namespace ge_engines::cpu::native
