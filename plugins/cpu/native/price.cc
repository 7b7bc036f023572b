#include "plugins/cpu/native/price.h"

#include <algorithm>
#include <cmath>

#include "plugins/cpu/native/attend.h"
#include "plugins/cpu/native/channel_groups.h"
#include "plugins/cpu/native/channels_last.h"
#include "plugins/cpu/native/code_conv.h"
#include "plugins/cpu/native/direct.h"
#include "plugins/cpu/native/emit.h"
#include "plugins/cpu/native/forest.h"
#include "plugins/cpu/native/lines.h"
#include "plugins/cpu/native/panels.h"
#include "plugins/cpu/native/recurrence.h"
#include "plugins/cpu/native/row_norms.h"
#include "plugins/cpu/native/sample_loops.h"
#include "plugins/cpu/native/vectors.h"
#include "plugins/cpu/native/winograd.h"

namespace ge_engines::cpu::native {
namespace {

// ns of a product of m rows, one thread: it streams the weights once for every 8 rows, and does
// its multiply-adds at a rate that falls with less than a block of rows. Measured at 2.8 GHz,
// m x n x k, GF/s on AVX-512 and AVX2: 1x256x256 36 and 31, 8x256x257 105 and 50; bound by the
// stream 1x1024x256 21, 1x768x768 12, 1x3072x768 7.
double ProductNs(const Fold& f, const Machine& m, bool near) {
  const double weights = static_cast<double>(f.n) * static_cast<double>(f.k) * 4;
  const double rows = static_cast<double>(f.m), batch = static_cast<double>(f.batch);
  const double flops = 2 * rows * static_cast<double>(f.n) * static_cast<double>(f.k);
  const double rate = m.isa >= GE_ISA_AVX512 ? 105 * std::min(1.0, (rows + 2) / 8)
                                             : ByIsa(m, 0, 50, 15) * std::min(1.0, (rows + 4) / 8);
  const double all = weights * batch;
  // Bytes a ns. Other weights than small ones come from memory, unless they were just used.
  const double kept = all < 512e3 ? 70 : all < 1.5e6 ? 40 : all < 4e6 ? 24 : 14;
  const double speed = near || all < 64e3 ? kept : 14;
  const double passes = static_cast<double>((f.m + 7) / 8);
  return batch * std::max(flops / (rate * m.compute), passes * weights / (speed * m.stream[1]));
}

constexpr double kColumnNs = 7;   // a number of a product of rows with rows: the sum of lanes
constexpr double kTurnNs = 0.25;  // an element of a matrix that is turned round first

// The inputs' product in panels; a step's product by weights that the step before left in a cache,
// and its cells. Threads take directions and pieces of the batch, else share each product.
double RecurrentNs(const Unit& u, const RecurrentSpec& s, const Machine& m) {
  const RecurrentHas has = {true, u.in[4] != 0, true, true, true, true};
  const RecurrentPlan plan(SimdOf(m.isa), s, has, m.threads);
  Machine one = m;
  one.threads = 1;
  const double steps = static_cast<double>(s.steps), rows = static_cast<double>(plan.rows);
  const int64_t block = plan.block * plan.rows;
  const double blocks = std::ceil(steps / static_cast<double>(plan.block));
  const double input =
      blocks * PanelNs(PanelPlan(SimdOf(m.isa), block, s.gates(), s.inputs), plan.alone ? one : m);
  const Fold fold{1, plan.rows, s.gates(), s.hidden};
  double product = ProductNs(fold, m, true);
  const bool fork = !plan.alone && PanelPlan(SimdOf(m.isa), fold.m, fold.n, fold.k).parallel();
  if (fork) product = kForkNs + product / (0.9 * m.threads);
  const double cells = rows * static_cast<double>(s.gates()) * ByIsa(m, 0.6, 1.4, 4) / m.compute;
  const double each = input + steps * (kLoopNs + product + cells);
  const double jobs = static_cast<double>(plan.pieces * s.directions);
  if (!plan.alone) return jobs * each;
  const double rounds = std::ceil(jobs / static_cast<double>(m.threads));
  return (m.threads > 1 && jobs > 1 ? kForkNs : 0) + rounds * each;
}

// Rates of products of 16-bit integers, multiply-adds a ns: 51 are reached where AVX2's peak is 121
// operations, of which what native asks for all that no prior knows is 0.75.
double IntegerRate(const Machine& m) { return ByIsa(m, 50, 31, 12) * m.compute; }

// By code_conv.h: windows by whole vectors of columns, depth-wise ones by 64 channels, each result
// scaled, the copy that pads (476 multiply-adds a ns, 0.11 ns a code and 0.17 a depth-wise one of
// nine taps where AVX-512's peak is 242; what no prior knows is asked for at 1.4 times that). AVX2,
// processor time beside others where floats reach 47 multiply-adds a ns: 61, 0.5 and 0.73. The
// kernels are faster since (70, 0.25 and 0.65), and still ask this: Winograd asks 1.4 times what it
// takes beside them, and where only they ask less resnet18 takes 26 ms in place of 23 (0040).
double ByFoursNs(const Unit& u, const CodeConvPlan& c, const Parser& p, const Machine& m) {
  const auto pixels = static_cast<double>(c.batch * c.pixels());
  const auto columns = static_cast<double>(c.groups_columns());
  const double copy = c.copies ? static_cast<double>(c.batch * c.image_bytes()) * 0.05 : 0;
  const double weights = BytesOf(p, u.in[QuantIn::kW]) / (25 * m.stream[2]);
  const bool one = CodeKernelsOf(m.isa) == &kCodeKernelsAvx512;  // instruction for four
  if (c.depthwise) {
    const auto taps = static_cast<double>(c.taps());
    return pixels * columns * (one ? 0.23 + 0.02 * taps : 0.35 + 0.05 * taps) / m.compute;
  }
  const double vectors = std::ceil(static_cast<double>(c.out) / kCodeLanes) * kCodeLanes;
  const double codes = pixels * static_cast<double>(c.groups) * vectors;
  const auto depth = static_cast<double>(c.taps() * c.in);
  const double code = one ? depth / 220 + 0.22 : depth / 58 + 0.55;
  return std::max((codes * code + copy) / m.compute, weights);
}

double IntegerProductNs(const Unit& u, const Parser& p, const Machine& m) {
  if (MultipliesByFours(u, p, m)) {
    const auto& s = std::get<IntegerProductSpec>(u.spec);
    const Dims b = p.dims(u.in[QuantIn::kW]);
    const int64_t n = b[s.turned ? 0 : 1], k = b[s.turned ? 1 : 0];
    return ByFoursNs(u, CodeConvPlan(Product(u.dims) / n, n, k, s.turned, m.threads, {}), p, m);
  }
  const double weights = BytesOf(p, u.in[QuantIn::kW]);
  const double rows = static_cast<double>(Product(u.dims) / u.dims.back());
  return std::max(rows * weights / IntegerRate(m), weights / (14 * m.stream[2])) +
         static_cast<double>(Product(u.dims)) * 0.3;
}

double IntegerConvNs(const Unit& u, const ConvSpec& c, const Parser& p, const Machine& m) {
  if (MultipliesByFours(u, p, m)) return ByFoursNs(u, CodeConvPlan(c, m.threads, {}), p, m);
  const double depth = static_cast<double>(Product(c.weights) / c.dst[1]);
  const double n = static_cast<double>(Product(u.dims));
  const double pixels = n / static_cast<double>(c.dst[1]) * static_cast<double>(c.groups);
  const bool runs = Product(c.stride) == 1;
  // Rows of weights come by six, pixels by two vectors, with those between two lines of a padded
  // image, and a group costs 200 ns (depth-wise ones of 7 to 56 pixels, AVX2: within 15 %).
  const auto out = static_cast<double>(c.dst[1] / c.groups);
  const double rows = std::max(out, 3.0);  // fewer wait for their sums
  const double jobs = static_cast<double>(c.src[0] * c.groups);
  const double wide = runs ? static_cast<double>(c.dst.back() + c.weights.back() - 1) /
                                 static_cast<double>(c.dst.back())
                           : 1;
  const double vectors = ByIsa(m, 32, 16, 8);
  const double walk = std::ceil(pixels / jobs * wide / vectors) * vectors * jobs;
  return walk * depth * rows / IntegerRate(m) +
         (jobs * 200 + walk * depth * (runs ? ByIsa(m, 0.1, 0.12, 0.25) : 0.7)) / m.compute +
         BytesOf(p, u.in[0]) * 0.15 + n * ByIsa(m, 0.2, 0.4, 1);
}

// Per pooled row: what a row costs at all, its rows of x folded by vectors, its windows by vectors
// (five pools, two of them lenet's, AVX-512: 9 to 33 ns a row, within a quarter).
double PoolNs(const Unit& u, const PoolSpec& pool, const Machine& m) {
  const double lanes = ByIsa(m, 16, 8, 4), n = static_cast<double>(u.dims.back());
  const double rows = static_cast<double>(Product(u.dims)) / std::max(1.0, n);
  const double taps = static_cast<double>(pool.kernel.back());
  const double high = static_cast<double>(Product(pool.kernel)) / taps;
  const double wide = std::ceil(static_cast<double>(pool.src.back()) / lanes);
  // Other strides pick their elements one by one.
  const double picks = pool.stride.back() > 2 ? n : std::ceil(n / lanes);
  return rows * (5 + wide * high * 0.6 + picks * taps) / m.compute;
}

// Pairs of pairs by vectors, other windows tap by tap.
double PoolGradNs(const PoolGradSpec& s, const Machine& m) {
  const auto windows = static_cast<double>(Product(s.dy)), x = static_cast<double>(Product(s.x));
  const auto taps = static_cast<double>(Product(s.kernel));
  const bool pairs = s.kernel == Dims{2, 2} && s.stride == Dims{2, 2};
  return (pairs ? x * ByIsa(m, 0.2, 0.35, 0.7) : x * 0.1 + windows * (2 + taps)) / m.compute;
}

// Of a product without constant weights.
double FoldedNs(const Unit& u, const Parser& p, const Machine& m) {
  const Fold f = FoldOf(u, p);
  const double product = ProductNs(f, m, false);
  if (!std::get<ProductSpec>(u.spec).trans_b) return product;
  const double each = ReadsTurned(f) ? static_cast<double>(f.m * f.n) * kColumnNs
                                     : static_cast<double>(f.batch * f.n * f.k) * kTurnNs;
  return product + each / m.compute;
}

// A vector of each of four pixels for each sample, and x brought into channels last; regions that
// say how many samples they want only when they are there are taken for such of two along each
// axis.
double RoiAlignNs(const RoiAlignSpec& s, const Machine& m) {
  const double side = s.ratio > 0 ? static_cast<double>(s.ratio) : 2;
  const double bins = static_cast<double>(s.rois * s.out_height * s.out_width);
  const double vectors = static_cast<double>(s.channels) / ByIsa(m, 16, 8, 4);
  const double x = static_cast<double>(s.batch * s.channels * s.height * s.width);
  return (bins * side * side * (4 * vectors * 0.4 + 12) + x * 0.5) / m.compute;
}

// Sorting keeps few of many in a heap; else all are parted and those that are wanted sorted.
double TopKNs(const Unit& u, const TopKSpec& s, const Parser& p) {
  const auto axis = static_cast<size_t>(s.axis);
  const double taken = static_cast<double>(u.dims[axis]);
  const double dim = static_cast<double>(p.dims(u.in[0])[axis]);
  const double x = static_cast<double>(Product(p.dims(u.in[0])));
  const double sorted = static_cast<double>(Product(u.dims)) * std::log2(taken + 1);
  return x * (taken > dim / 8 ? 4 : 1) + sorted * 1;
}

double WeighNs(const WeighPlan& plan, const Machine& m) {
  double ns = 0;
  for (const WeighPlan::Pass& pass : plan.passes) {
    const double taps = static_cast<double>(pass.axis.w.size());
    const double outer = static_cast<double>(pass.outer);
    const double rows = outer * static_cast<double>(pass.axis.from.size());
    const double sums = outer * taps * static_cast<double>(pass.inner);
    ns += pass.inner == 1 ? sums * 0.35 : rows * 15 + sums * ByIsa(m, 0.06, 0.08, 0.2);
  }
  return ns;
}

// By index, by order and between elements, one thread. Measured on an EPYC with AVX-512, beside the
// bytes: look-ups 1 ns an element, tuples 4 ns and more the longer they are, running sums 0.6 to
// 0.9, top 50 of 10,000 2.1 an element, grids 12 to 16 a sample of a channel less 25 a place.
double OrderedNs(const Unit& u, const Parser& p, const Machine& m) {
  const double n = static_cast<double>(Product(u.dims));
  const double x = static_cast<double>(Product(p.dims(u.in[0])));
  const double rows = u.dims.empty() ? 1 : n / static_cast<double>(u.dims.back());
  if (const auto* s = As<IndexSpec>(u)) {
    const auto places = static_cast<double>(Product(p.dims(u.in[1])));
    const double depth = static_cast<double>(p.dims(u.in[1]).back());
    return s->tuples ? places / depth * (2 + 0.8 * depth) : places;
  }
  if (const auto* s = As<CumSumSpec>(u)) {
    return x * (s->axis + 1 < static_cast<int>(u.dims.size()) ? 0.6 : 0.9);
  }
  if (const auto* s = As<ArgSpec>(u)) {
    return x * (s->axis + 1 < static_cast<int>(p.dims(u.in[0]).size()) ? 1.5 : 0.25);
  }
  if (const auto* s = As<TopKSpec>(u)) return TopKNs(u, *s, p);
  if (const auto* s = As<FillPadSpec>(u)) {
    return n / static_cast<double>(s->y.back()) * 18 + n * 0.05;
  }
  if (Is<TileSpec>(u)) return rows * 10 + n * 0.05;
  if (const auto* s = As<WeighSpec>(u)) return WeighNs(WeighPlan(p.dims(u.in[0]), *s), m);
  if (Is<GridSpec>(u)) return n / static_cast<double>(u.dims[1]) * 25 + n * 2.5;
  if (Is<PReluSpec>(u)) return n * 0.3;
  if (Is<InstanceNormSpec>(u)) return n * ByIsa(m, 0.15, 0.2, 0.4) + rows * 2;
  if (const auto* s = As<SpectrumSpec>(u)) {
    return n * static_cast<double>(s->length) / ByIsa(m, 40, 20, 7);
  }
  const PoolSpec& pool = std::get<CodePoolSpec>(u.spec).pool;
  const double taps = static_cast<double>(pool.kernel.back());
  const double high = static_cast<double>(Product(pool.kernel)) / taps;
  // Behind convolutions whose channels are last, by whole pixels.
  if (CodeKernelsOf(m.isa) != nullptr && pool.src.size() == 4) {
    const auto channels = static_cast<double>(pool.src[1]);
    return n / channels * taps * high * (2 + channels * 0.01);
  }
  // By rows: columns folded by vectors of 16 codes, then windows, those of `Every` by vectors, too
  // (two pools, AVX2: 24 and 65 ns a row).
  const double wide = std::ceil(static_cast<double>(pool.src.back()) / 16);
  const double wide_out = std::ceil(n / rows / 16);
  const bool by_vectors = pool.stride.back() <= 2 && taps <= 3;
  return rows * (15 + wide * high * 0.8 + (by_vectors ? wide_out * 3 : n / rows) * taps);
}

constexpr double kApartNs = 0.3;     // an element whose neighbours in memory change
constexpr double kMovedApartNs = 1;  // one that is moved alone, by no vectors

// An index is looked at; then rows are copied, short ones (8 bytes and less) by moves of their own
// or in runs.
double GatherNs(const Unit& u, const GatherSpec& spec, const Parser& p) {
  const Dims x = p.dims(u.in[0]);
  const auto indices = static_cast<double>(Product(p.dims(u.in[1])));
  const Dims before(x.begin(), x.begin() + spec.axis), behind(x.begin() + spec.axis + 1, x.end());
  if (!spec.backwards) {  // single features of each row
    return indices * (3 + static_cast<double>(Product(before)) * 0.65) +
           static_cast<double>(Product(before)) * 0.7;
  }
  const double row = static_cast<double>(Product(behind) * p.size(u.in[0]));
  const double rows = indices * static_cast<double>(Product(before) - 1);
  return indices * 5 + std::max(rows, 0.0) * (row <= 8 ? 0.12 : 2);
}

double WorkNs(const Unit& u, const Parser& p, const Machine& m) {
  const double n = static_cast<double>(Product(u.dims));
  if (Is<NothingSpec>(u)) return 0;
  if (Is<ProductSpec>(u)) return FoldedNs(u, p, m);
  if (const auto* pool = As<PoolSpec>(u)) return PoolNs(u, *pool, m);
  if (const auto* grad = As<PoolGradSpec>(u)) return PoolGradNs(*grad, m);
  if (Is<ResampleSpec>(u)) return n * ByIsa(m, 0.8, 1, 1.5);
  if (const auto* g = As<GatherSpec>(u)) return GatherNs(u, *g, p);
  if (Is<AppendSpec, AddRowsSpec>(u)) return BytesOf(p, u.in[2]) * 0.1;
  if (Is<CastSpec>(u)) {
    const bool half = p.size(u.in[0]) == 2 || p.size(u.out[0]) == 2;
    return half ? n * ByIsa(m, 0.1, 0.3, 0.6) : n * 0.4;
  }
  if (Is<RelationSpec>(u)) return n * 0.2;
  if (Is<MoveSpec>(u)) return n * kMovedApartNs / m.compute;
  if (Is<FillSpec, TriangleSpec>(u)) return n * 0.05 + 20;
  if (Is<IndexSpec, CumSumSpec, ArgSpec, TopKSpec, FillPadSpec, TileSpec, WeighSpec, GridSpec,
         CodePoolSpec, PReluSpec, InstanceNormSpec, SpectrumSpec>(u)) {
    return OrderedNs(u, p, m) / m.compute;
  }
  if (Is<WhereSpec>(u)) return n * ByIsa(m, 0.12, 0.15, 0.4);
  if (const auto* roi = As<RoiAlignSpec>(u)) return RoiAlignNs(*roi, m);
  if (Is<IntegerSpec>(u)) return n * 0.3;
  if (const auto* vectors = As<VectorSpec>(u)) return VectorNs(*vectors->machine) / m.compute;
  if (const auto* trees = As<ForestSpec>(u)) return ForestNs(*trees->forest) / m.compute;
  if (const auto* lines = As<LineSpec>(u)) return LineNs(*lines->lines) / m.compute;
  if (const auto* norm = As<RowNormSpec>(u)) return RowNormNs(*norm) / m.compute;
  if (const auto* s = As<RowSquareSpec>(u)) return RowSquareNs(*s) / m.compute;
  if (const auto* conv = As<IntegerConvSpec>(u)) return IntegerConvNs(u, conv->conv, p, m);
  if (Is<IntegerProductSpec>(u)) return IntegerProductNs(u, p, m);
  if (Is<QuantizeSpec>(u)) return n * ByIsa(m, 0.5, 0.6, 1.5) * (u.in.size() > 1 ? 1 : 1.4);
  if (Is<DequantizeSpec>(u)) return n * ByIsa(m, 0.2, 0.25, 0.5);
  if (Is<CodePairSpec, CodeConstantSpec>(u)) return n * ByIsa(m, 0.3, 0.4, 1.2) / m.compute;
  if (Is<CodeMapSpec>(u)) return n * 0.4 / m.compute;
  if (Is<CodeConcatSpec>(u)) return n * 0.1 / m.compute;
  if (Is<CodeMeanSpec>(u)) return BytesOf(p, u.in[0]) * 0.1 / m.compute + n * 3;
  return RecurrentNs(u, std::get<RecurrentSpec>(u.spec), m);
}

Price WinogradPrice(const Unit& u, const ConvSpec& c, const Parser& p, const Machine& m) {
  Price out;
  const WinogradPlan plan = WinogradPlan::Best(c, m);
  const double n = static_cast<double>(Product(u.dims));
  const double bytes = PostBytes(u, p) + BytesOf(p, u.in[0]) + BytesOf(p, u.out[0]);
  out.work_ns = kLoopNs + (m.threads > 1 ? kForkNs : 0) +
                std::max(plan.ns(m) + PostsNs(u, m, n) / m.threads, StreamNs(m, bytes));
  out.workspace = 4 * plan.workspace_floats() * static_cast<uint64_t>(m.threads);
  out.packed = 4 * plan.weight_floats();
  return out;
}

// A piece's product reads its columns from the second cache for every 8 channels.
double ConvNs(const ConvInPieces& c, const Machine& m) {
  const ConvShape& s = c.shape;
  const auto jobs = static_cast<double>(s.images * s.groups);
  const auto out = static_cast<double>(s.out), in = static_cast<double>(s.in * s.taps());
  const auto pixels =
      static_cast<double>(s.how == ConvShape::kGather ? s.dst_pixels() : s.src_pixels());
  const double rows = s.how == ConvShape::kGather ? out : out * static_cast<double>(s.taps());
  const double depth = s.how == ConvShape::kGather ? in : static_cast<double>(s.in);
  const double rate = ByIsa(m, 105, 50, 15) * std::min(1.0, (rows + 2) / 8) * m.compute;
  const bool copied = s.how == ConvShape::kGather && s.stride[2] == 1;
  const double width = static_cast<double>(c.pieces.width);
  const double moved = s.how == ConvShape::kGather ? in * pixels : rows * pixels;
  return jobs * (2 * rows * depth * pixels / rate + moved * (copied ? 0.15 + 5 / width : 1));
}

Price ConvPrice(const Unit& u, const ConvSpec& c, const Parser& p, const Machine& m) {
  Price out;
  const bool direct = IsDirect(c, m);
  const Finish finish = direct         ? Finish::kInSums
                        : c.transposed ? Finish::kPasses
                                       : Finish::kInPieces;
  const double conv_ns = direct ? DirectPlan(c, m).ns(m) : ConvNs(ConvInPieces(c, m.threads), m);
  const double bytes = BytesOf(p, u.out[0]);
  double ns = conv_ns + BytesOf(p, u.in[1]) / (14 * m.stream[2]) + StreamNs(m, bytes) +
              FinishNs(u, p, m, finish);
  if (m.threads > 1 && ns > 4 * kForkNs) ns = ns / (0.9 * m.threads) + kForkNs;
  out.work_ns = kLoopNs + std::max(ns, StreamNs(m, bytes + BytesOf(p, u.in[0])));
  out.workspace = BufferOf(c, m) * static_cast<uint64_t>(m.threads);
  if (p.constant(u.in[1])) out.packed = PackedBound(p.dims(u.in[1]), 0);
  return out;
}

// The same with the filters turned around; posts are none.
Price ConvGradPrice(const Unit& u, const ConvGradSpec& g, const Parser& p, const Machine& m) {
  Price out = ConvPrice(u, *TurnedConv(g), p, m);
  out.work_ns += kLoopNs + static_cast<double>(Product(g.conv.weights)) * 0.7 / m.compute;
  return out;
}

// A product with constant weights, or a convolution of one pixel; its posts are done on its tiles.
Price PanelPrice(const Unit& u, const PanelPlan& plan, const Parser& p, const Machine& m) {
  Price out;
  const double n = static_cast<double>(Product(u.dims));
  const double posts = PostsNs(u, m, n) / Workers(m, n);
  const double bytes = PostBytes(u, p) + BytesOf(p, u.out[0]);
  out.work_ns =
      kLoopNs + std::max(PanelNs(plan, m) + posts, StreamNs(m, bytes + BytesOf(p, u.in[0])));
  out.workspace = (plan.rounded_floats() + plan.tile_floats() * static_cast<uint64_t>(m.threads)) *
                  sizeof(float);
  const Dims weights = p.dims(u.in[1]);  // of a convolution of one pixel, or of a product
  out.packed = plan.coded ? plan.weight_floats() * sizeof(float)
                          : PackedBound(weights, Is<ConvSpec>(u) ? 0 : ProductChannels(weights));
  return out;
}

PanelPlan PanelPlanOf(const Fold& f, const Machine& m) {
  return PanelPlan(SimdOf(m.isa), f.m, f.n, f.k, m.rounded);
}

// On tiles, too.
Price ChannelsLastPrice(const Unit& u, const ConvSpec& c, const Parser& p, const Machine& m) {
  Price out;
  const ChannelsLastPlan plan(SimdOf(m.isa), c, m);
  const double n = static_cast<double>(Product(u.dims));
  const double bytes = PostBytes(u, p) + BytesOf(p, u.in[0]) + BytesOf(p, u.out[0]);
  out.work_ns =
      kLoopNs + std::max(plan.ns(m) + PostsNs(u, m, n) / Workers(m, n), StreamNs(m, bytes));
  out.workspace = 4 * plan.workspace_floats() * static_cast<uint64_t>(m.threads);
  out.packed = 4 * plan.product.weight_floats();
  return out;
}

Price ChannelGroupsPrice(const Unit& u, const ConvSpec& c, const Parser& p, const Machine& m) {
  Price out;
  const ChannelGroupsPlan plan(SimdOf(m.isa), c, m);
  const double n = static_cast<double>(Product(u.dims));
  const double bytes = PostBytes(u, p) + BytesOf(p, u.in[0]) + BytesOf(p, u.out[0]);
  out.work_ns =
      kLoopNs + std::max(plan.ns(m) + PostsNs(u, m, n) / Workers(m, n), StreamNs(m, bytes));
  out.workspace = 4 * plan.workspace_floats() * static_cast<uint64_t>(m.threads);
  out.packed = 4 * static_cast<uint64_t>(plan.weight_floats() + plan.bias_floats());
  return out;
}

Price ChannelSumsPrice(const Unit& u, const ConvSpec& c, const Parser& p, const Machine& m) {
  Price out;
  const double n = static_cast<double>(Product(u.dims));
  const double bytes = PostBytes(u, p) + BytesOf(p, u.in[0]) + BytesOf(p, u.out[0]);
  out.work_ns = kLoopNs + std::max(ChannelSumsNs(c, m) + PostsNs(u, m, n) / Workers(m, n),
                                   StreamNs(m, bytes));
  out.packed = PackedBound({Product(c.weights) / c.dst[1], c.dst[1]}, 0);
  return out;
}

double StepNs(const StepSpec& s, const Machine& m) {
  const bool root = s.adam() || s.rule == StepRule::kRmsProp || s.rule == StepRule::kAdagrad;
  const double once = root ? ByIsa(m, 0.8, 1.0, 2.0) : 0.2;
  if (s.rule == StepRule::kLars) return once + 0.2;  // norms first
  return s.rule == StepRule::kLamb ? 2 * once : once;
}

// ns an element of x beside its bytes, one thread.
double MainNs(const Unit& u, const Machine& m) {
  if (Is<ReduceSpec, MomentsSpec>(u)) return ByIsa(m, 0.2, 0.2, 0.3);
  if (Is<BatchNormGradSpec>(u)) return ByIsa(m, 0.4, 0.4, 0.8);
  if (const auto* step = As<StepSpec>(u)) return StepNs(*step, m);
  if (const auto* norm = As<LayerNormSpec>(u)) {
    return ByIsa(m, 0.28, 0.29, 0.56) * (norm->centered ? 1 : 0.7);  // a sum less
  }
  const auto* softmax = As<SoftmaxSpec>(u);
  if (softmax == nullptr) return 0;
  const bool last = softmax->axis + 1 == static_cast<int>(u.dims.size());
  return last ? ByIsa(m, 0.52, 1.25, 3.3) : ByIsa(m, 0.7, 1.5, 3.6);
}

Price LoopPriceOf(const Unit& u, const Parser& p, const Machine& m) {
  Price out;
  const double n = static_cast<double>(Product(u.dims));
  const double x = static_cast<double>(Product(p.dims(u.in[0])));
  // Always a copy.
  const auto* slice = As<SliceSpec>(u);
  const bool moved =
      !Is<ViewSpec>(u) && (p.size(u.out[0]) != 4 || (slice != nullptr && GoesBack(*slice)));
  if (Is<ViewSpec, TransposeSpec, SliceSpec>(u) && !moved) {
    // A view inside a segment, a copy at its border.
    out.work_ns = 1;
    out.border_ns = kLoopNs + 2 * StreamNs(m, BytesOf(p, u.out[0]));
    const auto* t = As<TransposeSpec>(u);
    const bool apart = t != nullptr && !t->perm.empty() &&
                       t->perm.back() + 1 != static_cast<int64_t>(t->perm.size());
    if (apart) out.border_ns += n * kApartNs / m.compute;
    return out;
  }
  double bytes = PostBytes(u, p);
  for (uint32_t v : u.in) bytes += BytesOf(p, v);
  for (uint32_t v : u.out) bytes += BytesOf(p, v);
  double work = x * MainNs(u, m) / m.compute + PostsNs(u, m, n);
  const auto* turned = As<TransposeSpec>(u);
  if (moved && slice != nullptr && slice->boxes[0].step.back() != 1)
    work += n * kMovedApartNs / m.compute;
  if (moved && turned != nullptr && !turned->perm.empty() &&
      turned->perm.back() + 1 != static_cast<int64_t>(turned->perm.size())) {
    work += n * kMovedApartNs / m.compute;
  }
  const double most = std::max(n, x);
  out.work_ns = kLoopNs + ForkNs(m, most) + std::max(work / Workers(m, most), StreamNs(m, bytes));
  out.workspace = static_cast<uint64_t>(BytesOf(p, u.out[0]));
  return out;
}

Price AttendPrice(const Unit& u, const AttendSpec& s, const Parser& p, const Machine& m) {
  Price out;
  const AttendPlan plan(SimdOf(m.isa), s, m.threads);
  double bytes = BytesOf(p, u.out[0]);
  for (size_t k = 3; k < u.in.size(); ++k) bytes += BytesOf(p, u.in[k]);
  out.work_ns = kLoopNs + std::max(plan.ns(m), StreamNs(m, bytes));
  out.workspace = plan.floats() * static_cast<uint64_t>(plan.threads) * sizeof(float);
  return out;
}

}  // namespace

uint64_t BufferOf(const ConvSpec& c, const Machine& m) {
  return IsDirect(c, m) ? 4 * DirectPlan(c, m).workspace_floats()
                        : ConvInPieces(c, m.threads).pieces.bytes();
}

Price PriceOf(const Unit& u, const Parser& p, const Machine& m) {
  if (Is<PointwiseSpec, MomentsSpec, BatchNormGradSpec, StepSpec, ReduceSpec, SoftmaxSpec,
         LayerNormSpec, ConcatSpec, ResizeSpec, ViewSpec, TransposeSpec, SliceSpec, ExpandSpec>(
          u)) {
    return LoopPriceOf(u, p, m);
  }
  if (const auto* grad = As<ConvGradSpec>(u)) return ConvGradPrice(u, *grad, p, m);
  if (const auto* conv = As<ConvSpec>(u)) {
    switch (WayOf(*conv, p.constant(u.in[1]) && u.in.size() < 3, m)) {
      case ConvWay::kPixel:
        return PanelPrice(u, PanelPlanOf(FoldOf(u, p), m), p, m);
      case ConvWay::kWinograd:
        return WinogradPrice(u, *conv, p, m);
      case ConvWay::kChannelsLast:
        return ChannelsLastPrice(u, *conv, p, m);
      case ConvWay::kChannelGroups:
        return ChannelGroupsPrice(u, *conv, p, m);
      case ConvWay::kChannelSums:
        return ChannelSumsPrice(u, *conv, p, m);
      default:
        return ConvPrice(u, *conv, p, m);
    }
  }
  if (Is<ProductSpec>(u)) {
    const Fold f = FoldOf(u, p);
    if (InPanels(u, f, p)) return PanelPrice(u, PanelPlanOf(f, m), p, m);
  }
  if (const auto* attend = As<AttendSpec>(u)) return AttendPrice(u, *attend, p, m);
  if (const auto* codes = As<NBitsSpec>(u)) {
    return PanelPrice(u, NBitsPlan(u, *codes, m), p, m);
  }
  Price out;
  const double n = static_cast<double>(Product(u.dims));
  double bytes = PostBytes(u, p) + BytesOf(p, u.out[0]);
  for (uint32_t v : u.in) bytes += BytesOf(p, v);
  // Of a table only what is looked up is read; a product's traffic is in its own figure.
  if (Is<GatherSpec>(u)) bytes = BytesOf(p, u.in[1]) + 2 * BytesOf(p, u.out[0]);
  // As where the cache is overwritten where it lies.
  if (Is<AppendSpec, AddRowsSpec>(u)) bytes = 2 * BytesOf(p, u.in[2]);
  const bool product = Is<ProductSpec>(u), recurrent = Is<RecurrentSpec>(u);
  if (product || recurrent) bytes = BytesOf(p, u.out[0]);
  const double work = WorkNs(u, p, m) + PostsNs(u, m, n);
  const double size = product ? BytesOf(p, u.in[1]) / 4
                      : recurrent || Is<AppendSpec>(u)
                          ? 1  // threads in its figure; one copies the rows
                          : n;
  out.work_ns = kLoopNs * (u.posts.empty() ? 1 : 2) + ForkNs(m, size) +
                std::max(work / Workers(m, size), StreamNs(m, bytes));
  out.workspace = static_cast<uint64_t>(BytesOf(p, u.out[0])) + (1u << 16);
  for (uint32_t v : u.in) {
    if (p.constant(v) && !Is<GatherSpec>(u)) {
      const Dims d = p.dims(v);
      out.packed += d.size() < 2 ? (static_cast<uint64_t>(BytesOf(p, v)) + 63) / 64 * 64
                                 : std::max(PackedBound(d, 0), PackedBound(d, d.size() - 2));
    }
  }
  return out;
}

}  // namespace ge_engines::cpu::native
