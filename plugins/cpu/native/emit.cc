#include "plugins/cpu/native/emit.h"

#include <stdexcept>

#include "plugins/cpu/kit/thresholds.h"
#include "plugins/cpu/native/channel_groups.h"
#include "plugins/cpu/native/channels_last.h"
#include "plugins/cpu/native/direct.h"
#include "plugins/cpu/native/nbits.h"
#include "plugins/cpu/native/numbers.h"
#include "plugins/cpu/native/panels.h"
#include "plugins/cpu/native/recurrence.h"
#include "plugins/cpu/native/roi_align.h"
#include "plugins/cpu/native/winograd.h"

namespace ge_engines::cpu::native {

bool IsPixel(const ConvSpec& c) {
  if (c.transposed || c.groups != 1) return false;
  for (size_t k = 0; k < c.stride.size(); ++k) {
    const int64_t taps = c.weights[k + 2];
    if (c.dst[k + 2] != 1 || c.src[k + 2] != taps || c.pad_l[k] != 0) return false;
    if (taps > 1 && c.dilation[k] != 1) return false;
  }
  return true;
}

namespace {

// Every convolution that is none by transposition gathers: channels a page apart would miss in the
// translation cache at each row.
ConvShape GatheredShape(const ConvSpec& c) {
  ConvShape s(c);
  if (s.how == ConvShape::kPlain) s.how = ConvShape::kGather;
  return s;
}

// The same convolution of an image of 4,096 pixels, where its own has 256 or more: two ways that
// take about as long would else change places from size to size, and with them the layouts of
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

}  // namespace

ConvWay WayOf(const ConvSpec& c, bool constants, const Machine& m) {
  const bool direct = IsDirect(c, m);
  if (constants && IsPixel(c)) return ConvWay::kPixel;
  if (constants && IsWinograd(c, m)) return ConvWay::kWinograd;
  if (constants && IsChannelWise(c)) return ConvWay::kChannelSums;
  if (constants && IsChannelGroups(c)) return ConvWay::kChannelGroups;
  if (constants && IsChannelsLast(c)) {
    return direct && DirectWins(c, m) ? ConvWay::kDirect : ConvWay::kChannelsLast;
  }
  return direct ? ConvWay::kDirect : ConvWay::kPieces;
}

bool LeavesChannelsLast(const ConvSpec& c) {
  return c.groups == 1 && c.dst[1] >= 16 && Product(Dims(c.dst.begin() + 2, c.dst.end())) >= 256;
}

// A piece stays in the second cache beside 8 rows of weights, all of which read it.
ConvInPieces::ConvInPieces(const ConvSpec& c, int threads)
    : shape(GatheredShape(c)), pieces(shape, threads, kGatheredFloats, kGatheredColumns) {}

Fold FoldOf(const Unit& u, const Parser& p) {
  if (const auto* c = As<ConvSpec>(u)) {
    const int64_t out = c->dst[1];
    return {1, c->dst[0], out, Product(c->weights) / out};
  }
  const Dims a = p.dims(u.in[0]), b = p.dims(u.in[1]);
  Fold f;
  f.n = u.dims.back();
  f.k = std::get<ProductSpec>(u.spec).trans_a ? a[a.size() - 2] : a.back();
  f.batch = Product(Dims(b.begin(), b.end() - 2));
  f.m = Product(u.dims) / (f.n * f.batch);
  return f;
}

bool InPanels(const Unit& u, const Fold& f, const Parser& p) {
  return Is<ConvSpec>(u) || (f.batch == 1 && p.constant(u.in[1]));
}

bool RoundsInputs(const Unit& u, const Parser& p, const Machine& m) {
  if (m.rounded == nullptr) return false;
  if (const auto* c = As<ConvSpec>(u)) return IsPixel(*c) && p.constant(u.in[1]);
  return Is<ProductSpec>(u) && InPanels(u, FoldOf(u, p), p);
}

void NativeBuilder::EmitMain(const Unit& u) {
  std::visit([&](const auto& spec) { EmitSpec(u, spec); }, u.spec);
}

void NativeBuilder::EmitSpec(const Unit& u, const ConvSpec& c) {
  const bool constants = p_.constant(u.in[1]) && u.in.size() < 3;
  ConvWay way = WayOf(c, constants, machine_);
  // Weights that are not finite once they are transformed.
  if (way == ConvWay::kWinograd && !UsesWinograd(u, c)) {
    way = IsDirect(c, machine_) ? ConvWay::kDirect : ConvWay::kPieces;
  }
  switch (way) {
    case ConvWay::kPixel:
      return EmitPixel(u);
    case ConvWay::kWinograd:
      return EmitWinograd(u, c);
    case ConvWay::kChannelsLast:
      return EmitChannelsLast(u, c);
    case ConvWay::kChannelGroups:
      return EmitChannelGroups(u, c);
    case ConvWay::kChannelSums:
      return EmitChannelSums(u, c);
    case ConvWay::kDirect:
      return EmitDirect(u, c);
    case ConvWay::kPieces:
      return EmitPieced(u, c);
  }
}

void NativeBuilder::AddPlain(const Unit& u, const std::string& label, std::unique_ptr<Work> work,
                             std::vector<Place> reads) {
  const Rep y = NewResult(u.out[0], Plain(u.out[0]));
  reads.insert(reads.begin(), y.place);
  AddStep(label + " " + Sizes(u.dims), std::move(work), std::move(reads));
  AddRep(u.out[0], y);
}

Builder::Rep NativeBuilder::Matrix(uint32_t v, bool turn, bool may_turn, bool* turned) {
  Rep x = turn || may_turn ? Unblocked(v) : GetDense(v);
  Dims d = x.layout.dims();
  const int last = x.layout.rank - 1;
  if (turn) {
    std::swap(d[static_cast<size_t>(last)], d[static_cast<size_t>(last - 1)]);
    std::swap(x.layout.dim[last], x.layout.dim[last - 1]);
    std::swap(x.layout.stride[last], x.layout.stride[last - 1]);
  }
  *turned = false;
  if (x.layout.dense()) return x;
  Dims other = d;
  std::swap(other[static_cast<size_t>(last)], other[static_cast<size_t>(last - 1)]);
  Layout l = Layout::Dense(other);
  std::swap(l.dim[last], l.dim[last - 1]);
  std::swap(l.stride[last], l.stride[last - 1]);
  if (may_turn && x.layout == l) {
    *turned = true;
    return x;
  }
  if (!turn) return GetDense(v);
  return Convert(0, x, Layout::Dense(d), nullptr);
}

void NativeBuilder::EmitSpec(const Unit& u, const ProductSpec& s) {
  const Fold f = FoldOf(u, p_);
  bool turned = false;
  const Rep x = Matrix(u.in[0], s.trans_a, false, &turned);
  if (InPanels(u, f, p_)) return EmitPanels(u, f, x.place, s.trans_b);
  const Dims a = p_.dims(u.in[0]);
  ThinProduct t;
  t.batch = f.batch;
  t.m = f.m;
  t.n = f.n;
  t.k = f.k;
  const bool shared_x = Product(Dims(a.begin(), a.end() - 2)) == 1;
  t.x_batch = shared_x ? 0 : f.m * f.k;
  t.w_batch = f.n * f.k;
  t.bias = !u.bias.empty();
  const Place w = Matrix(u.in[1], s.trans_b, ReadsTurned(f), &t.w_by_columns).place;
  AddProduct(u, t, {x.place, w, t.bias ? BiasOf(u, f.n) : x.place});
}

std::vector<TilePost> NativeBuilder::PostsOfTiles(const Unit& u, const Layout& target,
                                                  std::vector<Place>* places) {
  std::vector<TilePost> posts;
  for (const Post& q : u.posts) {
    if (q.binary() && (q.operand == 0 || p_.dims(q.operand) != u.dims)) break;
    if (q.binary()) places->push_back(Get(q.operand, target).place);
    posts.push_back({q.fn, q.a, q.b, q.binary()});
  }
  return posts;
}

void NativeBuilder::EmitPanels(const Unit& u, const Fold& f, const Place& x, bool turned) {
  const PanelPlan plan(simd_, f.m, f.n, f.k, machine_.rounded);
  AddPanels(u, plan, x,
            Pack({u.in[1]}, plan.PackKey(turned), plan.weight_floats() * sizeof(float),
                 [plan, turned](const void* const* from, void* to) {
                   plan.Pack(static_cast<const float*>(from[0]), turned, static_cast<float*>(to));
                 }));
}

PanelPlan NBitsPlan(const Unit& u, const NBitsSpec& spec, const Machine& m) {
  const NarrowKernels* by = spec.narrow && !m.exact ? NarrowKernelsOf(m.isa, spec.form) : nullptr;
  return PanelPlan(SimdOf(m.isa), Product(u.dims) / spec.n, spec.n, spec.k, spec.form, by);
}

void NativeBuilder::EmitSpec(const Unit& u, const NBitsSpec& spec) {
  const PanelPlan plan = NBitsPlan(u, spec, machine_);
  Ids values = {u.in[1], u.in[2]};
  if (u.in[3] != 0) values.push_back(u.in[3]);
  const Place weights =
      Pack(values, NBitsKey(plan), plan.weight_floats() * sizeof(float),
           [plan](const void* const* from, void* to) { PackNBits(plan, from, to); });
  AddPanels(u, plan, GetDense(u.in[0]).place, weights);
}

void NativeBuilder::AddPanels(const Unit& u, const PanelPlan& plan, const Place& x,
                              const Place& weights) {
  const Layout target = Layout::Dense(u.dims);
  const bool bias = !u.bias.empty();
  const uint64_t room =
      plan.rounded_floats() + plan.tile_floats() * static_cast<uint64_t>(machine_.threads);
  std::vector<Place> places = {x, weights, bias ? BiasOf(u, plan.n) : x};
  std::vector<TilePost> posts = PostsOfTiles(u, target, &places);
  const size_t taken = posts.size();
  const std::string label = plan.rounded != nullptr  ? "rounded panels "
                            : plan.narrow != nullptr ? "panels of codes by codes "
                            : plan.coded             ? "panels of codes "
                                                     : "panels ";
  if (room > 0) places.push_back(NewInternal(0, room * sizeof(float)));
  AddTiled(u, taken, target, label + Sizes({plan.m, plan.n, plan.k}),
           PanelLoop(simd_, plan, bias, std::move(posts)), std::move(places));
}

void NativeBuilder::AddProduct(const Unit& u, const ThinProduct& t, std::vector<Place> reads) {
  const Layout target = Layout::Dense(u.dims);
  const bool whole = u.posts.empty();
  const uint64_t bytes = static_cast<uint64_t>(target.extent()) * sizeof(float);
  const Rep y = whole ? NewResult(u.out[0], target) : Rep{target, NewInternal(0, bytes)};
  reads.insert(reads.begin(), y.place);
  AddStep("product " + Sizes({t.batch, t.m, t.n, t.k}), ThinProductLoop(simd_, t),
          std::move(reads));
  if (whole) {
    AddRep(u.out[0], y);
  } else {
    ApplyPosts(u, 0, y, target);
  }
}

void NativeBuilder::EmitPixel(const Unit& u) {
  EmitPanels(u, FoldOf(u, p_), GetDense(u.in[0]).place, true);
}

Builder::Rep NativeBuilder::Channels(uint32_t v) {
  for (const Rep& r : reps_[v]) {
    if (Form::Of(r.layout).block == simd_.lanes) return r;
  }
  // With one pixel or one channel this is the plain layout in memory.
  const Layout last = Layout::ChannelsLast(p_.dims(v));
  return {last, Get(v, last).place};
}

bool NativeBuilder::UsesWinograd(const Unit& u, const ConvSpec& c) const {
  if (!IsWinograd(c, machine_)) return false;
  const uint32_t w = u.in[1];
  const void* data = p_.value(w).data;
  const auto known = [&](const Program& program) {
    const auto it = program.looked_through.find(w);
    return it != program.looked_through.end() && it->second == data;
  };
  const bool finite =
      (out_.like != nullptr && known(*out_.like)) || WinogradKeepsFinite(data, Product(p_.dims(w)));
  if (finite) out_.looked_through[w] = data;
  return finite;
}

// At other dims the tiles stay whose weights are there, if they are not much slower.
WinogradPlan NativeBuilder::WinogradPlanOf(const Unit& u, const ConvSpec& c) const {
  constexpr double kMuchSlower = 1.5;
  WinogradPlan best = WinogradPlan::Best(c, machine_);
  if (out_.like == nullptr || out_.like->wanted.count({best.PackKey(), {u.in[1]}}) > 0) return best;
  for (int h : {2, 4}) {
    for (int w : {2, 4}) {
      WinogradPlan plan(c, machine_, h, w);
      const bool there = out_.like->wanted.count({plan.PackKey(), {u.in[1]}}) > 0;
      if (there && plan.ns(machine_) <= kMuchSlower * best.ns(machine_)) return plan;
    }
  }
  return best;
}

void NativeBuilder::EmitWinograd(const Unit& u, const ConvSpec& c) {
  const WinogradPlan plan = WinogradPlanOf(u, c);
  const Rep x = Channels(u.in[0]);
  const Layout blocked = Layout::Blocked(u.dims, static_cast<int>(simd_.lanes));
  const Layout last = Layout::ChannelsLast(u.dims);
  Layout target = x.layout.cblock > 0 ? blocked : last;
  for (const Layout& l : {blocked, last}) {
    if (Leaf(u.out[0], l) != nullptr) target = l;
  }
  const Place weights =
      Pack({u.in[1]}, plan.PackKey(), plan.weight_floats() * sizeof(float),
           [plan](const void* const* from, void* to) {
             WinogradWeights(plan, static_cast<const float*>(from[0]), static_cast<float*>(to));
           });
  const int64_t channels = plan.groups() * plan.group();
  const uint64_t room = plan.workspace_floats() * sizeof(float);
  std::vector<Place> reads = {x.place, weights, BiasOf(u, plan.out, channels),
                              NewInternal(0, room * static_cast<uint64_t>(plan.threads)),
                              KeptConstant(u.in[1]).place};
  std::vector<TilePost> posts = PostsOfTiles(u, target, &reads);
  const size_t taken = posts.size();
  AddTiled(u, taken, target, "winograd " + Sizes({plan.h, plan.w}) + " " + ToText(u.dims),
           WinogradLoop(simd_, plan, x.layout, target, std::move(posts)), std::move(reads));
}

void NativeBuilder::EmitPieced(const Unit& u, const ConvSpec& c) {
  const ConvInPieces pieced(c, machine_.threads);
  const ConvShape& s = pieced.shape;
  const bool rows = c.transposed;
  const Place w =
      rows ? Turned(u.in[1], s.groups, s.in, s.out * s.taps()) : GetDense(u.in[1]).place;
  auto multiply = [simd = &simd_](const PieceProduct& p, const float* a, const float* b,
                                  float* to) {
    simd->thin_product(a, p.lda, b, p.ldb, to, p.ldc, p.m, p.n, p.k);
  };
  EmitPieces(u, "conv ", multiply, s, pieced.pieces, machine_.threads, w, rows);
}

Builder::Rep NativeBuilder::Lanes(uint32_t v) {
  for (const Rep& r : reps_[v]) {
    if (!Form::Of(r.layout).plain()) return r;
  }
  const Layout last = Layout::ChannelsLast(p_.dims(v));
  return {last, Get(v, last).place};
}

void NativeBuilder::EmitChannelsLast(const Unit& u, const ConvSpec& c) {
  const ChannelsLastPlan plan(simd_, c, machine_);
  const Layout last = Layout::ChannelsLast(u.dims);
  const Place x = Get(u.in[0], Layout::ChannelsLast(p_.dims(u.in[0]))).place;
  const Place weights =
      Pack({u.in[1]}, plan.PackKey(), plan.product.weight_floats() * sizeof(float),
           [plan](const void* const* from, void* to) {
             plan.Pack(static_cast<const float*>(from[0]), static_cast<float*>(to));
           });
  std::vector<Place> reads = {x, weights, BiasOf(u, c.dst[1])};
  std::vector<TilePost> posts = PostsOfTiles(u, last, &reads);
  const size_t taken = posts.size();
  const uint64_t room =
      plan.workspace_floats() * sizeof(float) * static_cast<uint64_t>(machine_.threads);
  out_.workspace = std::max(out_.workspace, room);
  reads.push_back({workspace_, 0});
  AddTiled(u, taken, last, "channels last " + Sizes(u.dims),
           ChannelsLastLoop(simd_, plan, std::move(posts)), std::move(reads));
}

void NativeBuilder::EmitChannelGroups(const Unit& u, const ConvSpec& c) {
  const ChannelGroupsPlan plan(simd_, c, machine_);
  const Layout last = Layout::ChannelsLast(u.dims);
  const Place x = Get(u.in[0], Layout::ChannelsLast(p_.dims(u.in[0]))).place;
  const auto bytes = static_cast<uint64_t>(plan.weight_floats()) * sizeof(float);
  const Place weights =
      Pack({u.in[1]}, plan.PackKey(), bytes, [plan](const void* const* from, void* to) {
        plan.Pack(static_cast<const float*>(from[0]), static_cast<float*>(to));
      });
  std::vector<Place> reads = {x, weights, BiasOf(u, c.dst[1], plan.bias_floats())};
  std::vector<TilePost> posts = PostsOfTiles(u, last, &reads);
  const size_t taken = posts.size();
  const uint64_t room =
      plan.workspace_floats() * sizeof(float) * static_cast<uint64_t>(machine_.threads);
  out_.workspace = std::max(out_.workspace, room);
  reads.push_back({workspace_, 0});
  AddTiled(u, taken, last, "groups " + Sizes(u.dims),
           ChannelGroupsLoop(simd_, plan, std::move(posts)), std::move(reads));
}

void NativeBuilder::EmitChannelSums(const Unit& u, const ConvSpec& c) {
  const Rep x = Lanes(u.in[0]);
  const Layout target = Layout::Like(u.dims, x.layout);
  const int64_t block = std::max(x.layout.cblock, 1);
  const int64_t channels = CeilDiv(c.dst[1], block) * block;
  const int64_t taps = ConvShape(c).taps();
  const uint64_t floats = static_cast<uint64_t>(taps * channels);
  const Place weights = Pack(
      {u.in[1]}, "channel sums " + ToText({c.dst[1], taps, channels}), floats * sizeof(float),
      [c, channels](const void* const* from, void* to) {
        PackChannelSums(c, channels, static_cast<const float*>(from[0]), static_cast<float*>(to));
      });
  std::vector<Place> reads = {x.place, weights, BiasOf(u, c.dst[1], channels)};
  std::vector<TilePost> posts = PostsOfTiles(u, target, &reads);
  const size_t taken = posts.size();
  AddTiled(u, taken, target, "channel sums " + Sizes(u.dims),
           ChannelSumsLoop(simd_, c, x.layout, target, std::move(posts)), std::move(reads));
}

void NativeBuilder::AddTiled(const Unit& u, size_t taken, const Layout& target,
                             const std::string& label, std::unique_ptr<Loop> loop,
                             std::vector<Place> reads) {
  const bool whole = taken == u.posts.size();
  const uint64_t bytes = static_cast<uint64_t>(target.extent()) * sizeof(float);
  const Rep y = whole ? NewResult(u.out[0], target) : Rep{target, NewInternal(0, bytes)};
  reads.insert(reads.begin(), y.place);
  AddStep(label, std::move(loop), std::move(reads));
  if (whole) {
    AddRep(u.out[0], y);
  } else {
    ApplyPosts(u, taken, y, target);
  }
}

void NativeBuilder::EmitDirect(const Unit& u, const ConvSpec& c) {
  const DirectPlan plan(c, machine_);
  const uint64_t floats = plan.workspace_floats() * static_cast<uint64_t>(machine_.threads);
  out_.workspace = std::max(out_.workspace, floats * sizeof(float));
  const Place x = GetDense(u.in[0]).place, w = GetDense(u.in[1]).place;
  const Place bias = u.in.size() > 2 ? GetDense(u.in[2]).place : BiasOf(u, c.dst[1]);
  const Layout plain = Layout::Dense(u.dims);
  const bool last = LeavesChannelsLast(c) && Leaf(u.out[0], plain) == nullptr;
  std::vector<PointwiseOp> posts = FirstPosts(u);
  const size_t taken = posts.size();
  AddTiled(u, taken, last ? Layout::ChannelsLast(u.dims) : plain,
           (IsDepthwise(c) ? "depthwise " : "direct ") + Sizes(u.dims),
           DirectLoop(simd_, plan, std::move(posts), last), {x, w, bias, {workspace_, 0}});
}

void NativeBuilder::EmitSpec(const Unit& u, const PoolSpec& spec) {
  Pool pool;
  pool.max = spec.max;
  pool.count_pad = spec.count_pad;
  pool.x = spec.src;
  pool.result = spec.dst;
  pool.window = spec.kernel;
  pool.stride = spec.stride;
  pool.dilation.assign(spec.kernel.size(), 1);
  pool.pad_begin = spec.pad_l;
  for (int64_t r : spec.pad_r) pool.pad_end.push_back(std::max<int64_t>(r, 0));
  const Rep x = Main(u.in[0]);
  if (Form::Of(x.layout).plain() || Product(spec.kernel) > kMostTaps) {
    return AddPlain(u, "pool", PoolLoop(simd_, pool), {GetDense(u.in[0]).place});
  }
  const Layout target = Layout::Like(u.dims, x.layout);
  AddTiled(u, 0, target, "channel pool " + Sizes(u.dims),
           ChannelPoolLoop(simd_, pool, x.layout, target), {x.place});
}

void NativeBuilder::EmitSpec(const Unit& u, const ResampleSpec& spec) {
  std::vector<ResizeAxis> axes;
  for (const Taps& t : spec.taps) axes.push_back({t.at, t.next, t.w});
  AddPlain(u, "resample", ResizeLoop(simd_, p_.dims(u.in[0]), std::move(axes)),
           {GetDense(u.in[0]).place});
}

void NativeBuilder::EmitSpec(const Unit& u, const GatherSpec& spec) {
  const Dims x = p_.dims(u.in[0]);
  Gather g;
  g.outer = Product(Dims(x.begin(), x.begin() + spec.axis));
  g.axis = x[static_cast<size_t>(spec.axis)];
  g.inner = Product(Dims(x.begin() + spec.axis + 1, x.end()));
  g.count = Product(p_.dims(u.in[1]));
  g.bytes = p_.size(u.in[0]);
  g.wide = p_.dtype(u.in[1]) == GE_I64;
  g.backwards = spec.backwards;
  // A table is read in few places: ours would be a copy of a vocabulary.
  const Rep data = p_.constant(u.in[0]) ? KeptConstant(u.in[0]) : GetDense(u.in[0]);
  AddPlain(u, "gather", GatherLoop(g), {data.place, GetDense(u.in[1]).place});
}

void NativeBuilder::EmitSpec(const Unit& u, const AppendSpec& spec) {
  const Dims cache = p_.dims(u.in[0]);
  const auto axis = static_cast<size_t>(spec.axis);
  Append a;
  a.outer = Product(Dims(cache.begin(), cache.begin() + spec.axis));
  a.room = cache[axis];
  a.rows = p_.dims(u.in[2])[axis];
  a.row_bytes = Product(Dims(cache.begin() + spec.axis + 1, cache.end())) * p_.size(u.in[0]);
  AddPlain(u, "append", AppendLoop(a),
           {GetDense(u.in[0]).place, GetDense(u.in[1]).place, GetDense(u.in[2]).place});
}

void NativeBuilder::EmitSpec(const Unit& u, const CastSpec&) {
  auto loop = CastLoop(simd_, p_.dtype(u.in[0]), p_.dtype(u.out[0]), Product(u.dims));
  if (loop == nullptr) throw std::runtime_error("no such cast");
  AddPlain(u, "cast", std::move(loop), {GetDense(u.in[0]).place});
}

void NativeBuilder::EmitSpec(const Unit& u, const RelationSpec& spec) {
  const uint32_t z = u.in.back();  // of Not the same as x
  AddPlain(u, "relation",
           RelationLoop(spec.op, p_.dtype(u.in[0]), p_.dtype(u.out[0]) == GE_F32, u.dims,
                        p_.dims(u.in[0]), p_.dims(z)),
           {GetDense(u.in[0]).place, GetDense(z).place});
}

void NativeBuilder::EmitSpec(const Unit& u, const WhereSpec&) {
  AddPlain(u, "where",
           WhereLoop(simd_, u.dims, p_.dims(u.in[0]), p_.dims(u.in[1]), p_.dims(u.in[2])),
           {GetDense(u.in[0]).place, GetDense(u.in[1]).place, GetDense(u.in[2]).place});
}

void NativeBuilder::EmitSpec(const Unit& u, const RoiAlignSpec& spec) {
  const int threads = spec.rois > 1 ? machine_.threads : 1;
  out_.workspace = std::max(out_.workspace,
                            RoiAlignFloats(spec) * sizeof(float) * static_cast<uint64_t>(threads));
  AddPlain(u, "roi align", RoiAlignWork(simd_, spec, threads),
           {Get(u.in[0], Layout::ChannelsLast(p_.dims(u.in[0]))).place,
            GetDense(u.in[1]).place,
            GetDense(u.in[2]).place,
            {workspace_, 0}});
}

void NativeBuilder::EmitSpec(const Unit& u, const IntegerSpec& spec) {
  AddPlain(u, "integers",
           IntegerWork(p_.dtype(u.in[0]), spec.fn, u.dims, p_.dims(u.in[0]), p_.dims(u.in[1])),
           {GetDense(u.in[0]).place, GetDense(u.in[1]).place});
}

Place NativeBuilder::Turned(uint32_t v, int64_t n, int64_t rows, int64_t columns) {
  Layout to = Layout::Dense({n, rows, columns});
  to.stride[1] = 1;
  to.stride[2] = rows;
  return Pack({v}, "layout " + KeyOf(to), static_cast<uint64_t>(n * rows * columns) * sizeof(float),
              PackingOf(to));
}

void NativeBuilder::EmitSpec(const Unit& u, const RecurrentSpec& s) {
  const RecurrentHas has = {u.in[3] != 0, u.in[4] != 0,
                            u.in[5] != 0, u.in[6] != 0,
                            u.in[7] != 0, p_.constant(u.in[1]) && p_.constant(u.in[2])};
  const RecurrentPlan plan(simd_, s, has, machine_.threads);
  const Place x = GetDense(u.in[0]).place;
  const auto weights = [&](uint32_t v, const std::string& key, int64_t panels, auto pack) {
    if (!has.packed) return GetDense(v).place;
    const auto bytes = static_cast<uint64_t>(s.directions * panels) * sizeof(float);
    return Pack({v}, key, bytes, [plan, pack, simd = &simd_](const void* const* from, void* to) {
      (plan.*pack)(*simd, static_cast<const float*>(from[0]), static_cast<float*>(to));
    });
  };
  std::vector<Place> places(3, x);
  size_t out = 0;
  const bool made[] = {s.y, s.y_h, s.y_c};
  for (size_t k = 0; k < 3; ++k) {
    if (!made[k]) continue;
    const Rep y = NewResult(u.out[out], Plain(u.out[out]));
    AddRep(u.out[out++], y);
    places[k] = y.place;
  }
  places.push_back(x);
  places.push_back(weights(u.in[1], plan.WKey(simd_), plan.w_panels, &RecurrentPlan::PackW));
  places.push_back(weights(u.in[2], plan.RKey(simd_), plan.r_panels, &RecurrentPlan::PackR));
  places.push_back(NewInternal(0, static_cast<uint64_t>(plan.scratch_floats()) * sizeof(float)));
  for (size_t k = 3; k < 8; ++k) places.push_back(u.in[k] != 0 ? GetDense(u.in[k]).place : x);
  const char* name = s.cell == Cell::kRnn ? "rnn " : s.cell == Cell::kGru ? "gru " : "lstm ";
  AddStep(name + Sizes(u.dims), RecurrentWork(simd_, plan), std::move(places));
}

}  // namespace ge_engines::cpu::native
