// oneDNN's gradients of convolutions.
#include "plugins/cpu/onednn/vendor.h"
#include "plugins/units/conv/conv.h"
#include "plugins/units/conv/conv_grad.h"

namespace ge_engines::cpu::onednn {
namespace {

using dnnl::algorithm;
using dnnl::memory;
using Forward = dnnl::convolution_forward;
using Data = dnnl::convolution_backward_data;
using Weights = dnnl::convolution_backward_weights;

Desc AnyLayout(const Dims& dims) {
  return Desc(dims, memory::data_type::f32, memory::format_tag::any);
}

Desc QueryOf(const dnnl::primitive_desc_base& pd, dnnl::query what) { return pd.query_md(what, 0); }

#if DNNL_VERSION_MAJOR >= 3
template <class... Tensors>
Forward::primitive_desc ForwardOf(const ConvSpec& s, const Dims& dilation,
                                  const dnnl::engine& engine, const Tensors&... tensors) {
  return {engine,
          dnnl::prop_kind::forward_training,
          algorithm::convolution_direct,
          tensors...,
          s.stride,
          dilation,
          s.pad_l,
          s.pad_r,
          {},
          true};
}
template <class Gradient, class... Tensors>
typename Gradient::primitive_desc MakeGrad(const ConvSpec& s, const Dims& dilation,
                                           const Forward::primitive_desc& hint,
                                           const dnnl::primitive_attr& attr,
                                           const dnnl::engine& engine, const Tensors&... tensors) {
  return {engine,     algorithm::convolution_direct,
          tensors..., s.stride,
          dilation,   s.pad_l,
          s.pad_r,    hint,
          attr,       true};
}
#else
template <class... Tensors>
Forward::primitive_desc ForwardOf(const ConvSpec& s, const Dims& dilation,
                                  const dnnl::engine& engine, const Tensors&... tensors) {
  const Forward::desc d(dnnl::prop_kind::forward_training, algorithm::convolution_direct,
                        tensors..., s.stride, dilation, s.pad_l, s.pad_r);
  return {d, engine, true};
}
template <class Gradient, class... Tensors>
typename Gradient::primitive_desc MakeGrad(const ConvSpec& s, const Dims& dilation,
                                           const Forward::primitive_desc& hint,
                                           const dnnl::primitive_attr& attr,
                                           const dnnl::engine& engine, const Tensors&... tensors) {
  const typename Gradient::desc d(algorithm::convolution_direct, tensors..., s.stride, dilation,
                                  s.pad_l, s.pad_r);
  return {d, attr, engine, hint, true};
}
#endif

}  // namespace

std::optional<Prim> Vendor::ConvGrad(const ConvGradSpec& spec) const {
  const ConvSpec& s = spec.conv;
  Dims dilation = s.dilation;
  for (int64_t& d : dilation) d -= 1;
  const Desc x = AnyLayout(s.src), w = AnyLayout(s.weights), y = AnyLayout(s.dst);
  std::vector<Desc> none;
  const dnnl::primitive_attr attr = Attr({}, &none);
  const Forward::primitive_desc hint = ForwardOf(s, dilation, engine_, x, w, y);
  if (!hint) return std::nullopt;
  dnnl::primitive_desc_base pd;
  if (spec.of_weights) {
    pd = MakeGrad<Weights>(s, dilation, hint, attr, engine_, x, w, y);
  } else {
    pd = MakeGrad<Data>(s, dilation, hint, attr, engine_, x, w, y);
  }
  if (!pd) return std::nullopt;
  using dnnl::query;
  Prim out;
  out.impl = pd.impl_info_str();
  out.src_desc = QueryOf(pd, spec.of_weights ? query::src_md : query::diff_src_md);
  out.weights_desc = QueryOf(pd, spec.of_weights ? query::diff_weights_md : query::weights_md);
  out.dst_desc = QueryOf(pd, query::diff_dst_md);
  out.scratch_desc = QueryOf(pd, query::scratchpad_md);
  out.scratch = out.scratch_desc.get_size();
  const auto src = ToLayout(out.src_desc, s.src), dst = ToLayout(out.dst_desc, s.dst);
  if (!src || !dst) return std::nullopt;
  out.src = *src;
  out.dst = *dst;
  out.desc = pd;
  return out;
}

}  // namespace ge_engines::cpu::onednn
