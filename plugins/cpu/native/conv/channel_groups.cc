#include "plugins/cpu/native/conv/channel_groups.h"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <optional>

#include "plugins/cpu/kit/float_mode.h"
#include "plugins/cpu/kit/price.h"
#include "plugins/cpu/kit/thresholds.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/conv/algorithm.h"
#include "plugins/cpu/native/conv/window_walk.h"
#include "plugins/cpu/native/price.h"

namespace ge_engines::cpu::native {
namespace {

using Plan = ChannelGroupsPlan;

constexpr int64_t kBlockPixels = 12;   // of a kernel's block at most
constexpr int64_t kMostPhases = 1024;  // of a transposed one

class ChannelGroupsConv final : public Loop {
 public:
  ChannelGroupsConv(const Simd& simd, const Plan& plan, std::vector<TilePostOp> post_ops)
      : simd_(simd),
        plan_(plan),
        room_(4 + Operands(post_ops)),
        post_ops_(std::move(post_ops)),
        zeros_(static_cast<size_t>(plan.s.groups * plan.s.in), 0.0f) {}

  void Run(float* const* p) const override {
    const int64_t across = CeilDiv(static_cast<int64_t>(plan_.parts.size()), plan_.wide);
    const int64_t pieces = across * plan_.tiles();
    std::atomic<int64_t> next = 0;
    const auto work = [&](float* buffer) {
      for (int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < pieces;) {
        Piece(p, i / across, i % across * plan_.wide, buffer);
      }
    };
    if (plan_.threads == 1 || pieces == 1 || !plan_.parallel()) return work(p[room_]);
    OnThreads(plan_.threads, [&] {
      work(p[room_] + plan_.workspace_floats() * static_cast<uint64_t>(omp_get_thread_num()));
    });
  }

 private:
  void Piece(float* const* p, int64_t tile, int64_t part, float* buffer) const {
    const auto behind =
        std::upper_bound(plan_.phases.begin(), plan_.phases.end(), tile,
                         [](int64_t t, const Plan::Phase& f) { return t < f.tiles; });
    const Plan::Phase& phase = *std::prev(behind);
    const int64_t first = (tile - phase.tiles) * plan_.pixels;
    const int64_t n = std::min(plan_.pixels, plan_.pixels_of(phase) - first);
    auto** const to = reinterpret_cast<float**>(buffer);
    auto** const from = const_cast<const float**>(to + plan_.pixels);
    Places(p, phase, first, n, from, to);
    const int64_t end = std::min(part + plan_.wide, static_cast<int64_t>(plan_.parts.size()));
    GroupSums q;
    q.from = from;
    q.to = to;
    q.pixels = n;
    q.own = plan_.own;
    q.taps = static_cast<int64_t>(phase.taps.size());
    for (int64_t k = part; k < end; ++k) {
      const Plan::Part& one = plan_.parts[static_cast<size_t>(k)];
      q.at = one.at;
      q.depth = one.depth;
      q.n = one.n;
      q.out = one.out;
      q.w = p[2] + phase.weights + one.before * q.taps;
      q.bias = p[3] + one.out;
      simd_.channel_groups(q);
    }
    Finish(p, plan_.parts[static_cast<size_t>(part)].out, plan_.parts[static_cast<size_t>(end - 1)],
           to, n);
  }

  void Finish(float* const* p, int64_t out, const Plan::Part& last, float* const* to,
              int64_t n) const {
    const int64_t ldy = plan_.s.groups * plan_.s.out, some = last.out + last.n - out;
    if (!plan_.transposed) {
      FinishTile(simd_, post_ops_, p, 4, to[0] + out, n, some, ldy);
      return;
    }
    for (int64_t i = 0; i < n; ++i) FinishTile(simd_, post_ops_, p, 4, to[i] + out, 1, some, some);
  }

