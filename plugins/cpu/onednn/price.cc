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
  if (m.isa >= GE_ISA_AVX512) return {110, 55, 100};
  if (m.isa == GE_ISA_AVX2) return {100, 45, 52};
  return {20, 8, 15};
}
constexpr double kBytesPerNs = 10;  // memory, one thread
constexpr double kTaskNs = 145;     // one oneDNN execute, one thread
constexpr double kForkNs = 755;     // more with two threads (fork-join)
constexpr double kLoopNs = 60;      // one of our loops

// ns to stream `bytes` that the step before left in the second or third cache, or in memory.
double StreamNs(double bytes) {
  return bytes < 512e3 ? bytes / 40 : bytes < 4e6 ? bytes / 20 : bytes / kBytesPerNs;
}

double Bytes(const Dims& d) { return 4.0 * static_cast<double>(Product(d)); }

// ns an element on one AVX-512 thread.
double FnCost(Fn fn) {
  switch (fn) {
    case Fn::kGelu:
    case Fn::kErf:
    case Fn::kTanh:
    case Fn::kGeluTanh:
      return 0.7;
    case Fn::kSigmoid:
    case Fn::kSwish:
    case Fn::kExp:
      return 0.4;
    case Fn::kSin:
      return 8;
    case Fn::kDiv:
    case Fn::kRDiv:
    case Fn::kReciprocal:
    case Fn::kSqrt:
      return 0.2;
    default:
      return 0.05;
  }
}

double ConvFlops(const ConvSpec& c) {
  const double taps = static_cast<double>(Product(c.weights)) / static_cast<double>(c.dst[1]);
  // A transposed one meets each tap once for every pixel of its input.
  const Dims& pixels = c.transposed ? c.src : c.dst;
  return 2 * taps * static_cast<double>(c.dst[1]) * static_cast<double>(Product(pixels)) /
         static_cast<double>(pixels[1]);
}

}  // namespace

Price PriceOf(const Unit& u, const Parser& p, const Machine& m) {
  const Rates rate = RatesOf(m);
  const double lanes = m.isa >= GE_ISA_AVX512 ? 1 : m.isa == GE_ISA_AVX2 ? 2 : 5;
  const double n = static_cast<double>(Product(u.dims));
  double flops = 0, bytes = 0, speed = rate.conv, call = kLoopNs;
  for (uint32_t v : u.in) bytes += v != 0 ? Bytes(p.dims(v)) : 0;
  for (uint32_t v : u.out) bytes += Bytes(p.dims(v));
  Price out;
  bool spatial = u.dims.size() >= 3;
  switch (u.kind) {
    case Kind::kConv:
      flops = ConvFlops(u.conv);
      if (u.conv.groups > 1) speed = rate.depthwise;
      call = kTaskNs;
      out.packed = static_cast<uint64_t>(Product(u.conv.weights)) * 4;
      break;
    case Kind::kMatMul: {
      const Dims a = p.dims(u.in[0]);
      flops = 2 * n * static_cast<double>(u.trans_a ? a[a.size() - 2] : a.back());
      speed = rate.product;
      call = kTaskNs;
      spatial = false;
      if (p.constant(u.in[1])) out.packed = static_cast<uint64_t>(Bytes(p.dims(u.in[1])));
      break;
    }
    case Kind::kPool:
      flops = n * static_cast<double>(Product(u.pool.kernel)) * 4;
      call = kTaskNs;
      break;
    case Kind::kSoftmax:
    case Kind::kLayerNorm:
      flops = n * 0.6 * lanes * speed;
      spatial = false;
      break;
    default:
      break;
  }
  double post_ns = 0;
  for (const Post& q : u.posts) {
    post_ns += n * FnCost(q.fn) * lanes;
    if (q.operand != 0) bytes += Bytes(p.dims(q.operand));
  }
  const double threads = m.threads > 1 ? 0.9 * m.threads : 1;
  const double memory = StreamNs(bytes) / (m.threads > 1 ? 1.3 : 1);
  if (m.threads > 1 && n > 16384) call += kForkNs;
  out.work_ns = call + std::max((flops / speed + post_ns) / threads, memory);
  // With one pixel every layout is the plain one.
  const bool pixels = u.dims.size() >= 3 && Product(Dims(u.dims.begin() + 2, u.dims.end())) > 1;
  out.reorder_ns = spatial && pixels ? 2 * StreamNs(Bytes(u.dims)) : 0;
  if (u.kind == Kind::kView || u.kind == Kind::kTranspose || u.kind == Kind::kSlice) {
    // A view inside a segment, a copy at its border.
    out.work_ns = kLoopNs;
    out.reorder_ns = 2 * StreamNs(Bytes(u.dims));
  }
  out.workspace = static_cast<uint64_t>(Bytes(u.dims)) + (1u << 20);
  return out;
}

}  // namespace ge_onednn
