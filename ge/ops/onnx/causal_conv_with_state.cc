#include <fmt/format.h>

#include "ge/ops/infer_shapes.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

constexpr DTypeSet kTypesCausalConv = kFloats & ~Bit(DType::kDouble);

Status InferCausalConv(InferContext& c) {
  const Node& n = c.node();
  const std::string_view activation = AttrString(n, "activation");
  if (activation != "none" && activation != "silu" && activation != "swish") {
    return Bad(n, fmt::format("attribute 'activation' is '{:.64}', wanted none, silu or swish",
                              activation));
  }
  const Type &x = c.input_type(0), &w = c.input_type(1);
  for (size_t i = 0; i < 2; ++i) {
    const Type& t = c.input_type(i);
    if (!t.ranked || t.rank() == 3) continue;
    return Bad(n, fmt::format("input '{}' has shape {}, wanted rank 3", i == 0 ? "input" : "weight",
                              Show(c.dims(), t.dims)));
  }
  const auto dim = [&](const Type& t, size_t i, const char* stem) {
    return t.ranked ? t.dims[i] : c.FreshDim(stem, false);
  };
  const Dim batch = dim(x, 0, "batch"), length = dim(x, 2, "length"), taps = dim(w, 2, "taps");
  Dim channels = dim(x, 1, "channels");
  if (w.ranked) {
    GE_ASSIGN_OR_RETURN(channels,
                        SameDim(c, channels, w.dims[0], "channels of 'input' and 'weight'"));
  }
  if (taps.known() && taps.value < 1)
    return Bad(n, "input 'weight' has no taps, wanted at least 1");
  const Dim weight[] = {channels, KnownDim(1), taps};
  GE_RETURN_IF_ERROR(WantShape(c, 1, "weight", weight));
  GE_ASSIGN_OR_RETURN(const Dim kept,
                      Checked(n, c.dims().Sub(taps, KnownDim(1)), "the length of the state"));
  const Dim bias[] = {channels};
  const Dim state[] = {batch, channels, kept};
  if (c.input_count() > 2 && c.has_input(2)) {
    GE_RETURN_IF_ERROR(WantShape(c, 2, "bias", bias));
  }
  if (c.input_count() > 3 && c.has_input(3)) {
    GE_RETURN_IF_ERROR(WantShape(c, 3, "past_state", state));
  }
  GE_RETURN_IF_ERROR(SetTensor(c, 0, x.dtype, {batch, channels, length}));
  if (c.output_count() < 2 || !c.has_output(1)) return {};
  return SetTensor(c, 1, x.dtype, {batch, channels, kept});
}

Work EffortCausalConv(const Node&, std::span<const Type> in, std::span<const Type> out) {
  const bool known = in.size() > 1 && in[1].is_static() && in[1].rank() == 3 && !out.empty();
  const double taps = known ? static_cast<double>(in[1].dims[2].value) : 0;
  return {known ? ElementsOf(out[0]) * (2 * taps + 10) : 0, BytesOf(in, out)};
}

OpDef CausalConvRecord() {
  const DTypeSet types = kTypesCausalConv;
  OpDef op{"", "CausalConvWithState", 27, {}, {}, {}, InferCausalConv, EffortCausalConv};
  op.inputs = {{"input", types, "T"},
               {"weight", types, "T"},
               {"bias", types, "T", Arity::kOptional},
               {"past_state", types, "T", Arity::kOptional}};
  op.outputs = {{"output", types, "T"}, {"present_state", types, "T"}};
  op.attrs = {{"activation", AttrKind::kString, "none"}};
  return op;
}

}  // namespace

// Convolution along time, channel by channel, over what came before; the last taps - 1 elements
// are handed on.
GE_OP(causal_conv_with_state) = CausalConvRecord();

}  // namespace ge