  // Where the taps of n pixels are read, and where the pixels go.
  void Places(float* const* p, const Plan::Phase& f, int64_t first, int64_t n, const float** from,
              float** to) const {
    const ConvShape& s = plan_.s;
    const int64_t in = s.groups * s.in, out = s.groups * s.out;
    Pixel at = PixelAt(f.size, first);
    for (int64_t i = 0; i < n; ++i, Advance(f.size, &at)) {
      const float* const image = p[1] + at.image * s.src_pixels() * in;
      int64_t y[3], x[3];
      for (int k = 0; k < 3; ++k) {
        y[k] = f.first[k] + at.at[k] * plan_.spacing[k];
        x[k] = at.at[k] * plan_.step[k];
      }
      to[i] = p[0] + (((at.image * s.dst[0] + y[0]) * s.dst[1] + y[1]) * s.dst[2] + y[2]) * out;
      for (const Plan::Tap& t : f.taps) {
        const int64_t d = x[0] + t.offset[0], h = x[1] + t.offset[1], w = x[2] + t.offset[2];
        const bool inside =
            d >= 0 && d < s.src[0] && h >= 0 && h < s.src[1] && w >= 0 && w < s.src[2];
        *from++ = inside ? image + ((d * s.src[1] + h) * s.src[2] + w) * in : zeros_.data();
      }
    }
  }

