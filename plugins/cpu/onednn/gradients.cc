// Steps of the gradients of convolutions, and weights that are no constants.
#include <stdexcept>

#include "plugins/cpu/onednn/emit.h"
#include "plugins/units/conv/conv_grad.h"

namespace ge_engines::cpu::onednn {

std::optional<std::pair<LayoutTag, LayoutTag>> LayoutTagsOfConvGrad(const Vendor& vendor,
                                                                    const ConvGradSpec& spec) {
  std::optional<Prim> plan;
  try {
    plan = vendor.ConvGrad(spec);
  } catch (const dnnl::error&) {  // compiling says what is wrong
  }
  if (!plan) return std::nullopt;
  const LayoutTag dy = LayoutTag::Of(plan->dst);
  return std::pair(dy, spec.of_weights ? LayoutTag{} : LayoutTag::Of(plan->src));
}

void OnednnBuilder::AddReorder(const BufferRef& from, const Desc& is, const BufferRef& to,
                               const Desc& want) {
  const auto prim = vendor_.Reorder(is, want);
  if (!prim) throw std::runtime_error("oneDNN has no reorder for weights");
  AddPrim("reorder", *prim, {{DNNL_ARG_FROM, from, is}, {DNNL_ARG_TO, to, want}});
}

BufferRef OnednnBuilder::WeightsAs(uint32_t value, const Layout& given, const Desc& want) {
  if (p_.constant(value)) return PackWeights(value, given, want);
  const Desc is = Vendor::ToDesc(given);
  const BufferRef x = GetDense(value).place;
  if (is == want) return x;
  const BufferRef y = NewInternal(0, want.get_size());
  AddReorder(x, is, y, want);
  return y;
}

void OnednnBuilder::EmitConvGrad(const Unit& unit, const ConvGradSpec& spec) {
  const auto prim = vendor_.ConvGrad(spec);
  if (!prim) throw std::runtime_error("oneDNN has no gradient of this convolution");
  const Layout plain = Layout::Dense(spec.conv.weights);
  const Rep dy = Get(unit.in[spec.of_weights ? 1 : 0], prim->dst);
  if (!spec.of_weights) {
    const BufferRef w = WeightsAs(unit.in[1], plain, prim->weights_desc);
    const Rep dx = NewResult(unit.out[0], prim->src);
    AddPrim("conv_grad_input", *prim,
            {{DNNL_ARG_DIFF_DST, dy.place, prim->dst_desc},
             {DNNL_ARG_WEIGHTS, w, prim->weights_desc},
             {DNNL_ARG_DIFF_SRC, dx.place, prim->src_desc}});
    return AddRep(unit.out[0], dx);
  }
  const Rep x = Get(unit.in[0], prim->src);
  const Rep dw = NewResult(unit.out[0], Layout::Dense(unit.dims));
  const Desc want = Vendor::ToDesc(plain);
  const bool direct = want == prim->weights_desc;
  const BufferRef made = direct ? dw.place : NewInternal(0, prim->weights_desc.get_size());
  AddPrim("conv_grad_weight", *prim,
          {{DNNL_ARG_SRC, x.place, prim->src_desc},
           {DNNL_ARG_DIFF_DST, dy.place, prim->dst_desc},
           {DNNL_ARG_DIFF_WEIGHTS, made, prim->weights_desc}});
  if (!direct) AddReorder(made, prim->weights_desc, dw.place, want);
  AddRep(unit.out[0], dw);
}

}  // namespace ge_engines::cpu::onednn
