#include "plugins/cpu/onednn/price.h"

#include <algorithm>

namespace ge_onednn {
namespace {

// Rates of one thread at 2.8 GHz, f32 operations a ns: oneDNN 2.6.3 on ResNet-50's convolutions
// 113-138 (AVX-512) and 108-115 (AVX2), depth-wise 49-67; products of 128x768x3072 115 and 52.
struct Rates {
  double conv, depthwise, product;
};
Rates RatesOf(const Machine& m) {
  const double c = m.compute;
  if (m.isa >= GE_ISA_AVX512) return {110 * c, 55 * c, 100 * c};
  if (m.isa == GE_ISA_AVX2) return {100 * c, 45 * c, 52 * c};
  return {20 * c, 8 * c, 15 * c};
}
constexpr double kTaskNs = 145;  // one oneDNN execute, one thread

double ConvFlops(const ConvSpec& c) {
  const double taps = static_cast<double>(Product(c.weights)) / static_cast<double>(c.dst[1]);
  // A transposed one meets each tap once for every pixel of its input.
  const Dims& pixels = c.transposed ? c.src : c.dst;
  return 2 * taps * static_cast<double>(c.dst[1]) * static_cast<double>(Product(pixels)) /
         static_cast<double>(pixels[1]);
}

}  // namespace

Price PriceOf(const Unit& u, const Parser& p, const Machine& m) {
  const bool main = u.kind == Kind::kConv || u.kind == Kind::kMatMul || u.kind == Kind::kPool;
  const Rates rate = RatesOf(m);
  const double n = static_cast<double>(Product(u.dims));
  Price out;
  if (!main) {
    out = LoopPriceOf(u, p, m);
  } else {
    double flops = 0, speed = rate.conv, bytes = PostBytes(u, p);
    for (uint32_t v : u.in) bytes += BytesOf(p, v);
    for (uint32_t v : u.out) bytes += BytesOf(p, v);
    if (u.kind == Kind::kConv) {
      flops = ConvFlops(u.conv);
      if (u.conv.groups > 1) speed = rate.depthwise;
      out.packed = static_cast<uint64_t>(Product(u.conv.weights)) * 4;
    } else if (u.kind == Kind::kMatMul) {
      const Dims a = p.dims(u.in[0]);
      flops = 2 * n * static_cast<double>(u.trans_a ? a[a.size() - 2] : a.back());
      speed = rate.product;
      if (p.constant(u.in[1])) out.packed = static_cast<uint64_t>(BytesOf(p, u.in[1]));
    } else {
      flops = n * static_cast<double>(Product(u.pool.kernel)) * 4;
    }
    const double threads = m.threads > 1 ? 0.9 * m.threads : 1;
    out.launch_ns = WideLaunchNs(m);
    // With two threads every execute forks, however small the work.
    out.work_ns = kTaskNs + (m.threads > 1 ? kForkNs : 0) +
                  std::max((flops / speed + PostsNs(u, m, n)) / threads, StreamNs(m, bytes));
  }
  out.workspace = static_cast<uint64_t>(BytesOf(p, u.out[0])) + (1u << 20);
  return out;
}

}  // namespace ge_onednn
