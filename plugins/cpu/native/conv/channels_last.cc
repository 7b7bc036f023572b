#include "plugins/cpu/native/conv/channels_last.h"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>

#include "plugins/cpu/kit/float_mode.h"
#include "plugins/cpu/kit/price.h"
#include "plugins/cpu/kit/thresholds.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/conv/algorithm.h"
#include "plugins/cpu/native/conv/direct.h"
#include "plugins/cpu/native/conv/window_walk.h"
#include "plugins/cpu/native/price.h"

namespace ge_engines::cpu::native {
namespace {

class ChannelsLastConv final : public Loop {
 public:
  ChannelsLastConv(const Simd& simd, const ChannelsLastPlan& plan, std::vector<TilePostOp> post_ops)
      : plan_(plan),
        room_(4 + Operands(post_ops)),
        tiles_(simd, plan.product, true, std::move(post_ops)) {}

  void Run(float* const* p) const override {
    const PanelPlan& product = plan_.product;
    const int64_t across = CeilDiv(product.panels, plan_.panels);
    const int64_t pieces = across * CeilDiv(product.m, plan_.pixels);
    std::atomic<int64_t> next = 0;
    const auto work = [&](float* buffer) {
      for (int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < pieces;) {
        Piece(p, i / across * plan_.pixels, i % across * plan_.panels, buffer);
      }
    };
    if (plan_.threads == 1 || pieces == 1 || !product.parallel()) return work(p[room_]);
    OnThreads(plan_.threads, [&] {
      work(p[room_] + plan_.workspace_floats() * static_cast<uint64_t>(omp_get_thread_num()));
    });
  }

 private:
  void Piece(float* const* p, int64_t first, int64_t panel, float* buffer) const {
    const PanelPlan& product = plan_.product;
    const int64_t n = std::min(plan_.pixels, product.m - first);
    const float* rows = p[1] + first * product.k;
    if (!plan_.rows_there) {
      Gather(p[1], first, n, buffer);
      rows = buffer;
    }
    tiles_.Part(rows, product.k, p, first, n, panel,
                std::min(plan_.panels, product.panels - panel));
  }

  // The windows of n pixels: [tap][channel], zeros where there is no pixel of x.
  void Gather(const float* x, int64_t first, int64_t n, float* to) const {
    const ConvShape& s = plan_.s;
    Pixel p = PixelAt(s.dst, first);
    for (int64_t i = 0; i < n; ++i, Advance(s.dst, &p)) {
      const float* image = x + p.image * s.src_pixels() * s.in;
      for (int64_t a = 0; a < s.kernel[0]; ++a) {
        const int64_t depth = p.at[0] * s.stride[0] + a * s.dilation[0] - s.pad[0];
        for (int64_t b = 0; b < s.kernel[1]; ++b, to += s.kernel[2] * s.in) {
          const int64_t line = p.at[1] * s.stride[1] + b * s.dilation[1] - s.pad[1];
          const bool inside = depth >= 0 && depth < s.src[0] && line >= 0 && line < s.src[1];
          if (inside) {
            Line(image + (depth * s.src[1] + line) * s.src[2] * s.in,
                 p.at[2] * s.stride[2] - s.pad[2], to);
          } else {
            std::memset(to, 0, static_cast<size_t>(s.kernel[2] * s.in) * sizeof(float));
          }
        }
      }
    }
  }

  // The taps of a line from column `at` on.
  void Line(const float* line, int64_t at, float* to) const {
    const ConvShape& s = plan_.s;
    const auto bytes = [&](int64_t taps) {
      return static_cast<size_t>(taps * s.in) * sizeof(float);
    };
    if (s.dilation[2] == 1) {
      const int64_t taps = s.kernel[2];
      const int64_t begin = std::clamp<int64_t>(-at, 0, taps);
      const int64_t end = std::clamp<int64_t>(s.src[2] - at, begin, taps);
      std::memset(to, 0, bytes(begin));
      std::memcpy(to + begin * s.in, line + (at + begin) * s.in, bytes(end - begin));
      std::memset(to + end * s.in, 0, bytes(taps - end));
      return;
    }
    for (int64_t t = 0; t < s.kernel[2]; ++t, at += s.dilation[2], to += s.in) {
      if (at >= 0 && at < s.src[2]) {
        std::memcpy(to, line + at * s.in, bytes(1));
      } else {
        std::memset(to, 0, bytes(1));
      }
    }
  }