  const Simd& simd_;
  const Plan plan_;
  const size_t room_;  // place of the workspace
  const std::vector<TilePostOp> post_ops_;
  const std::vector<float> zeros_;  // a pixel of the padding
};

}  // namespace

bool IsChannelGroups(const ConvSpec& spec) {
  const ConvShape s(spec);
  if (s.groups * s.in < 8 || s.groups * s.out < 8) return false;
  // Windows of volumes have so many taps that gathering them is a sixth of the work.
  if (!spec.transposed) return s.groups > 1 ? s.in > 1 : s.kernel[0] > 1;
  // Windows that lie outside of a small image for the most part are better laid down from there.
  const int64_t dst = s.dst_pixels(), src = s.src_pixels() * Product(spec.stride);
  return s.out >= 8 && dst <= 2 * src && Product(spec.stride) <= kMostPhases;
}

Plan::ChannelGroupsPlan(const Simd& simd, const ConvSpec& spec, const Machine& machine)
    : s(spec), transposed(spec.transposed), lanes(simd.lanes), threads(machine.threads) {
  CutGroups(simd);
  CutPhases(spec);
  CutPieces();
}

void Plan::CutGroups(const Simd& simd) {
  own = s.in == s.out && (s.in == 2 || s.in == 4 || s.in == 8) && s.in < lanes;
  // Others than these leave lanes empty: with groups side by side and zeros as weights an infinity
  // of one would make NaN of the others.
  const int64_t joined = own ? lanes / s.out : 1, columns = simd.group_columns();
  int64_t before = 0;
  for (int64_t g = 0; g < s.groups; g += joined) {
    const int64_t out = std::min(joined, s.groups - g) * s.out;
    for (int64_t j = 0; j < out; j += columns) {
      parts.push_back({g * s.out + j, std::min(columns, out - j), g * s.in, s.in, before});
      before += s.in * width(parts.back());
    }
  }
}

void Plan::CutPhases(const ConvSpec& spec) {
  for (int k = 0; k < 3; ++k) {
    step[k] = spec.transposed ? 1 : s.stride[k];
    spacing[k] = spec.transposed ? s.stride[k] : 1;
  }
  int64_t first[3];
  for (first[0] = 0; first[0] < std::min(spacing[0], s.dst[0]); ++first[0]) {
    for (first[1] = 0; first[1] < std::min(spacing[1], s.dst[1]); ++first[1]) {
      for (first[2] = 0; first[2] < std::min(spacing[2], s.dst[2]); ++first[2]) AddPhase(first);
    }
  }
}

void Plan::AddPhase(const int64_t (&first)[3]) {
  Phase f = {};
  for (int k = 0; k < 3; ++k) {
    f.first[k] = first[k];
    f.size[k] = CeilDiv(s.dst[k] - first[k], spacing[k]);
  }
  for (int64_t number = 0; number < s.taps(); ++number) {
    const int64_t line = number / s.kernel[2];
    const int64_t tap[3] = {line / s.kernel[1], line % s.kernel[1], number % s.kernel[2]};
    Tap t = {{}, number};
    bool meets = true;
    for (int k = 0; k < 3 && meets; ++k) {
      const int64_t reach = tap[k] * s.dilation[k] - s.pad[k];
      t.offset[k] = transposed ? (first[k] - reach) / spacing[k] : reach;
      meets = !transposed || (first[k] - reach) % spacing[k] == 0;
    }
    if (meets) f.taps.push_back(t);
  }
  f.weights = phases.empty() ? 0
                             : phases.back().weights +
                                   tap_floats() * static_cast<int64_t>(phases.back().taps.size());
  most_taps = std::max(most_taps, static_cast<int64_t>(f.taps.size()));
  phases.push_back(std::move(f));
}

void Plan::CutPieces() {
  constexpr int64_t kPlaces = 2048;  // of taps: 16 KiB, within the first cache
  const auto all = static_cast<int64_t>(parts.size());
  const int64_t most = std::clamp(kPlaces / (most_taps + 1) / kBlockPixels * kBlockPixels,
                                  kBlockPixels, 16 * kBlockPixels);
  const int64_t dst = s.images * s.dst_pixels();
  const int64_t each = threads == 1 ? most : CeilDiv(dst, kPanelPieces * threads);
  pixels = std::clamp(CeilDiv(each, kBlockPixels) * kBlockPixels, kBlockPixels, most);
  wide = all;
  int64_t before = 0;
  for (Phase& f : phases) {
    f.tiles = before;
    before += CeilDiv(pixels_of(f), pixels);
  }
  // Few pixels: threads share the parts, too.
  if (threads > 1 && before < 2 * threads) wide = CeilDiv(all, CeilDiv(2 * threads, before));
}

int64_t Plan::tiles() const {
  return phases.back().tiles + CeilDiv(pixels_of(phases.back()), pixels);
}

int64_t Plan::tap_floats() const { return parts.back().before + s.in * width(parts.back()); }

int64_t Plan::bias_floats() const {
  int64_t floats = 0;
  for (const Part& p : parts) floats = std::max(floats, p.out + width(p));
  return floats;
}

uint64_t Plan::workspace_floats() const {
  const auto places = static_cast<uint64_t>(pixels * (most_taps + 1));
  return (places * sizeof(float*) / sizeof(float) + 15) / 16 * 16;
}

bool Plan::parallel() const {
  const int64_t windows = s.images * (transposed ? s.src_pixels() : s.dst_pixels());
  return windows * s.groups * s.out * s.in * s.taps() > kPanelParallel;
}

void Plan::PackPart(const Phase& phase, const Part& part, const float* w, float* to) const {
  const int64_t taps = s.taps();
  for (const Tap& t : phase.taps) {
    for (int64_t i = 0; i < s.in; ++i) {
      for (int64_t c = 0; c < width(part); ++c) {
        const int64_t o = part.out + c, g = o / s.out;
        const int64_t at = transposed ? (g * s.in + i) * s.out + o % s.out : o * s.in + i;
        *to++ = c < part.n ? w[at * taps + t.number] : 0.0f;
      }
    }
  }
}

void Plan::Pack(const float* w, float* to) const {
  for (const Phase& f : phases) {
    const auto taps = static_cast<int64_t>(f.taps.size());
    for (const Part& p : parts) PackPart(f, p, w, to + f.weights + p.before * taps);
  }
}

std::string Plan::PackKey() const {
  std::string key = "groups " + ToText({s.groups, s.out, s.in, s.taps(), lanes, parts[0].n});
  if (!transposed) return key;
  for (const Phase& f : phases) {
    Dims taps;
    for (const Tap& t : f.taps) taps.push_back(t.number);
    key += " " + ToText(taps);
  }
  return key;
}

double Plan::ns(const Machine& machine) const {
  // A tap's, of whole vectors; one alone waits for what it reads.
  double sums = 0;
  for (const Part& p : parts) {
    const double n = static_cast<double>(width(p) * s.in);
    sums += width(p) == lanes ? 1.5 * n : n;
  }
  double places = 0;  // of taps
  for (const Phase& f : phases) {
    places += static_cast<double>(pixels_of(f)) * static_cast<double>(f.taps.size());
  }
  const double rate = ByIsa(machine, 105, 95, 25) / 2;
  const double pieces =
      static_cast<double>(tiles() * CeilDiv(static_cast<int64_t>(parts.size()), wide));
  const double weights = 4 * static_cast<double>(weight_floats()) / (15 * machine.stream[2]);
  const double ns = places * (sums / rate + 1) / machine.compute + weights + pieces * 20;
  return threads > 1 && parallel() && pieces > 1
             ? kForkNs + ns / (0.9 * std::min<double>(threads, pieces))
             : ns;
}

std::unique_ptr<Loop> ChannelGroupsLoop(const Simd& simd, const ChannelGroupsPlan& plan,
                                        std::vector<TilePostOp> post_ops) {
  return std::make_unique<ChannelGroupsConv>(simd, plan, std::move(post_ops));
}

namespace {

class ChannelGroupsAlgorithm final : public ConvAlgorithm {
 public:
  bool Takes(const ConvSpec& spec, bool constants, const Machine&) const override {
    return constants && IsChannelGroups(spec);
  }
  std::optional<std::pair<LayoutTag, LayoutTag>> PreferredLayouts(const ConvSpec&) const override {
    return std::pair(LayoutTag{0, true}, LayoutTag{0, true});
  }
  Price PriceOf(const Unit& unit, const ConvSpec& spec, const Parser& parser,
                const Machine& machine) const override {
    const ChannelGroupsPlan plan(SimdOf(machine.isa), spec, machine);
    Price out = TiledPrice(unit, parser, machine, plan.ns(machine));
    out.workspace = 4 * plan.workspace_floats() * static_cast<uint64_t>(machine.threads);
    out.packed = 4 * static_cast<uint64_t>(plan.weight_floats() + plan.bias_floats());
    return out;
  }
  void Emit(const Unit& unit, const ConvSpec& spec, NativeBuilder* builder) const override {
    const ChannelGroupsPlan plan(builder->simd(), spec, builder->machine());
    const Layout last = Layout::ChannelsLast(unit.dims);
    const BufferRef x =
        builder->Get(unit.in[0], Layout::ChannelsLast(builder->parser().dims(unit.in[0]))).place;
    const auto bytes = static_cast<uint64_t>(plan.weight_floats()) * sizeof(float);
    const BufferRef weights = builder->Pack(
        {unit.in[1]}, plan.PackKey(), bytes, [plan](const void* const* from, void* to) {
          plan.Pack(static_cast<const float*>(from[0]), static_cast<float*>(to));
        });
    std::vector<BufferRef> reads = {x, weights,
                                    builder->BiasOf(unit, spec.dst[1], plan.bias_floats())};
    std::vector<TilePostOp> post_ops = builder->PostOpsOfTiles(unit, last, &reads);
    const size_t taken = post_ops.size();
    const uint64_t room =
        plan.workspace_floats() * sizeof(float) * static_cast<uint64_t>(builder->machine().threads);
    builder->NeedWorkspace(room);
    reads.push_back(builder->Workspace());
    builder->AddTiled(unit, taken, last, "groups " + builder->Sizes(unit.dims),
                      ChannelGroupsLoop(builder->simd(), plan, std::move(post_ops)),
                      std::move(reads));
  }
};

}  // namespace

const ConvAlgorithm& conv_channel_groups() {
  static const ChannelGroupsAlgorithm kAlgorithm;
  return kAlgorithm;
}

}  // namespace ge_engines::cpu::native
