#include "plugins/cpu/openblas/price.h"

#include <algorithm>
#include <cmath>

#include "plugins/cpu/kit/price.h"
#include "plugins/cpu/openblas/elimination.h"
#include "plugins/cpu/openblas/emit.h"
#include "plugins/units/conv/conv.h"
#include "plugins/units/matmul/double_product.h"
#include "plugins/units/matmul/elimination.h"
#include "plugins/units/matmul/matmul.h"

namespace ge_engines::cpu::openblas {
namespace {

// OpenBLAS 0.3.21, one thread at 2.8 GHz. `peak`: f32 operations a ns in the inner loop; `pack`: ns
// an element to bring B in order, which happens at every call (B is [k][n]; A costs 0.1, and what
// comes from memory 0.15 more); `lanes`: columns come in these. Measured GF/s on two busy cores,
// the best of many, and what the formula below gives, for m x n x k:
//                    AVX2        AVX-512
//   128x768x768       91   96    104  104
//   128x768x3072      85   91     95   98
//   128x128x64        90   87     98   93
//   32x768x768        74   75     80   78
//   8x768x768         41   40     34   39
//   2x768x768         12   12     11   12
//   64x64x64          86   77    120  107
//   16x16x16          35   30     59   61
//   64x3136x64        84   78     89   82
//   512x49x2048       77   74     81   72
//   512x49x4608       69   74     74   72
//   64x12321x27       65   67     50   70
struct Rates {
  double peak, pack, lanes;
};
Rates RatesOf(const Machine& m) {
  const double c = m.compute;
  if (m.isa >= GE_ISA_AVX512) return {118 * c, 0.27 / c, 16};
  if (m.isa == GE_ISA_AVX2) return {107 * c, 0.25 / c, 8};
  return {25 * c, 0.3 / c, 4};
}
constexpr double kCallNs = 80;      // 4x4x4 takes 60 to 100
constexpr double kVectorRate = 15;  // sgemv, operations a ns: 1x768x768 on AVX2 and AVX-512
constexpr double kNear = 1e6;       // elements that may lie in a cache
constexpr double kThreadGain = 0.9;

double Bytes(const Dims& d) { return 4.0 * static_cast<double>(Product(d)); }
double UpTo(double n, double multiple) { return std::ceil(n / multiple) * multiple; }

// One call on one thread, operands at hand.
double ProductNs(double m, double n, double k, bool plain, const Machine& machine) {
  if (m == 1 || n == 1) return kCallNs + 2 * m * n * k / (kVectorRate * machine.stream[1]);
  const Rates r = RatesOf(machine);
  // Its AVX-512 kernels for small products read plain operands as they lie.
  const bool small = machine.isa >= GE_ISA_AVX512 && plain && m * n * k <= 1e6;
  const double far_a = m * k > kNear ? 0.15 : 0, far_b = k * n > kNear ? 0.15 : 0;
  const double work = 2 * UpTo(m, small ? 1 : 4) * UpTo(n, small ? 4 : r.lanes) * k / r.peak;
  return small ? kCallNs / 2 + work
               : kCallNs + work + (r.pack + far_b) * k * n + (0.1 + far_a) * m * k;
}

double MatMulNs(const Unit& u, const ProductSpec& s, const Parser& p, const Machine& machine) {
  const Dims a = p.dims(u.in[0]), b = p.dims(u.in[1]);
  const double n = static_cast<double>(u.dims.back());
  const double k = static_cast<double>(s.trans_a ? a[a.size() - 2] : a.back());
  const bool fold = Product(Dims(b.begin(), b.end() - 2)) == 1 && !s.trans_a;
  const double rows = static_cast<double>(Product(u.dims)) / n;
  const double m = fold ? rows : static_cast<double>(u.dims[u.dims.size() - 2]);
  return rows / m * ProductNs(m, n, k, !s.trans_a && !s.trans_b, machine);
}

double ConvNs(const ConvShape& s, const Machine& machine) {
  const auto jobs = static_cast<double>(s.images * s.groups);
  const auto in = static_cast<double>(s.in), out = static_cast<double>(s.out);
  if (s.how == ConvShape::kPlain) {
    return jobs * ProductNs(out, static_cast<double>(s.dst_pixels()), in, true, machine);
  }
  const Im2colTiles pieces = Im2colTilesOf(s, machine.threads);
  const auto part = static_cast<double>(pieces.step * pieces.width);
  const auto other = static_cast<double>(pieces.other);
  // Gathering: 0.15 ns an element where a line is copied, 1 where it is picked; the others pick. A
  // copied line of ten numbers takes 5 ns beside them (16 channels of 10x10, 5x5 taps).
  const bool copied = s.how == ConvShape::kGather && s.stride[2] == 1;
  const double line = 5.0 / static_cast<double>(pieces.width);
  const double move = other * part * (copied ? 0.15 + line : 1.0);
  const double product = s.how == ConvShape::kGather ? ProductNs(out, part, other, true, machine)
                         : s.how == ConvShape::kDeal ? ProductNs(other, part, in, false, machine)
                                                     : ProductNs(part, other, in, false, machine);
  const double whole = static_cast<double>(pieces.items) / static_cast<double>(pieces.step);
  return jobs * whole * (move + product);
}

// As two floats: half as many come in a vector, and a number takes twice the bytes.
Price DoublesPrice(const Unit& unit, const DoubleProductSpec& product, const Parser& parser,
                   const Machine& machine) {
  const ProductShape s = ShapeOfProduct(parser.dims(unit.in[0]), parser.dims(unit.in[1]), product);
  const bool fold = Product(s.of_b) == 1 && !product.trans_a;
  const auto jobs = static_cast<double>(fold ? 1 : Product(s.batch));
  const auto m = static_cast<double>(fold ? s.m * Product(s.batch) : s.m);
  double ns =
      jobs * ProductNs(m, 2 * static_cast<double>(s.n), static_cast<double>(s.k), false, machine);
  double bytes = BytesOf(parser, unit.out[0]);
  for (uint32_t v : unit.in) bytes += BytesOf(parser, v);
  if (parser.constant(unit.in[1])) ns += BytesOf(parser, unit.in[1]) / (9 * machine.stream[2]);
  ns += StreamNs(machine, BytesOf(parser, unit.out[0]) * (unit.in.size() > 2 ? 2 : 1));
  if (machine.threads > 1 && ns > 4 * kForkNs) ns = ns / (kThreadGain * machine.threads) + kForkNs;
  Price out;
  out.work_ns = std::max(ns, StreamNs(machine, bytes));
  for (uint32_t v : unit.in) {
    if (parser.constant(v)) out.packed += static_cast<uint64_t>(BytesOf(parser, v)) + 64;
  }
  return out;
}

}  // namespace

Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) {
  if (const auto* product = As<DoubleProductSpec>(unit)) {
    return DoublesPrice(unit, *product, parser, machine);
  }
  if (const auto* spec = As<EliminationSpec>(unit)) {
    const int threads = spec->count > 1 ? machine.threads : 1;
    Price price;
    price.work_ns = kCallNs + StreamNs(machine, 2 * BytesOf(parser, unit.in[0])) +
                    EliminationNs(*spec) * static_cast<double>(spec->count) /
                        (machine.compute * (threads > 1 ? kThreadGain * threads : 1));
    price.workspace = EliminationBytes(*spec) * static_cast<uint64_t>(threads);
    return price;
  }
  Price out;
  double bytes = Bytes(unit.dims), ns = 0;
  for (uint32_t v : unit.in) bytes += Bytes(parser.dims(v));
  bool gathers = false;
  if (const auto* conv = As<ConvSpec>(unit)) {
    const ConvShape s(*conv);
    gathers = s.how == ConvShape::kGather;
    ns = ConvNs(s, machine);
    if (s.how != ConvShape::kPlain) {
      out.workspace =
          Im2colTilesOf(s, machine.threads).bytes() * static_cast<uint64_t>(machine.threads);
    }
  } else {
    ns = MatMulNs(unit, unit.spec.get<ProductSpec>(), parser, machine);
  }
  // Weights come from memory.
  if (parser.constant(unit.in[1])) ns += Bytes(parser.dims(unit.in[1])) / (9 * machine.stream[2]);
  if (parser.constant(unit.in[1])) {
    const Dims weights = parser.dims(unit.in[1]);
    out.packed = PackedBound(weights, Is<ConvSpec>(unit) ? 0 : ProductChannels(weights));
  }
  // The result is written by the product, then read and written by functions that follow apart.
  ns += StreamNs(machine, Bytes(unit.dims)) +
        FinishNs(unit, parser, machine, gathers ? Finish::kInPieces : Finish::kPasses);
  if (machine.threads > 1 && ns > 4 * kForkNs) ns = ns / (kThreadGain * machine.threads) + kForkNs;
  out.work_ns = std::max(ns, StreamNs(machine, bytes));
  return out;
}

}  // namespace ge_engines::cpu::openblas
