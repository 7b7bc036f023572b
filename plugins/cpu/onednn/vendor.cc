#include "plugins/cpu/onednn/vendor.h"

#include "ge/ge_plugin.h"
#include "plugins/units/conv/conv.h"
#include "plugins/units/reduce/pool.h"

namespace ge_engines::cpu::onednn {
namespace {

using dnnl::algorithm;
using dnnl::memory;
using Tag = dnnl::memory::format_tag;
constexpr auto kF32 = memory::data_type::f32;
constexpr auto kInference = dnnl::prop_kind::forward_inference;

Tag BlockedTag(int rank, int block) {
  static constexpr Tag kTags[3][3] = {{Tag::nCw4c, Tag::nCw8c, Tag::nCw16c},
                                      {Tag::nChw4c, Tag::nChw8c, Tag::nChw16c},
                                      {Tag::nCdhw4c, Tag::nCdhw8c, Tag::nCdhw16c}};
  if (rank < 3 || rank > 5) return Tag::undef;
  const int column = block == 4 ? 0 : block == 8 ? 1 : block == 16 ? 2 : -1;
  return column < 0 ? Tag::undef : kTags[rank - 3][column];
}

constexpr auto kBf16 = memory::data_type::bf16;

memory::data_type TypeOf(const Layout& l) { return l.size == 2 ? kBf16 : kF32; }

Desc Any(const Dims& dims, memory::data_type type = kF32) { return Desc(dims, type, Tag::any); }

struct Eltwise {
  algorithm alg;
  float a, b;
};
// One of our functions as at most two of oneDNN's.
std::vector<Eltwise> ToEltwise(Fn fn, float a, float b) {
  switch (fn) {
    case Fn::kLinear:
      return {{algorithm::eltwise_linear, a, b}};
    case Fn::kRelu:
      return {{algorithm::eltwise_relu, a, 0}};
    case Fn::kClip:
      return {{algorithm::eltwise_clip, a, b}};
    case Fn::kSigmoid:
      return {{algorithm::eltwise_logistic, 0, 0}};
    case Fn::kTanh:
      return {{algorithm::eltwise_tanh, 0, 0}};
    case Fn::kHardSigmoid:
      return {{algorithm::eltwise_linear, a, b}, {algorithm::eltwise_clip, 0, 1}};
    case Fn::kSwish:
      return {{algorithm::eltwise_swish, 1, 0}};
    case Fn::kGelu:
      return {{algorithm::eltwise_gelu_erf, 0, 0}};
    case Fn::kGeluTanh:
      return {{algorithm::eltwise_gelu_tanh, 0, 0}};
    case Fn::kExp:
      return {{algorithm::eltwise_exp, 0, 0}};
    case Fn::kSqrt:
      return {{algorithm::eltwise_sqrt, 0, 0}};
    case Fn::kAbs:
      return {{algorithm::eltwise_abs, 0, 0}};
    case Fn::kSquare:
      return {{algorithm::eltwise_square, 0, 0}};
    default:
      return {};
  }
}

std::optional<algorithm> ToBinary(Fn fn) {
  switch (fn) {
    case Fn::kAdd:
      return algorithm::binary_add;
    case Fn::kSub:
      return algorithm::binary_sub;
    case Fn::kMul:
      return algorithm::binary_mul;
    case Fn::kDiv:
      return algorithm::binary_div;
    case Fn::kMax:
      return algorithm::binary_max;
    case Fn::kMin:
      return algorithm::binary_min;
    default:
      return std::nullopt;
  }
}

Desc QueryDesc(const dnnl::primitive_desc_base& pd, dnnl::query what, int index) {
  return pd.query_md(what, index);
}

// What every primitive has in common. False when oneDNN chose a layout that we cannot say.
bool Describe(const dnnl::primitive_desc_base& pd, const Dims& src, const Dims& dst, Prim* out) {
  out->impl = pd.impl_info_str();
  out->src_desc = QueryDesc(pd, dnnl::query::src_md, 0);
  out->dst_desc = QueryDesc(pd, dnnl::query::dst_md, 0);
  out->scratch_desc = QueryDesc(pd, dnnl::query::scratchpad_md, 0);
  out->scratch = out->scratch_desc.get_size();
  const auto s = Vendor::ToLayout(out->src_desc, src), d = Vendor::ToLayout(out->dst_desc, dst);
  if (!s || !d) return false;
  out->src = *s;
  out->dst = *d;
  return true;
}

Dims MinusOne(Dims d) {
  for (int64_t& x : d) x -= 1;
  return d;
}

}  // namespace

bool VendorHas(Fn fn) {
  return fn >= Fn::kFirstBinary ? ToBinary(fn).has_value() : !ToEltwise(fn, 0, 0).empty();
}

bool VendorKeepsNan(Fn fn) {
  switch (fn) {
    case Fn::kRelu:
    case Fn::kClip:
    case Fn::kHardSigmoid:
    case Fn::kExp:
    case Fn::kMax:
    case Fn::kMin:
      return false;
    default:
      return true;
  }
}

bool VendorRepeats(const std::vector<VendorPost>& before, const VendorPost& next) {
  if (next.kind != VendorPost::kUnary) return false;
  for (const Eltwise& n : ToEltwise(next.fn, next.a, next.b)) {
    for (const VendorPost& p : before) {
      if (p.kind != VendorPost::kUnary) continue;
      for (const Eltwise& e : ToEltwise(p.fn, p.a, p.b)) {
        if (e.alg == n.alg && (e.a != n.a || e.b != n.b)) return true;
      }
    }
  }
  return false;
}

void Vendor::CapIsa(uint32_t isa_cap) {
  // oneDNN refuses once it has been used; the cap is then whatever came first.
  switch (isa_cap) {
    case GE_ISA_SSE42:
      (void)dnnl::set_max_cpu_isa(dnnl::cpu_isa::sse41);
      break;
    case GE_ISA_AVX2:
      (void)dnnl::set_max_cpu_isa(dnnl::cpu_isa::avx2);
      break;
    case GE_ISA_AVX512:
      // With AMX where there is one, which multiplies rounded numbers alone.
      (void)dnnl::set_max_cpu_isa(dnnl::cpu_isa::avx512_core_amx);
      break;
    default:
      break;
  }
}

const char* Vendor::Version() {
  static const std::string text = [] {
    const dnnl_version_t* v = dnnl_version();
    return std::to_string(v->major) + "." + std::to_string(v->minor) + "." +
           std::to_string(v->patch);
  }();
  return text.c_str();
}

Desc Vendor::ToDesc(const Layout& layout) {
  const auto type = TypeOf(layout);
  if (layout.cblock > 0) return Desc(layout.dims(), type, BlockedTag(layout.rank, layout.cblock));
  if (layout.rank == 0) return Desc({1}, type, memory::dims{1});
  return Desc(layout.dims(), type, memory::dims(layout.stride, layout.stride + layout.rank));
}

std::optional<Layout> Vendor::ToLayout(const Desc& desc, const Dims& dims) {
  const int size = desc.data_type() == kBf16 ? 2 : 4;
  std::vector<Layout> known = {Layout::Dense(dims)};
  if (dims.size() >= 3 && dims.size() <= 5) {
    for (int block : {16, 8, 4}) known.push_back(Layout::Blocked(dims, block));
    known.push_back(Layout::ChannelsLast(dims));
  }
  for (Layout& l : known) {
    l.size = size;
    if (desc == ToDesc(l)) return l;
  }
  return std::nullopt;
}

dnnl::primitive_attr Vendor::Attr(const std::vector<VendorPost>& post_ops,
                                  std::vector<Desc>* descs) const {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  dnnl::post_ops ops;
  for (const VendorPost& p : post_ops) {
    if (p.kind == VendorPost::kSum) {
      ops.append_sum(1.0f);
      descs->push_back(Desc());
    } else if (p.kind == VendorPost::kBinary) {
      const Desc d = ToDesc(p.operand);
      ops.append_binary(*ToBinary(p.fn), d);
      descs->push_back(d);
    } else {
      for (const Eltwise& e : ToEltwise(p.fn, p.a, p.b)) {
#if DNNL_VERSION_MAJOR >= 3
        ops.append_eltwise(e.alg, e.a, e.b);
#else
        ops.append_eltwise(1.0f, e.alg, e.a, e.b);
#endif
        descs->push_back(Desc());
      }
    }
  }
  attr.set_post_ops(ops);
  return attr;
}

namespace {

template <class Primitive>
std::optional<Prim> MakeConv(const ConvSpec& s, algorithm alg, const Desc& src, const Desc& dst,
                             const dnnl::primitive_attr& attr, const dnnl::engine& engine,
                             const char* prefer) {
  const Desc weights = Any(s.weights, s.rounds ? kBf16 : kF32);
  const Desc bias = s.bias ? Desc({s.dst[1]}, kF32, Tag::a) : Desc();
  const Dims dilation = MinusOne(s.dilation);
#if DNNL_VERSION_MAJOR >= 3
  typename Primitive::primitive_desc pd(engine, kInference, alg, src, weights, bias, dst, s.stride,
                                        dilation, s.pad_l, s.pad_r, attr, true);
#else
  const typename Primitive::desc d =
      s.bias ? typename Primitive::desc(kInference, alg, src, weights, bias, dst, s.stride,
                                        dilation, s.pad_l, s.pad_r)
             : typename Primitive::desc(kInference, alg, src, weights, dst, s.stride, dilation,
                                        s.pad_l, s.pad_r);
  typename Primitive::primitive_desc pd(d, attr, engine, true);
#endif
  if (!pd) return std::nullopt;
  if (prefer != nullptr) {
    typename Primitive::primitive_desc other = pd;
    int tries = 8;  // lists hold fewer that are worth having
    while (std::string(other.impl_info_str()) != prefer && --tries > 0 && other.next_impl()) {
    }
    if (std::string(other.impl_info_str()) == prefer) pd = other;
  }
  Prim out;
  if (!Describe(pd, s.src, s.dst, &out)) return std::nullopt;
  out.weights_desc = QueryDesc(pd, dnnl::query::weights_md, 0);
  if (s.bias) out.bias_desc = QueryDesc(pd, dnnl::query::weights_md, 1);
  out.desc = pd;
  return out;
}

}  // namespace

std::optional<Prim> Vendor::Conv(const ConvSpec& s, const Prim* plan,
                                 const std::vector<VendorPost>& post_ops,
                                 const char* prefer) const {
  std::vector<Desc> descs;
  const dnnl::primitive_attr attr = Attr(post_ops, &descs);
  // Descs, not layouts: with one channel two of oneDNN's layouts are one of ours.
  const auto free = [&s](const Dims& d, bool rounded) {
    const bool blocks = s.block > 0 && d[1] >= s.block;
    return blocks ? ToDesc(Layout::Blocked(d, s.block)) : Any(d, rounded ? kBf16 : kF32);
  };
  const Desc sd = plan != nullptr ? plan->src_desc : free(s.src, s.rounds);
  const Desc dd = plan != nullptr ? plan->dst_desc : free(s.dst, s.rounds_result);
  std::optional<Prim> out =
      s.transposed ? MakeConv<dnnl::deconvolution_forward>(s, algorithm::deconvolution_direct, sd,
                                                           dd, attr, engine_, prefer)
                   : MakeConv<dnnl::convolution_forward>(s, algorithm::convolution_direct, sd, dd,
                                                         attr, engine_, prefer);
  if (out) out->post_desc = std::move(descs);
  return out;
}

std::optional<Prim> Vendor::Pool(const PoolSpec& s, const Layout& src) const {
  std::vector<Desc> descs;
  const dnnl::primitive_attr attr = Attr({}, &descs);
  const algorithm alg = s.max         ? algorithm::pooling_max
                        : s.count_pad ? algorithm::pooling_avg_include_padding
                                      : algorithm::pooling_avg_exclude_padding;
#if DNNL_VERSION_MAJOR >= 3
  dnnl::pooling_forward::primitive_desc pd(engine_, kInference, alg, ToDesc(src), Any(s.dst),
                                           s.stride, s.kernel, Dims(s.kernel.size(), 0), s.pad_l,
                                           s.pad_r, attr, true);
#else
  const dnnl::pooling_forward::desc d(kInference, alg, ToDesc(src), Any(s.dst), s.stride, s.kernel,
                                      s.pad_l, s.pad_r);
  dnnl::pooling_forward::primitive_desc pd(d, attr, engine_, true);
#endif
  Prim out;
  if (!pd || !Describe(pd, s.src, s.dst, &out)) return std::nullopt;
  out.desc = pd;
  return out;
}

std::optional<Prim> Vendor::MatMul(const MatMulSpec& s,
                                   const std::vector<VendorPost>& post_ops) const {
  Prim out;
  const dnnl::primitive_attr attr = Attr(post_ops, &out.post_desc);
  const Desc src = ToDesc(s.src), dst = ToDesc(s.dst);
  const Desc weights = s.any_weights ? Any(s.weights.dims()) : ToDesc(s.weights);
  Dims bias_dims(static_cast<size_t>(s.dst.rank), 1);
  bias_dims.back() = s.dst.dim[s.dst.rank - 1];
  const Desc bias = s.bias ? ToDesc(Layout::Dense(bias_dims)) : Desc();
#if DNNL_VERSION_MAJOR >= 3
  dnnl::matmul::primitive_desc pd(engine_, src, weights, bias, dst, attr, true);
#else
  const dnnl::matmul::desc d =
      s.bias ? dnnl::matmul::desc(src, weights, bias, dst) : dnnl::matmul::desc(src, weights, dst);
  dnnl::matmul::primitive_desc pd(d, attr, engine_, true);
#endif
  if (!pd) return std::nullopt;
  out.impl = pd.impl_info_str();
  out.src = s.src;
  out.dst = s.dst;
  out.src_desc = src;
  out.dst_desc = dst;
  out.weights_desc = QueryDesc(pd, dnnl::query::weights_md, 0);
  out.bias_desc = bias;
  out.scratch_desc = QueryDesc(pd, dnnl::query::scratchpad_md, 0);
  out.scratch = out.scratch_desc.get_size();
  out.desc = pd;
  return out;
}

std::optional<Prim> Vendor::Reorder(const Desc& src, const Desc& dst) const {
  std::vector<Desc> descs;
  const dnnl::primitive_attr attr = Attr({}, &descs);
  Prim out;
  out.src_desc = src;
  out.dst_desc = dst;
  dnnl::reorder::primitive_desc pd(engine_, src, engine_, dst, attr, true);
  if (!pd) return std::nullopt;
  out.impl = pd.impl_info_str();
  out.scratch_desc = QueryDesc(pd, dnnl::query::scratchpad_md, 0);
  out.scratch = out.scratch_desc.get_size();
  out.desc = pd;
  return out;
}

std::optional<Prim> Vendor::Reorder(const Layout& src, const Layout& dst) const {
  std::optional<Prim> out = Reorder(ToDesc(src), ToDesc(dst));
  if (out) {
    out->src = src;
    out->dst = dst;
  }
  return out;
}

#if DNNL_VERSION_MAJOR >= 3
std::string Vendor::KeyOf(const Desc& desc) {
  const std::vector<uint8_t> blob = desc.get_blob();
  return std::string(blob.begin(), blob.end());
}
#else
std::string Vendor::KeyOf(const Desc& d) {
  const dnnl_memory_desc_t& m = d.data;
  std::string key;
  auto add = [&key](auto... numbers) { ((key += std::to_string(numbers) + " "), ...); };
  auto list = [&](const dnnl_dim_t* numbers, int n) {
    for (int i = 0; i < n; ++i) add(numbers[i]);
    key += "/ ";
  };
  add(static_cast<int>(m.data_type), static_cast<int>(m.format_kind), m.offset0, m.extra.flags,
      m.extra.compensation_mask, m.extra.asymm_compensation_mask, m.extra.scale_adjust);
  list(m.dims, m.ndims), list(m.padded_dims, m.ndims), list(m.padded_offsets, m.ndims);
  if (m.format_kind != dnnl_blocked) {  // for other primitives than ours: not told apart by name
    throw std::runtime_error("oneDNN wants weights in a form that is not one of blocks");
  }
  const dnnl_blocking_desc_t& b = m.format_desc.blocking;
  list(b.strides, m.ndims), list(b.inner_blks, b.inner_nblks), list(b.inner_idxs, b.inner_nblks);
  return key;
}
#endif

void Vendor::Pack(const Desc& src, const void* from, const Desc& dst, void* to) const {
  dnnl::memory s(src, engine_, const_cast<void*>(from)), d(dst, engine_, to);
  dnnl::stream stream(engine_);
  dnnl::reorder(s, d).execute(stream, s, d);
  stream.wait();
}

}  // namespace ge_engines::cpu::onednn
