#include "ge/ops/microsoft/checks.h"
#include "ge/ops/microsoft/state_window.h"
#include "ge/ops/microsoft/steps.h"

namespace ge {
namespace {

constexpr int64_t kMostDilation = int64_t{1} << 31;  // the state's length stays exact

Status CheckCausalConvMsAttrs(const InferContext& c) {
  const Node& n = c.node();
  const std::string_view activation = AttrString(n, "activation");
  if (activation != "none" && activation != "silu" && activation != "swish") {
    return Bad(n, fmt::format("attribute 'activation' is '{:.64}', wanted none, silu or swish",
                              activation));
  }
  const int64_t dilation = AttrInt(n, "dilation");
  if (dilation < 1 || dilation > kMostDilation) {
    return Bad(n,
               fmt::format("attribute 'dilation' is {}, wanted 1 to {}", dilation, kMostDilation));
  }
  GE_RETURN_IF_ERROR(RefuseAttr(n, "ndim", 1));
  GE_RETURN_IF_ERROR(WantFlag(n, "channels_last"));
  GE_RETURN_IF_ERROR(WantStateWindow(n));
  // What ONNX Runtime has on GPUs alone.
  GE_RETURN_IF_ERROR(RefuseAttr(n, "input_channel_offset", 0));
  GE_RETURN_IF_ERROR(RefuseAttr(n, "input_channels", 0));
  GE_RETURN_IF_ERROR(RefuseAttr(n, "state_channels_last", -1));
  GE_RETURN_IF_ERROR(RefuseAttr(n, "state_length", 0));
  GE_RETURN_IF_ERROR(RefuseAttr(n, "state_update_capacity", 0));
  return RefuseOutput(c, 2, "state_update");
}

// Channels and length of the input, whose channels may be several axes at its end.
struct CausalConvMs {
  Dim channels, length, taps, kept;
};

Result<CausalConvMs> ReadCausalConvMs(InferContext& c) {
  const Node& n = c.node();
  const Type &x = c.input_type(0), &w = c.input_type(1);
  const bool last = AttrInt(n, "channels_last") != 0;
  GE_RETURN_IF_ERROR(WantRankOf(c, 1, "weight", 3, 3));
  if (last) {
    GE_RETURN_IF_ERROR(WantRank(x, 3, "CausalConvWithState: input 'input'"));
  } else {
    GE_RETURN_IF_ERROR(WantRankOf(c, 0, "input", 3, 3));
  }
  CausalConvMs s{c.FreshDim("channels", false),
                 c.FreshDim("length", false),
                 w.ranked ? w.dims[2] : c.FreshDim("taps", false),
                 {}};
  if (x.ranked) {
    s.length = x.dims[last ? 1 : 2];
    s.channels = x.dims[last ? 2 : 1];
    for (size_t i = 3; last && i < x.rank(); ++i) {
      GE_ASSIGN_OR_RETURN(s.channels,
                          Checked(n, c.dims().Mul(s.channels, x.dims[i]), "the channels"));
    }
  }
  if (w.ranked) {
    GE_ASSIGN_OR_RETURN(s.channels,
                        SameDim(c, s.channels, w.dims[0], "channels of 'input' and 'weight'"));
  }
  if (s.taps.known() && s.taps.value < 1) {
    return Bad(n, "input 'weight' has no taps, wanted at least 1");
  }
  GE_ASSIGN_OR_RETURN(const Dim before,
                      Checked(n, c.dims().Sub(s.taps, KnownDim(1)), "the length of the state"));
  GE_ASSIGN_OR_RETURN(s.kept, Checked(n, c.dims().Mul(before, KnownDim(AttrInt(n, "dilation"))),
                                      "the length of the state"));
  return s;
}

Status InferCausalConvMs(InferContext& c) {
  const Node& n = c.node();
  GE_RETURN_IF_ERROR(CheckCausalConvMsAttrs(c));
  GE_ASSIGN_OR_RETURN(const CausalConvMs s, ReadCausalConvMs(c));
  GE_RETURN_IF_ERROR(WantShape(c, 1, "weight", {{s.channels, KnownDim(1), s.taps}}));
  GE_RETURN_IF_ERROR(WantVector(c, 2, "bias", s.channels));
  const Type& x = c.input_type(0);
  if (!x.ranked) {
    for (size_t o = 0; o < c.output_count(); ++o) {
      if (c.has_output(o)) c.SetOutput(o, UnrankedTensor(x.dtype));
    }
    return {};
  }
  std::vector<Dim> state = x.dims;
  state[AttrInt(n, "channels_last") != 0 ? 1 : 2] = s.kept;
  const int64_t window = AttrInt(n, "state_window");
  if (window > 0) state.insert(state.begin(), KnownDim(window));
  if (HasInput(c, 3)) GE_RETURN_IF_ERROR(WantShape(c, 3, "past_state", state));
  SetAs(c, 0, 0, x.dtype);
  if (c.output_count() < 2 || !c.has_output(1)) return {};
  return SetTensor(c, 1, x.dtype, std::move(state));
}

// [batch, channels, length] of an input or a state, and back to `like`.
ValueId CausalConvMsChannelsFirst(Steps* s, ValueId x, int64_t channels, bool last) {
  const Steps::Shape shape = s->ShapeOf(x);
  if (!last) return x;
  return s->Transpose(s->Reshape(x, {shape[0], shape[1], channels}), {0, 2, 1});
}
ValueId CausalConvMsChannelsBack(Steps* s, ValueId x, Steps::Shape like, bool last) {
  if (!last) return x;
  like[1] = s->Size(x, 2);
  return s->Reshape(s->Transpose(x, {0, 2, 1}), like);
}

// What lay before the input and the input behind it.
ValueId CausalConvMsRows(Steps* s, ValueId x, int64_t channels, int64_t kept, int64_t window,
                         bool last) {
  const Steps::Shape shape = s->ShapeOf(x);
  if (!s->Has(3)) {
    return s->Node1("Pad", {x, s->Ints({0, 0, kept, 0, 0, 0})}, s->DTypeOf(x),
                    {shape[0], channels, kept + shape[2]});
  }
  ValueId past = s->In(3);
  if (window > 0) {
    Steps::Shape slot = s->ShapeOf(past);
    slot.erase(slot.begin());
    past = s->Reshape(s->Slice(past, 0, window - 1, window), slot);
  }
  return s->Concat({CausalConvMsChannelsFirst(s, past, channels, last), x}, 2);
}

// A convolution of one group a channel; its results are as many as the input's elements.
ValueId CausalConvMsResult(Steps* s, ValueId rows, const Steps::Shape& shape, const Node& node) {
  const DType wanted = s->DTypeOf(rows), step = StepDType(wanted);
  if (shape[0] * shape[1] * shape[2] == 0) return s->Zeros(wanted, shape);
  const ValueId bias = s->Has(2) ? s->Cast(s->In(2), step) : 0;
  ValueId y = s->Node1(
      "Conv", {s->Cast(rows, step), s->Cast(s->In(1), step), bias}, step, shape,
      {{"group", shape[1]}, {"dilations", std::vector<int64_t>{AttrInt(node, "dilation")}}});
  if (AttrString(node, "activation") != "none") y = s->Map("Swish", {y});
  return s->Cast(y, wanted);
}

std::vector<ValueId> DecomposeCausalConvMs(Transaction& t, FunctionId fn, const Node& node) {
  if (!Steps::Ready(t, fn, node)) return {};
  Steps s(t, fn, node);
  const Steps::Shape given = s.ShapeOf(s.In(0));
  const bool last = AttrInt(node, "channels_last") != 0;
  const int64_t channels = s.Size(s.In(1), 0), window = AttrInt(node, "state_window");
  const int64_t kept = (s.Size(s.In(1), 2) - 1) * AttrInt(node, "dilation");
  const ValueId x = CausalConvMsChannelsFirst(&s, s.In(0), channels, last);
  const ValueId rows = CausalConvMsRows(&s, x, channels, kept, window, last);
  std::vector<ValueId> out = s.NoOutputs();
  const Steps::Shape shape = s.ShapeOf(x);
  if (s.Wants(0)) {
    out[0] = CausalConvMsChannelsBack(&s, CausalConvMsResult(&s, rows, shape, node), given, last);
  }
  if (!s.Wants(1)) return out;
  const int64_t length = shape[2], count = StatesInWindow(window, length);
  std::vector<ValueId> states;
  for (int64_t i = length - count + 1; i <= length; ++i) {
    states.push_back(CausalConvMsChannelsBack(&s, s.Slice(rows, 2, i, i + kept), given, last));
  }
  out[1] = window > 0 ? s.Window(states, window) : states[0];
  return out;
}

OpDef CausalConvMsRecord() {
  constexpr DTypeSet kReal = kFloats & ~Bit(DType::kDouble);
  const Arity opt = Arity::kOptional;
  OpDef op = MicrosoftRecord("CausalConvWithState", InferCausalConvMs, DecomposeCausalConvMs);
  op.inputs = {{"input", kReal, "T"},
               {"weight", kReal, "T"},
               {"bias", kReal, "T", opt},
               {"past_state", kReal, "T", opt}};
  op.outputs = {
      {"output", kReal, "T"}, {"present_state", kReal, "T"}, {"state_update", kReal, "T", opt}};
  op.attrs = {{"activation", AttrKind::kString, "none"},
              {"channels_last", AttrKind::kInt, 0},
              {"dilation", AttrKind::kInt, 1},
              {"input_channel_offset", AttrKind::kInt, 0},
              {"input_channels", AttrKind::kInt, 0},
              {"ndim", AttrKind::kInt, 1},
              {"state_channels_last", AttrKind::kInt, -1},
              {"state_length", AttrKind::kInt, 0},
              {"state_update_capacity", AttrKind::kInt, 0},
              {"state_window", AttrKind::kInt, 0}};
  return op;
}

}  // namespace

// Convolution along time, channel by channel, over what came before; what the next call needs of
// the input is handed on, for each of the last steps where a window is wanted.
GE_OP(microsoft_causal_conv_with_state) = CausalConvMsRecord();

}  // namespace ge
