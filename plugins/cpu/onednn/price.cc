#include "plugins/cpu/onednn/price.h"

#include <algorithm>

#include "plugins/units/conv/conv.h"
#include "plugins/units/conv/conv_grad.h"
#include "plugins/units/matmul/matmul.h"
#include "plugins/units/reduce/pool.h"

namespace ge_engines::cpu::onednn {
namespace {

// One thread at 2.8 GHz, f32. After a fit to convolutions of eight networks, each timed alone with
// weights that come from memory as they do in a run; over 1,235 later ones what is asked is off by
// a median factor of 1.4 (AVX-512) and 1.3 (AVX2). A convolution's parts add up: operations, bytes
// of images (which lie in a cache), bytes of weights, and the kernels' work for every pixel.
// Products of 128x768x3072 do 115 (AVX-512) and 52 operations a ns.
struct Rates {
  double conv, depthwise, product;  // operations a ns
};
Rates RatesOf(const Machine& m) {
  const double c = m.compute;
  if (m.isa >= GE_ISA_AVX512) return {118 * c, 65 * c, 105 * c};
  if (m.isa == GE_ISA_AVX2) return {78 * c, 63 * c, 55 * c};
  return {20 * c, 8 * c, 15 * c};
}
constexpr double kTaskNs = 145;    // one oneDNN execute, one thread
constexpr double kPackPasses = 3;  // weights are read, written, and their new pages cleared
constexpr double kImageRate = 38, kWeightRate = 9;  // bytes a ns
constexpr double kPixelNs = 6.5, kDepthwisePixelNs = 1;
// Of products: weights of 9.4 MB from memory at 1.6 times the speed of prices' machine, AVX-512,
// one thread: 773 us with 1 row, 900 with 2, 637 with 5, 773 with 8, 6,070 with 128.
constexpr double kProductWeightRate = 15, kFewRowsRate = 14;
constexpr double kReorderedRate = 8;  // bytes a ns of weights read and written
// What a gradient does in the time of one operation of its convolution.
constexpr double kInputGradShare = 0.9, kWeightGradShare = 0.8;
constexpr double kRoundedGain = 2, kTilesGain = 5, kRoundRate = 60;  // see RoundedConvNs
constexpr double kTapNs = 0.4;  // of a pool: 0.37 to 0.8 where images are plain

// How many times the work is what it would be if kernels met no channels that are only padding:
// they lie in blocks. A first convolution's 1 or 3 channels are read as they come.
double Padding(int64_t channels, const Machine& m) {
  const int64_t block = m.isa >= GE_ISA_AVX512 ? 16 : 8;
  return static_cast<double>((channels + block - 1) / block * block) /
         static_cast<double>(channels);
}

double PaddingOf(const ConvSpec& c, const Machine& m) {
  if (c.groups > 1) return 1;
  const int64_t in = c.src[1], out = c.dst[1];
  return Padding(out, m) * (in == 1 || in == 3 ? 1 : Padding(in, m));
}

double ConvFlops(const ConvSpec& c) {
  const double taps = static_cast<double>(Product(c.weights)) / static_cast<double>(c.dst[1]);
  // A transposed one meets each tap once for every pixel of its input.
  const Dims& pixels = c.transposed ? c.src : c.dst;
  return 2 * taps * static_cast<double>(c.dst[1]) * static_cast<double>(Product(pixels)) /
         static_cast<double>(pixels[1]);
}

// A gradient meets each tap once for every element of dY. Its weights, and those of a convolution
// that are no constants, are laid out in each run.
double WeightsNs(const Parser& p, uint32_t weights, const Machine& m) {
  const double bytes = BytesOf(p, weights);
  return p.constant(weights) ? bytes / (kWeightRate * m.stream[2])
                             : kTaskNs + 2 * bytes / (kReorderedRate * m.stream[1]);
}

// Gradients of depth-wise weights that oneDNN 2.6.3 sums by plain loops on one thread, 96 channels
// of 40 x 40 on a Zen 5: 4 x 4 taps 0.96 ms, 3 x 3 dilated 0.54, 1 x 5 0.35; 3 x 3 and 5 x 1 take
// 0.045.
bool IsPlainLoop(const ConvGradSpec& g) {
  const Dims& w = g.conv.weights;
  const bool depthwise = g.conv.groups > 1 && w[1] == 1 && w[2] == 1;
  return g.of_weights && depthwise && (w.back() > 3 || g.conv.dilation.back() > 1);
}

double ConvGradNs(const Unit& u, const ConvGradSpec& g, const Parser& p, const Machine& m) {
  constexpr double kPlainLoop = 4;  // flops a ns
  if (IsPlainLoop(g)) return ConvFlops(g.conv) / (kPlainLoop * m.compute);
  const Rates rate = RatesOf(m);
  const double share = g.of_weights ? kWeightGradShare : kInputGradShare;
  const double pixels = static_cast<double>(Product(g.conv.dst) / g.conv.dst[1]);
  const double images = g.of_weights ? BytesOf(p, u.in[0]) + BytesOf(p, u.in[1])
                                     : BytesOf(p, u.in[0]) + BytesOf(p, u.out[0]);
  return ConvFlops(g.conv) * PaddingOf(g.conv, m) /
             (share * (g.conv.groups > 1 ? rate.depthwise : rate.conv)) +
         images / (kImageRate * m.stream[0]) + WeightsNs(p, g.of_weights ? u.out[0] : u.in[1], m) +
         pixels * (g.of_weights || g.conv.groups > 1 ? kDepthwisePixelNs : kPixelNs) / m.compute;
}

// Transposed ones whose windows overlap are by far slower than others (oneDNN 2.6.3, AVX-512, one
// thread, 4 by 4 taps at steps of 2: 128 -> 256 channels of 4 x 4 pixels 129 us alone and 626 with
// a Relu, 128 -> 64 of 16 x 16 459 and 4,521; native takes 72 and 304).
double Overlap(const ConvSpec& c) {
  constexpr double kOverlapping = 2;
  const size_t lead = c.weights.size() - c.stride.size();
  const bool apart = std::equal(c.stride.begin(), c.stride.end(), c.weights.begin() + lead);
  return c.transposed && !apart ? kOverlapping : 1;
}

double ConvNs(const Unit& u, const ConvSpec& c, const Parser& p, const Machine& m) {
  const bool depthwise = c.groups > 1;
  const Rates rate = RatesOf(m);
  const double pixels = static_cast<double>(Product(c.dst)) / static_cast<double>(c.dst[1]);
  const double images = BytesOf(p, u.in[0]) + BytesOf(p, u.out[0]) + PostOpBytes(u, p);
  return ConvFlops(c) * Overlap(c) * PaddingOf(c, m) / (depthwise ? rate.depthwise : rate.conv) +
         images / (kImageRate * m.stream[0]) + WeightsNs(p, u.in[1], m) +
         pixels * (depthwise ? kDepthwisePixelNs : kPixelNs) / m.compute;
}

// Sixteen convolutions of resnet50 on a Zen 5 with AVX512-BF16, one thread, bfloat16 / float32:
// 0.46 to 0.53, and 0.66 with three channels; x was rounded at 70 to 150 bytes a ns, read and
// written.
double RoundedConvNs(const Unit& u, const ConvSpec& c, const Parser& p, const Machine& m) {
  const double pixels = static_cast<double>(Product(c.dst)) / static_cast<double>(c.dst[1]);
  const double images = BytesOf(p, u.in[0]) / 2 + BytesOf(p, u.out[0]) + PostOpBytes(u, p);
  const double gain = m.rounded->gain > kRoundedGain ? kTilesGain : kRoundedGain;
  return ConvFlops(c) * PaddingOf(c, m) / (gain * RatesOf(m).conv) +
         images / (kImageRate * m.stream[0]) + WeightsNs(p, u.in[1], m) / 2 +
         pixels * kPixelNs / (gain * m.compute) + kTaskNs +
         1.5 * BytesOf(p, u.in[0]) / (kRoundRate * m.stream[0]);
}

}  // namespace

bool Rounds(const Unit& unit, const Parser& parser, const Machine& machine) {
  const auto* c = machine.rounded != nullptr ? As<ConvSpec>(unit) : nullptr;
  if (c == nullptr || c->groups > 1 || c->transposed || !parser.constant(unit.in[1])) return false;
  return RoundedConvNs(unit, *c, parser, machine) < ConvNs(unit, *c, parser, machine);
}

// Also what describing a primitive and making its code takes, once for each shape: a product 20 to
// 430 us in the first process that ran it, one that is known again far less; a convolution of
// PP-OCR recognition 300 us under AVX-512, where both threads of a processor twice as fast as the
// one of prices make code.
Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) {
  const Rates rate = RatesOf(machine);
  const double n = static_cast<double>(Product(unit.dims));
  Price out;
  out.shape_ns = ByIsa(machine, 100e3, 50e3, 50e3) / machine.compute;
  double work = 0, bytes = PostOpBytes(unit, parser);
  for (uint32_t v : unit.in) bytes += BytesOf(parser, v);
  for (uint32_t v : unit.out) bytes += BytesOf(parser, v);
  if (const auto* conv = As<ConvSpec>(unit)) {
    work = Rounds(unit, parser, machine) ? RoundedConvNs(unit, *conv, parser, machine)
                                         : ConvNs(unit, *conv, parser, machine);
    out.shape_ns = ByIsa(machine, 600e3, 150e3, 150e3) / machine.compute;
    if (parser.constant(unit.in[1])) {
      // At other dims oneDNN may want its weights in another order: they are read and written anew.
      out.packed = PackedBound(parser.dims(unit.in[1]), 0);
      out.shape_ns += kPackPasses * BytesOf(parser, unit.in[1]) / (kWeightRate * machine.stream[2]);
    }
  } else if (const auto* grad = As<ConvGradSpec>(unit)) {
    work = ConvGradNs(unit, *grad, parser, machine);
  } else if (const auto* product = As<ProductSpec>(unit)) {
    const Dims a = parser.dims(unit.in[0]);
    const double rows = n / static_cast<double>(unit.dims.back());
    const double most =
        rows <= 2 ? std::min(rate.product, kFewRowsRate * machine.compute) : rate.product;
    work = 2 * n * static_cast<double>(product->trans_a ? a[a.size() - 2] : a.back()) / most;
    if (parser.constant(unit.in[1])) {
      work += BytesOf(parser, unit.in[1]) / (kProductWeightRate * machine.stream[2]);
      out.packed = PackedBound(parser.dims(unit.in[1]), ProductChannels(parser.dims(unit.in[1])));
    }
  } else {
    const double taps = static_cast<double>(Product(unit.spec.get<PoolSpec>().kernel));
    work = n * Padding(unit.dims[1], machine) * taps * kTapNs / machine.compute;
  }
  const double threads = machine.threads > 1 ? 0.9 * machine.threads : 1;
  out.launch_ns = LibraryLaunchNs(machine);
  // With two threads every execute forks, however small the work.
  out.work_ns = kTaskNs + (machine.threads > 1 ? kForkNs : 0) +
                std::max((work + PostOpsNs(unit, machine, n)) / threads, StreamNs(machine, bytes));
  out.workspace = static_cast<uint64_t>(BytesOf(parser, unit.out[0])) + (1u << 20);
  return out;
}

}  // namespace ge_engines::cpu::onednn
