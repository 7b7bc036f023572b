// Steps of convolutions, products and pools, with the pointwise functions that oneDNN takes along.
#include <cstring>
#include <stdexcept>

#include "plugins/cpu/onednn/emit.h"
#include "plugins/cpu/onednn/price.h"
#include "plugins/units/conv/conv.h"
#include "plugins/units/matmul/matmul.h"
#include "plugins/units/reduce/pool.h"

namespace ge_engines::cpu::onednn {
namespace {

Dims Aligned(Dims d, int rank) {
  d.insert(d.begin(), static_cast<size_t>(rank) - d.size(), 1);
  return d;
}

// All 1 but maybe at `axis`.
bool OnlyAxis(const Dims& d, size_t axis) {
  for (size_t i = 0; i < d.size(); ++i) {
    if (i != axis && d[i] != 1) return false;
  }
  return true;
}

// oneDNN 2.6.3's convolutions by gemm look for a whole operand's number at the result's place
// within its image: a thread's second image gets the numbers of the first.
bool MisplacesOperand(const Prim& conv, const std::vector<VendorPost>& post_ops) {
  return conv.impl.find("gemm") != std::string::npos &&
         std::any_of(post_ops.begin(), post_ops.end(), [](const VendorPost& p) {
           return p.kind == VendorPost::kBinary && !OnlyAxis(p.operand.dims(), 1);
         });
}

// Index of the first eltwise or operand of post k among oneDNN's own post-ops: one of ours may be
// two of theirs.
int ArgOfPost(const std::vector<VendorPost>& post_ops, int k) {
  int at = 0;
  for (int i = 0; i < k; ++i) {
    const bool two = post_ops[static_cast<size_t>(i)].kind == VendorPost::kUnary &&
                     post_ops[static_cast<size_t>(i)].fn == Fn::kHardSigmoid;
    at += two ? 2 : 1;
  }
  return DNNL_ARG_ATTR_MULTIPLE_POST_OP(at) | DNNL_ARG_SRC_1;
}

// oneDNN 2.6.3 puts its batched products first for channels-last tensors; with few output channels
// that are no multiple of a vector they waste most of a tile. GF/s of its choice and of this one,
// one AVX-512 thread: 12 to 24 channels 2x2 52 and 88, 96 to 24 3x3 64 and 85, 96 to 24 1x1 43 to
// 65 and 63 to 98, depth-wise 3x3 44 and 50; from 32 channels on its choice is better.
const char* BetterKernel(const ConvSpec& c, const Prim& plan) {
  if (plan.impl.rfind("br", 0) != 0 || c.transposed) return nullptr;
  int64_t window = 1;
  for (size_t k = c.groups > 1 ? 3 : 2; k < c.weights.size(); ++k) window *= c.weights[k];
  const int64_t out = c.dst[1];
  if (c.groups > 1) return c.groups == out && window <= 9 ? "jit_dw:avx512_core" : nullptr;
  if (out < 32 && c.src[1] < 16 && window > 1) return "jit:avx2";
  if (out >= 32 || out % 16 == 0) return nullptr;
  return window > 1 ? "jit:avx512_core" : "jit_1x1:avx512_core";
}

// How ONNX lays out a convolution's weights, seen as oneDNN wants them.
Layout GivenWeights(const ConvSpec& c) {
  Layout given = Layout::Dense(c.weights);
  if (!c.transposed) return given;
  Dims onnx = c.weights;  // input channels first
  std::swap(onnx[0], onnx[1]);
  const Layout l = Layout::Dense(onnx);
  given.stride[0] = l.stride[1];
  given.stride[1] = l.stride[0];
  return given;
}

// By a kernel of products of bfloat16, not by a loop that widens them again.
bool RoundsWell(const Prim& conv) { return conv.impl.find("bf16") != std::string::npos; }

// Images one pixel wide, as sequences come from exporters: oneDNN 2.6.3's kernels cut rows along
// the width and do one pixel at a time (512 channels at 508x1: 26 ms). As images one pixel high
// they lie in memory alike. False when there is nothing to turn.
bool Turn(ConvSpec* c) {
  if (c->src.size() != 4 || c->src[3] != 1 || c->dst[3] != 1 || c->src[2] == 1) return false;
  if (c->weights.back() != 1 || c->pad_l[1] != 0 || c->pad_r[1] != 0) return false;
  for (Dims* d : {&c->src, &c->dst, &c->weights}) std::swap(d->back(), (*d)[d->size() - 2]);
  for (Dims* d : {&c->stride, &c->dilation, &c->pad_l, &c->pad_r}) std::swap((*d)[0], (*d)[1]);
  return true;
}

// A layout of the turned tensor as one of the tensor itself.
Layout TurnBack(Layout l, bool transposed) {
  if (transposed) {
    std::swap(l.dim[2], l.dim[3]);
    std::swap(l.stride[2], l.stride[3]);
  }
  return l;
}

bool IsUpscale(const ConvSpec& c) {
  if (!c.transposed || c.src.size() != 4) return false;
  for (size_t k = 0; k < 2; ++k) {
    if (c.stride[k] != c.weights[k + 2] || c.dilation[k] != 1 || c.pad_l[k] != 0) return false;
    if (c.dst[k + 2] != c.src[k + 2] * c.stride[k]) return false;
  }
  return true;
}

// [in][out][taps] as [in][taps][out].
std::vector<float> OutputsLast(const float* w, int64_t in, int64_t out, int64_t taps) {
  std::vector<float> transposed(static_cast<size_t>(in * out * taps));
  for (int64_t i = 0; i < in; ++i) {
    for (int64_t o = 0; o < out; ++o) {
      for (int64_t k = 0; k < taps; ++k) {
        transposed[static_cast<size_t>((i * taps + k) * out + o)] = w[(i * out + o) * taps + k];
      }
    }
  }
  return transposed;
}

}  // namespace

std::optional<std::pair<LayoutTag, LayoutTag>> LayoutTagsOfConv(const Vendor& vendor,
                                                                const ConvSpec& spec) {
  const LayoutTag last{0, true};
  if (IsUpscale(spec)) return std::pair(last, last);
  ConvSpec asked = spec;
  asked.bias = false;  // makes no difference
  const bool transposed = Turn(&asked);
  std::optional<Prim> plan;
  try {
    plan = vendor.Conv(asked, nullptr, {});
    if (asked.rounds && !(plan && RoundsWell(*plan))) {
      asked.rounds = false;
      plan = vendor.Conv(asked, nullptr, {});
    }
  } catch (const dnnl::error&) {  // compiling says what is wrong
  }
  if (!plan) return std::nullopt;
  return std::pair(LayoutTag::Of(TurnBack(plan->src, transposed)),
                   LayoutTag::Of(TurnBack(plan->dst, transposed)));
}

OnednnBuilder::Fused OnednnBuilder::Fuse(const Unit& unit, const Layout& target, const Layout& seen,
                                         uint32_t storage_of_x, bool allow_binary) {
  Fused f;
  const size_t channel = Is<ConvSpec>(unit) ? 1 : static_cast<size_t>(target.rank) - 1;
  const size_t seen_channel = Is<ConvSpec>(unit) ? 1 : static_cast<size_t>(seen.rank) - 1;
  for (const PostOp& p : unit.post_ops) {
    if (!VendorHas(p.fn) || (machine_.exact && !VendorKeepsNan(p.fn))) break;
    VendorPost v;
    v.fn = p.fn;
    v.a = p.a;
    v.b = p.b;
    if (!p.binary()) {
      if (VendorRepeats(f.post_ops, v)) break;
      f.post_ops.push_back(v);
      ++f.taken;
      continue;
    }
    if (!allow_binary || p.operand == 0) break;
    v.kind = VendorPost::kBinary;
    const Dims d = Aligned(p_.dims(p.operand), target.rank);
    Rep r;
    if (d == target.dims()) {
      r = Operand(p.operand, target);
      if (!(r.layout == target)) break;
      r.layout = seen;
      size_t readers = 0;
      for (const PostOp& q : unit.post_ops) readers += q.operand == p.operand ? 1 : 0;
      if (p.fn == Fn::kAdd && !f.sum && readers == 1 && r.place.storage != storage_of_x &&
          Dead(r.place, unit)) {
        f.sum = r;
        v.kind = VendorPost::kSum;
        f.post_ops.push_back(v);
        ++f.taken;
        continue;
      }
      // oneDNN 2.6.3 takes a whole operand of one channel for one number a channel.
      if (Is<ConvSpec>(unit) && d[channel] == 1) break;
    } else if (OnlyAxis(d, channel)) {
      Dims s(static_cast<size_t>(seen.rank), 1);
      s[seen_channel] = d[channel];
      r = Get(p.operand, Layout::Dense(s));
    } else {
      break;
    }
    v.operand = r.layout;
    f.operands.emplace_back(static_cast<int>(f.post_ops.size()), r);
    f.post_ops.push_back(v);
    ++f.taken;
  }
  return f;
}

// Layouts and kernel of a convolution: those of the program that this one is to be like, or what
// oneDNN says, which takes it as long as making the primitive's description itself.
std::optional<OnednnBuilder::ConvPlan> OnednnBuilder::PlanConv(const Unit& unit,
                                                               const ConvSpec& spec) {
  const auto of = [&](const Choice& choice) {
    ConvPlan plan;
    plan.prim.src = choice.in.On(spec.src);
    plan.prim.dst = choice.out.On(spec.dst);
    plan.prim.src.size = spec.rounds ? 2 : 4;
    plan.prim.dst.size = spec.rounds_result ? 2 : 4;
    plan.prim.src_desc = Vendor::ToDesc(plan.prim.src);
    plan.prim.dst_desc = Vendor::ToDesc(plan.prim.dst);
    plan.prefer = choice.kernel;
    plan.told = true;
    return plan;
  };
  const uint32_t node = unit.nodes.back();
  if (out_.like != nullptr) {
    const auto before = out_.like->choices.find(node);
    if (before != out_.like->choices.end()) {
      out_.choices.insert(*before);
      return of(before->second);
    }
  }
  auto prim = vendor_.Conv(spec, nullptr, {});
  if (!prim) return std::nullopt;
  ConvPlan plan;
  plan.prefer = spec.rounds ? nullptr : BetterKernel(spec, *prim);
  const Choice choice{LayoutTag::Of(prim->src), LayoutTag::Of(prim->dst), plan.prefer};
  const ConvPlan again = of(choice);
  // With one channel two of oneDNN's layouts are one of ours, and its kernels for rows look at more
  // than that (2.6.3 fell back to plain loops for silero-vad's under AVX-512).
  const bool told = spec.src.size() == 4 && spec.src[1] > 1 && spec.dst[1] > 1 &&
                    again.prim.src_desc == prim->src_desc && again.prim.dst_desc == prim->dst_desc;
  if (told) out_.choices.emplace(node, choice);
  plan.prim = *std::move(prim);
  return plan;
}

// The convolution as it is asked for, turned and with its bias, and how it is done: of rounded
// numbers where that is cheaper and oneDNN does it well, with a rounded result where nobody reads
// more of it.
std::optional<OnednnBuilder::ConvPlan> OnednnBuilder::PlanRounded(const Unit& unit,
                                                                  ConvSpec* spec) {
  spec->bias = !unit.bias.empty() || unit.in.size() > 2;
  if (!p_.constant(unit.in[1])) spec->block = TrainingBlock(simd_);
  if (!Rounds(unit, p_, machine_)) return PlanConv(unit, *spec);
  std::vector<VendorPost> post_ops;  // those that oneDNN computes without an operand
  for (const PostOp& q : unit.post_ops) {
    const VendorPost post{VendorPost::kUnary, q.fn, q.a, q.b, {}};
    if (q.binary() || !VendorHas(q.fn) || VendorRepeats(post_ops, post)) break;
    post_ops.push_back(post);
  }
  spec->rounds = true;
  for (const bool result : {true, false}) {
    if (result && (post_ops.size() < unit.post_ops.size() || whole_.count(unit.out[0]) > 0 ||
                   leaves_.count(unit.out[0]) > 0)) {
      continue;
    }
    spec->rounds_result = result;
    std::optional<ConvPlan> plan = PlanConv(unit, *spec);
    const auto whole = plan && result ? vendor_.Conv(*spec, &plan->prim, post_ops) : std::nullopt;
    const Prim* const done = whole ? &*whole : plan && !plan->told ? &plan->prim : nullptr;
    if (plan && (!result || whole) && (done == nullptr || RoundsWell(*done))) return plan;
    out_.choices.erase(unit.nodes.back());
  }
  spec->rounds = spec->rounds_result = false;
  return PlanConv(unit, *spec);
}

void OnednnBuilder::EmitConv(const Unit& unit, const ConvSpec& conv_spec) {
  if (IsUpscale(conv_spec)) return EmitUpscale(unit, conv_spec);
  ConvSpec spec = conv_spec;
  const bool transposed = Turn(&spec);
  const bool read_bias = unit.in.size() > 2;  // it is no constant
  const auto planned = PlanRounded(unit, &spec);
  if (!planned) throw std::runtime_error("oneDNN has no convolution for this node");
  const Prim* const plan = &planned->prim;
  const Rep x = Image(unit.in[0], TurnBack(plan->src, transposed));
  const Layout target = TurnBack(plan->dst, transposed);
  // With functions that its fast kernels lack oneDNN falls back to a plain loop; ours are faster.
  Fused f;
  std::optional<Prim> prim;
  for (int attempt = 0; attempt < 3; ++attempt) {
    f = attempt < 2 ? Fuse(unit, target, plan->dst, x.place.storage, attempt == 0) : Fused();
    prim = vendor_.Conv(spec, plan, f.post_ops, planned->prefer);
    if (prim && MisplacesOperand(*prim, f.post_ops)) continue;
    if (prim && (f.post_ops.empty() || prim->impl.find("ref") == std::string::npos)) break;
  }
  if (!prim || (spec.rounds_result && f.taken < unit.post_ops.size())) {
    throw std::runtime_error("oneDNN has no convolution for this node");
  }
  const bool slow = prim->impl.find("ref") != std::string::npos;
  const auto choice = out_.choices.find(unit.nodes.back());
  if (planned->told && slow && !choice->second.slow) {  // another layout may be better
    throw std::runtime_error("oneDNN has plain loops alone for this size in the former layout");
  }
  if (choice != out_.choices.end()) choice->second.slow = slow;
  const Layout given = GivenWeights(spec);
  const bool whole = f.taken == unit.post_ops.size();
  const uint64_t bytes = static_cast<uint64_t>(target.extent()) * sizeof(float);
  const Rep y = f.sum   ? Rep{target, f.sum->place}
                : whole ? NewResult(unit.out[0], target)
                        : Rep{target, NewInternal(0, bytes)};
  std::vector<Arg> args = {
      {DNNL_ARG_SRC, x.place, prim->src_desc},
      {DNNL_ARG_WEIGHTS, WeightsAs(unit.in[1], given, prim->weights_desc), prim->weights_desc},
      {DNNL_ARG_DST, y.place, prim->dst_desc}};
  if (spec.bias) {
    const BufferRef bias = read_bias ? GetDense(unit.in[2]).place : BiasOf(unit, unit.dims[1]);
    args.push_back({DNNL_ARG_BIAS, bias, prim->bias_desc});
  }
  for (const auto& [k, r] : f.operands) {
    args.push_back({ArgOfPost(f.post_ops, k), r.place, Vendor::ToDesc(r.layout)});
  }
  AddPrim(spec.transposed ? "deconv" : "conv", *prim, std::move(args));
  if (spec.rounds_result) {
    rounded_[unit.out[0]].push_back(y);
  } else if (whole) {
    AddRep(unit.out[0], y);
  } else {
    ApplyPostOps(unit, f.taken, y, y.layout);
  }
}

// Weights [in][out][taps], as ONNX has them, as the product's [in][taps][out].
BufferRef OnednnBuilder::TapsAs(uint32_t value, const Dims& given, const Desc& want) {
  const int64_t in = given[0], out = given[1], taps = given[2];
  const Desc plain = Vendor::ToDesc(Layout::Dense({in, taps * out}));
  if (p_.constant(value)) {
    const std::string key = "taps " + ToText(given) + " to " + Vendor::KeyOf(want);
    return Pack({value}, key, want.get_size(),
                [=, vendor = &vendor_](const void* const* from, void* to) {
                  const std::vector<float> moved =
                      OutputsLast(static_cast<const float*>(from[0]), in, out, taps);
                  vendor->Pack(plain, moved.data(), want, to);
                });
  }
  Layout turned = Layout::Dense({in, taps, out});
  turned.stride[1] = 1;
  turned.stride[2] = taps;
  const BufferRef moved = NewInternal(0, plain.get_size());
  AddReorder(GetDense(value).place, Vendor::ToDesc(turned), moved,
             Vendor::ToDesc(Layout::Dense({in, taps, out})));
  if (plain == want) return moved;
  const BufferRef packed = NewInternal(0, want.get_size());
  AddReorder(moved, plain, packed, want);
  return packed;
}

// A bias that is no constant, once for each tap.
BufferRef OnednnBuilder::RepeatedBias(uint32_t value, int64_t out, int64_t taps) {
  const BufferRef repeated = NewInternal(0, static_cast<uint64_t>(taps * out) * sizeof(float));
  const Layout to = Layout::Dense({taps, out});
  Layout from = to;
  from.stride[0] = 0;
  AddStep("repeat " + ToText({taps, out}),
          CopyLoop(simd_, to, {{from, to, Dims(2, 0), Dims(2, 0), {taps, out}}}),
          {repeated, GetDense(value).place});
  return repeated;
}

// A transposed convolution whose windows do not overlap is one product of every pixel with all
// taps, whose rows are then dealt out (oneDNN 2.6.3 needs 400 ms for 24 to 1 channels at 320x320,
// this 3).
void OnednnBuilder::EmitUpscale(const Unit& unit, const ConvSpec& conv_spec) {
  const int64_t in = conv_spec.src[1], out = conv_spec.dst[1], kh = conv_spec.weights[2],
                kw = conv_spec.weights[3];
  const int64_t pixels = conv_spec.src[0] * conv_spec.src[2] * conv_spec.src[3],
                columns = kh * kw * out;
  const Rep x = Get(unit.in[0], Layout::ChannelsLast(conv_spec.src));
  MatMulSpec spec;
  spec.src = Layout::Dense({pixels, in});
  spec.weights = Layout::Dense({in, columns});
  spec.dst = Layout::Dense({pixels, columns});
  const bool read_bias = unit.in.size() > 2;  // it is no constant
  spec.bias = !unit.bias.empty() || read_bias;
  const Layout target = Layout::ChannelsLast(conv_spec.dst);
  Fused f = Fuse(unit, target, target, x.place.storage, false);
  const auto prim = vendor_.MatMul(spec, f.post_ops);
  if (!prim) throw std::runtime_error("oneDNN has no product for this node");
  const uint64_t bytes = static_cast<uint64_t>(pixels * columns) * sizeof(float);
  const BufferRef product = NewInternal(0, bytes);
  const BufferRef weights = TapsAs(unit.in[1], {in, out, kh * kw}, prim->weights_desc);
  std::vector<Arg> args = {{DNNL_ARG_SRC, x.place, prim->src_desc},
                           {DNNL_ARG_WEIGHTS, weights, prim->weights_desc},
                           {DNNL_ARG_DST, product, prim->dst_desc}};
  if (spec.bias) {
    const BufferRef bias =
        read_bias ? RepeatedBias(unit.in[2], out, kh * kw) : BiasOf(unit, out, 0, kh * kw);
    args.push_back({DNNL_ARG_BIAS, bias, prim->bias_desc});
  }
  AddPrim("upscale", *prim, std::move(args));
  const Dims order = {conv_spec.src[0], conv_spec.src[2], kh, conv_spec.src[3], kw * out};
  Layout from = Layout::Dense(order);
  from.stride[2] = kw * out;
  from.stride[3] = kh * kw * out;
  const Layout to = Layout::Dense(order);
  const bool whole = f.taken == unit.post_ops.size();
  const Rep y = whole ? NewResult(unit.out[0], target) : Rep{target, NewInternal(0, bytes)};
  AddStep("deal " + ToText(conv_spec.dst),
          CopyLoop(simd_, to, {{from, to, Dims(5, 0), Dims(5, 0), order}}), {y.place, product});
  if (whole) {
    AddRep(unit.out[0], y);
  } else {
    ApplyPostOps(unit, f.taken, y, target);
  }
}

void OnednnBuilder::EmitPool(const Unit& unit, const PoolSpec& pool) {
  Rep x = Main(unit.in[0]);
  auto prim = vendor_.Pool(pool, x.layout);
  if (!prim && !x.layout.dense()) {
    x = GetDense(unit.in[0]);
    prim = vendor_.Pool(pool, x.layout);
  }
  // Large images in plain order are pooled by loops that take 5 ns a tap (2.6.3; it has kernels
  // only where both tensors stay in the last cache), those with channels last are not.
  if (prim && prim->impl.rfind("simple", 0) == 0) {
    const Layout last = Layout::ChannelsLast(pool.src);
    auto better = vendor_.Pool(pool, last);
    if (better && better->impl.rfind("simple", 0) != 0) {
      x = Get(unit.in[0], last);
      prim = std::move(better);
    }
  }
  if (!prim) throw std::runtime_error("oneDNN has no pool for this node");
  const Rep y = NewResult(unit.out[0], prim->dst);
  AddPrim("pool", *prim,
          {{DNNL_ARG_SRC, x.place, prim->src_desc}, {DNNL_ARG_DST, y.place, prim->dst_desc}});
  AddRep(unit.out[0], y);
}

void OnednnBuilder::EmitMatMul(const Unit& unit, const ProductSpec& spec) {
  const Dims b = p_.dims(unit.in[1]);
  const Dims batch(b.begin(), b.end() - 2);
  if (Product(batch) == 1 && (!spec.trans_a || p_.dims(unit.in[0]).size() == 2)) {
    EmitFoldedMatMul(unit, spec);
  } else {
    EmitBatchedMatMul(unit);
  }
}

// [..., M, K] x [K, N] as one product of all rows.
void OnednnBuilder::EmitFoldedMatMul(const Unit& unit, const ProductSpec& product_spec) {
  const Dims bd = p_.dims(unit.in[1]);
  const int64_t n = unit.dims.back(), k = bd[bd.size() - (product_spec.trans_b ? 1 : 2)];
  const int64_t m = Product(unit.dims) / n;
  MatMulSpec spec;
  Rep x = GetDense(unit.in[0]);
  spec.src = Layout::Dense({m, k});
  if (product_spec.trans_a) {
    spec.src.stride[0] = 1;
    spec.src.stride[1] = m;
  }
  spec.weights = Layout::Dense({k, n});
  if (product_spec.trans_b) {
    spec.weights.stride[0] = 1;
    spec.weights.stride[1] = k;
  }
  spec.dst = Layout::Dense({m, n});
  spec.bias = !unit.bias.empty();
  spec.any_weights = p_.constant(unit.in[1]);
  const Layout target = Layout::Dense(unit.dims);
  Fused f = Fuse(unit, target, spec.dst, x.place.storage, true);
  auto prim = vendor_.MatMul(spec, f.post_ops);
  if (!prim) {
    f = Fused();
    prim = vendor_.MatMul(spec, {});
  }
  if (!prim) throw std::runtime_error("oneDNN has no product for this node");
  const bool whole = f.taken == unit.post_ops.size();
  const uint64_t bytes = static_cast<uint64_t>(target.extent()) * sizeof(float);
  const Rep y = f.sum   ? Rep{target, f.sum->place}
                : whole ? NewResult(unit.out[0], target)
                        : Rep{target, NewInternal(0, bytes)};
  const BufferRef weights = spec.any_weights
                                ? PackWeights(unit.in[1], spec.weights, prim->weights_desc)
                                : GetDense(unit.in[1]).place;
  std::vector<Arg> args = {{DNNL_ARG_SRC, x.place, prim->src_desc},
                           {DNNL_ARG_WEIGHTS, weights, prim->weights_desc},
                           {DNNL_ARG_DST, y.place, prim->dst_desc}};
  if (spec.bias) args.push_back({DNNL_ARG_BIAS, BiasOf(unit, n), prim->bias_desc});
  for (const auto& [at, r] : f.operands) {
    args.push_back({ArgOfPost(f.post_ops, at), r.place, Vendor::ToDesc(r.layout)});
  }
  AddPrim("matmul", *prim, std::move(args));
  if (whole) {
    AddRep(unit.out[0], y);
  } else {
    ApplyPostOps(unit, f.taken, y, target);
  }
}

void OnednnBuilder::EmitBatchedMatMul(const Unit& unit) {
  const int rank = static_cast<int>(unit.dims.size());
  auto operand = [&](uint32_t v, bool strided) {
    const Dims d = Aligned(p_.dims(v), rank);
    Rep r = strided ? Unblocked(v) : GetDense(v);
    if (!r.layout.same_dims(Layout::Dense(d))) r = Get(v, Layout::Dense(d));
    return r;
  };
  MatMulSpec spec;
  spec.any_weights = false;
  spec.bias = !unit.bias.empty();
  spec.dst = Layout::Dense(unit.dims);
  Rep a = operand(unit.in[0], true), b = operand(unit.in[1], true);
  Fused f = Fuse(unit, spec.dst, spec.dst, a.place.storage, true);
  if (f.sum && f.sum->place.storage == b.place.storage) f = Fused();
  auto make = [&] {
    spec.src = a.layout;
    spec.weights = b.layout;
    auto prim = vendor_.MatMul(spec, f.post_ops);
    return prim && prim->impl.find("ref") == std::string::npos ? prim : std::nullopt;
  };
  auto prim = make();
  if (!prim) {
    a = operand(unit.in[0], false);
    b = operand(unit.in[1], false);
    prim = make();
  }
  if (!prim) {
    f = Fused();
    prim = vendor_.MatMul(spec, {});
  }
  if (!prim) throw std::runtime_error("oneDNN has no product for this node");
  const bool whole = f.taken == unit.post_ops.size();
  const uint64_t bytes = static_cast<uint64_t>(spec.dst.extent()) * sizeof(float);
  const Rep y = f.sum   ? Rep{spec.dst, f.sum->place}
                : whole ? NewResult(unit.out[0], spec.dst)
                        : Rep{spec.dst, NewInternal(0, bytes)};
  std::vector<Arg> args = {{DNNL_ARG_SRC, a.place, prim->src_desc},
                           {DNNL_ARG_WEIGHTS, b.place, prim->weights_desc},
                           {DNNL_ARG_DST, y.place, prim->dst_desc}};
  if (spec.bias) args.push_back({DNNL_ARG_BIAS, BiasOf(unit, unit.dims.back()), prim->bias_desc});
  for (const auto& [at, r] : f.operands) {
    args.push_back({ArgOfPost(f.post_ops, at), r.place, Vendor::ToDesc(r.layout)});
  }
  AddPrim("matmul", *prim, std::move(args));
  if (whole) {
    AddRep(unit.out[0], y);
  } else {
    ApplyPostOps(unit, f.taken, y, spec.dst);
  }
}

}  // namespace ge_engines::cpu::onednn
