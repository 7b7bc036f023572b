#include "plugins/cpu/native/channel_groups.h"

#include <omp.h>

#include <algorithm>
#include <atomic>

#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/kit/price.h"
#include "plugins/cpu/native/pixels.h"

namespace ge_native {
namespace {

constexpr int64_t kBlockPixels = 12;  // of a kernel's block at most

class ChannelGroupsConv final : public Loop {
 public:
  ChannelGroupsConv(const Simd& simd, const ChannelGroupsPlan& plan, std::vector<TilePost> posts)
      : simd_(simd),
        plan_(plan),
        room_(4 + Operands(posts)),
        posts_(std::move(posts)),
        zeros_(static_cast<size_t>(plan.s.groups * plan.s.in), 0.0f) {}

  void Run(float* const* p) const override {
    const auto parts = static_cast<int64_t>(plan_.parts.size());
    const int64_t across = CeilDiv(parts, plan_.wide);
    const int64_t pieces = across * CeilDiv(plan_.all_pixels(), plan_.pixels);
    std::atomic<int64_t> next = 0;
    const auto work = [&](float* buffer) {
      auto** const places = reinterpret_cast<const float**>(buffer);
      for (int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < pieces;) {
        Piece(p, i / across * plan_.pixels, i % across * plan_.wide, places);
      }
    };
    if (plan_.threads == 1 || pieces == 1 || !plan_.parallel()) return work(p[room_]);
    OnThreads(plan_.threads, [&] {
      work(p[room_] + plan_.workspace_floats() * static_cast<uint64_t>(omp_get_thread_num()));
    });
  }

 private:
  void Piece(float* const* p, int64_t first, int64_t part, const float** places) const {
    const int64_t n = std::min(plan_.pixels, plan_.all_pixels() - first);
    const int64_t end = std::min(part + plan_.wide, static_cast<int64_t>(plan_.parts.size()));
    Windows(p[1], first, n, places);
    GroupSums q;
    q.from = places, q.taps = plan_.s.taps(), q.own = plan_.own;
    q.ldy = plan_.s.groups * plan_.s.out, q.pixels = n;
    float* const y = p[0] + first * q.ldy;
    for (int64_t k = part; k < end; ++k) {
      const ChannelGroupsPlan::Part& one = plan_.parts[static_cast<size_t>(k)];
      q.at = one.at, q.depth = one.depth, q.n = one.n;
      q.w = p[2] + one.weights, q.bias = p[3] + one.out, q.y = y + one.out;
      simd_.channel_groups(q);
    }
    const int64_t from = plan_.parts[static_cast<size_t>(part)].out;
    const ChannelGroupsPlan::Part& last = plan_.parts[static_cast<size_t>(end - 1)];
    FinishTile(simd_, posts_, p, 4, y + from, n, last.out + last.n - from, q.ldy);
  }

  // Where the taps of n pixels are read.
  void Windows(const float* x, int64_t first, int64_t n, const float** to) const {
    const ConvShape& s = plan_.s;
    const int64_t channels = s.groups * s.in;
    Pixel p = PixelAt(s, first);
    for (int64_t i = 0; i < n; ++i, Advance(s, &p)) {
      const float* const image = x + p.image * s.src_pixels() * channels;
      for (int64_t a = 0; a < s.kernel[0]; ++a) {
        const int64_t depth = p.at[0] * s.stride[0] + a * s.dilation[0] - s.pad[0];
        for (int64_t b = 0; b < s.kernel[1]; ++b) {
          const int64_t line = p.at[1] * s.stride[1] + b * s.dilation[1] - s.pad[1];
          const bool inside = depth >= 0 && depth < s.src[0] && line >= 0 && line < s.src[1];
          const float* const row = image + (depth * s.src[1] + line) * s.src[2] * channels;
          int64_t at = p.at[2] * s.stride[2] - s.pad[2];
          for (int64_t c = 0; c < s.kernel[2]; ++c, at += s.dilation[2]) {
            *to++ = inside && at >= 0 && at < s.src[2] ? row + at * channels : zeros_.data();
          }
        }
      }
    }
  }