  const ChannelsLastPlan plan_;
  const size_t room_;  // place of the workspace
  const PanelTiles tiles_;
};

bool RowsThere(const ConvShape& s) {
  bool there = s.taps() == 1;
  for (int i = 0; i < 3; ++i) {
    there = there && s.stride[i] == 1 && s.pad[i] == 0 && s.dst[i] == s.src[i];
  }
  return there;
}

}  // namespace

ChannelsLastPlan::ChannelsLastPlan(const Simd& simd, const ConvSpec& spec, const Machine& machine)
    : s(spec),
      product(simd, s.images * s.dst_pixels(), s.out, s.taps() * s.in),
      threads(machine.threads),
      rows_there(RowsThere(s)),
      panels(std::max<int64_t>(product.panels, 1)) {
  constexpr int64_t kBlock = 8;  // rows of a product's block
  int64_t most = kPanelRows;
  if (!rows_there) {
    most = std::clamp(kGatheredFloats / std::max<int64_t>(product.k, 1), 6 * kBlock, kPanelRows);
  }
  const int64_t each = threads == 1 ? most : CeilDiv(product.m, kPanelPieces * threads);
  pixels = std::max(kBlock, std::min(most, each) / kBlock * kBlock);
  // Few pixels: threads share the panels, and each gathers for itself.
  const int64_t pieces = CeilDiv(product.m, pixels);
  if (threads > 1 && pieces < 2 * threads && product.panels > 1) {
    pixels = std::min(most, std::max<int64_t>(product.m, 1));
    panels = CeilDiv(product.panels, CeilDiv(2 * threads, CeilDiv(product.m, pixels)));
  }
}

uint64_t ChannelsLastPlan::workspace_floats() const {
  return rows_there ? 0 : static_cast<uint64_t>(CeilDiv(pixels * product.k, 16) * 16);
}

void ChannelsLastPlan::Pack(const float* w, float* to) const {
  const int64_t taps = s.taps();
  for (int64_t p = 0; p < product.panels; ++p) {
    const int64_t j = p * product.columns, some = std::min(product.columns, product.n - j);
    for (int64_t t = 0; t < taps; ++t) {
      for (int64_t i = 0; i < s.in; ++i, to += product.columns) {
        for (int64_t c = 0; c < some; ++c) to[c] = w[((j + c) * s.in + i) * taps + t];
        std::fill(to + some, to + product.columns, 0.0f);
      }
    }
  }
}

std::string ChannelsLastPlan::PackKey() const {
  // With one tap these are the bytes of a matrix that lies turned.
  if (s.taps() == 1) return product.PackKey(true);
  return "panels of taps " + ToText({product.n, s.taps(), s.in, product.columns});
}

bool IsChannelsLast(const ConvSpec& spec) {
  const ConvShape s(spec);
  return !spec.transposed && spec.groups == 1 && s.in >= 8 && s.out >= 8;
}

double ChannelsLastPlan::ns(const Machine& machine) const {
  const auto count = [](int64_t n) { return static_cast<double>(n); };
  const double pieces = count(CeilDiv(product.m, pixels) * CeilDiv(product.panels, panels));
  // The last panel is computed in whole vectors.
  const int64_t lanes = machine.isa >= GE_ISA_AVX512 ? 16 : machine.isa == GE_ISA_AVX2 ? 8 : 4;
  const double columns = count(CeilDiv(product.n, lanes) * lanes);
  const double sums = count(product.m) * columns * count(product.k);
  const double rate = ByIsa(machine, 105, 95, 25) / 2 * machine.compute;
  const double gathered =
      rows_there ? 0
                 : count(product.m * product.k) * CeilDiv(product.panels, panels) * 0.05 +
                       count(product.m * s.kernel[0] * s.kernel[1]) * 4;
  const double weights = 4 * count(product.n * product.k) / (15 * machine.stream[2]);
  const double ns = sums / rate + gathered / machine.compute + weights + pieces * 20;
  return threads > 1 && product.parallel() && pieces > 1
             ? kForkNs + ns / (0.9 * std::min<double>(threads, pieces))
             : ns;
}

std::unique_ptr<Loop> ChannelsLastLoop(const Simd& simd, const ChannelsLastPlan& plan,
                                       std::vector<TilePostOp> post_ops) {
  return std::make_unique<ChannelsLastConv>(simd, plan, std::move(post_ops));
}

namespace {

// The same convolution of an image of 4,096 pixels, where its own has 256 or more: two algorithms
// that take about as long would else change places from size to size, and with them the layouts of
// offers, and a plan made at one size would hold what is not offered at another.
ConvSpec OfUsualSize(ConvSpec c) {
  constexpr int64_t kLeast = 256, kUsual = 64;  // pixels; pixels a side
  if (Product(Dims(c.dst.begin() + 2, c.dst.end())) < kLeast) return c;
  for (size_t k = 0; k < c.stride.size(); ++k) {
    const int64_t side = c.dst.size() == 3 ? kUsual * kUsual : kUsual;
    c.dst[k + 2] = side;
    c.src[k + 2] = (side - 1) * c.stride[k] + (c.weights[k + 2] - 1) * c.dilation[k] + 1 -
                   c.pad_l[k] - c.pad_r[k];
  }
  return c;
}

// Whether direct sums are faster than products in panels.
bool DirectWins(const ConvSpec& c, const Machine& m) {
  const ConvSpec usual = OfUsualSize(c);
  return DirectPlan(usual, m).ns(m) / m.threads < ChannelsLastPlan(SimdOf(m.isa), usual, m).ns(m);
}

class ChannelsLastAlgorithm final : public ConvAlgorithm {
 public:
  bool Takes(const ConvSpec& spec, bool constants, const Machine& machine) const override {
    return constants && IsChannelsLast(spec) &&
           !(IsDirect(spec, machine) && DirectWins(spec, machine));
  }
  std::optional<std::pair<LayoutTag, LayoutTag>> PreferredLayouts(const ConvSpec&) const override {
    return std::pair(LayoutTag{0, true}, LayoutTag{0, true});
  }
  Price PriceOf(const Unit& unit, const ConvSpec& spec, const Parser& parser,
                const Machine& machine) const override {
    const ChannelsLastPlan plan(SimdOf(machine.isa), spec, machine);
    Price out = TiledPrice(unit, parser, machine, plan.ns(machine));
    out.workspace = 4 * plan.workspace_floats() * static_cast<uint64_t>(machine.threads);
    out.packed = 4 * plan.product.weight_floats();
    return out;
  }
  void Emit(const Unit& unit, const ConvSpec& spec, NativeBuilder* builder) const override {
    const ChannelsLastPlan plan(builder->simd(), spec, builder->machine());
    const Layout last = Layout::ChannelsLast(unit.dims);
    const BufferRef x =
        builder->Get(unit.in[0], Layout::ChannelsLast(builder->parser().dims(unit.in[0]))).place;
    const BufferRef weights =
        builder->Pack({unit.in[1]}, plan.PackKey(), plan.product.weight_floats() * sizeof(float),
                      [plan](const void* const* from, void* to) {
                        plan.Pack(static_cast<const float*>(from[0]), static_cast<float*>(to));
                      });
    std::vector<BufferRef> reads = {x, weights, builder->BiasOf(unit, spec.dst[1])};
    std::vector<TilePostOp> post_ops = builder->PostOpsOfTiles(unit, last, &reads);
    const size_t taken = post_ops.size();
    const uint64_t room =
        plan.workspace_floats() * sizeof(float) * static_cast<uint64_t>(builder->machine().threads);
    builder->NeedWorkspace(room);
    reads.push_back(builder->Workspace());
    builder->AddTiled(unit, taken, last, "channels last " + builder->Sizes(unit.dims),
                      ChannelsLastLoop(builder->simd(), plan, std::move(post_ops)),
                      std::move(reads));
  }
};

}  // namespace

const ConvAlgorithm& conv_channels_last() {
  static const ChannelsLastAlgorithm kAlgorithm;
  return kAlgorithm;
}

}  // namespace ge_engines::cpu::native