  const Simd& simd_;
  const ChannelGroupsPlan plan_;
  const size_t room_;  // place of the workspace
  const std::vector<TilePost> posts_;
  const std::vector<float> zeros_;  // a pixel of the padding
};

}  // namespace

bool IsChannelGroups(const ConvSpec& c) {
  const ConvShape s(c);
  return !c.transposed && s.groups > 1 && s.groups * s.in >= 8 && s.groups * s.out >= 8 && s.in > 1;
}

ChannelGroupsPlan::ChannelGroupsPlan(const Simd& simd, const ConvSpec& c, const Machine& m)
    : s(c), lanes(simd.lanes), threads(m.threads) {
  own = s.in == s.out && (s.in == 2 || s.in == 4 || s.in == 8) && s.in < lanes;
  // Others than these leave lanes empty: with groups side by side and zeros as weights an infinity
  // of one would make NaN of the others.
  const int64_t joined = own ? lanes / s.out : 1;
  int64_t weights = 0;
  for (int64_t g = 0; g < s.groups; g += joined) {
    const int64_t some = std::min(joined, s.groups - g), out = some * s.out;
    const int64_t depth = own ? s.in : some * s.in;
    for (int64_t j = 0; j < out; j += simd.group_columns()) {
      parts.push_back(
          {g * s.out + j, std::min(simd.group_columns(), out - j), g * s.in, depth, weights});
      weights += s.taps() * depth * width(parts.back());
    }
  }
  constexpr int64_t kPlaces = 2048;  // of taps: 16 KiB, within the first cache
  const auto all = static_cast<int64_t>(parts.size());
  const int64_t most =
      std::clamp(kPlaces / s.taps() / kBlockPixels * kBlockPixels, kBlockPixels, 16 * kBlockPixels);
  const int64_t each = threads == 1 ? most : CeilDiv(all_pixels(), kPanelPieces * threads);
  pixels = std::clamp(CeilDiv(each, kBlockPixels) * kBlockPixels, kBlockPixels, most);
  wide = all;
  // Few pixels: threads share the parts, too.
  const int64_t pieces = CeilDiv(all_pixels(), pixels);
  if (threads > 1 && pieces < 2 * threads) wide = CeilDiv(all, CeilDiv(2 * threads, pieces));
}

int64_t ChannelGroupsPlan::weight_floats() const {
  const Part& last = parts.back();
  return last.weights + s.taps() * last.depth * width(last);
}

int64_t ChannelGroupsPlan::bias_floats() const {
  int64_t floats = 0;
  for (const Part& p : parts) floats = std::max(floats, p.out + width(p));
  return floats;
}

uint64_t ChannelGroupsPlan::workspace_floats() const {
  const auto places = static_cast<uint64_t>(pixels * s.taps());
  return (places * sizeof(float*) / sizeof(float) + 15) / 16 * 16;
}

bool ChannelGroupsPlan::parallel() const {
  return all_pixels() * s.groups * s.out * s.in * s.taps() > kPanelParallel;
}

void ChannelGroupsPlan::PackPart(const Part& p, const float* w, float* to) const {
  const int64_t taps = s.taps();
  for (int64_t t = 0; t < taps; ++t) {
    for (int64_t i = 0; i < p.depth; ++i) {
      for (int64_t c = 0; c < width(p); ++c) {
        const int64_t o = p.out + c, channel = p.at + i - o / s.out * s.in;
        const int64_t in = own ? i : channel;
        const bool reads = c < p.n && in >= 0 && in < s.in;
        *to++ = reads ? w[(o * s.in + in) * taps + t] : 0.0f;
      }
    }
  }
}

void ChannelGroupsPlan::Pack(const float* w, float* to) const {
  for (const Part& p : parts) PackPart(p, w, to + p.weights);
}

std::string ChannelGroupsPlan::PackKey() const {
  return "groups " + ToText({s.groups, s.out, s.in, s.taps(), lanes, parts[0].n});
}

double ChannelGroupsPlan::ns(const Machine& m) const {
  // A pixel's, of whole vectors; one alone waits for what it reads.
  double sums = 0;
  for (const Part& p : parts) {
    const double n = static_cast<double>(width(p) * p.depth * s.taps());
    sums += width(p) == lanes ? 1.5 * n : n;
  }
  const auto all = static_cast<double>(all_pixels());
  const double rate = ByIsa(m, 105, 95, 25) / 2;
  const double places = all * static_cast<double>(s.taps());
  const double pieces = static_cast<double>(CeilDiv(all_pixels(), pixels) *
                                            CeilDiv(static_cast<int64_t>(parts.size()), wide));
  const double weights = 4 * static_cast<double>(weight_floats()) / (15 * m.stream[2]);
  const double ns = (all * sums / rate + places) / m.compute + weights + pieces * 20;
  return threads > 1 && parallel() && pieces > 1
             ? kForkNs + ns / (0.9 * std::min<double>(threads, pieces))
             : ns;
}

std::unique_ptr<Loop> ChannelGroupsLoop(const Simd& simd, const ChannelGroupsPlan& plan,
                                        std::vector<TilePost> posts) {
  return std::make_unique<ChannelGroupsConv>(simd, plan, std::move(posts));
}

}  // namespace ge_native
