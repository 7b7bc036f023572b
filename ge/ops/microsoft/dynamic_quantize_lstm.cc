#include "ge/ops/microsoft/checks.h"
#include "ge/ops/microsoft/steps.h"

namespace ge {
namespace {

struct QuantLstmSizes {
  Dim dirs, steps, batch, input, hidden;
};

Result<QuantLstmSizes> ReadQuantLstm(InferContext& c) {
  const Node& n = c.node();
  const std::string_view way = AttrString(n, "direction", "forward");
  if (way != "forward" && way != "reverse" && way != "bidirectional") {
    return Bad(n, fmt::format("attribute 'direction' is '{:.64}', wanted forward, reverse or "
                              "bidirectional",
                              way));
  }
  if (HasAttr(n, "clip") && !(AttrFloat(n, "clip", 1) > 0)) {
    return Bad(n, fmt::format("attribute 'clip' is {}, wanted above 0", AttrFloat(n, "clip", 1)));
  }
  const char* names[] = {"X", "W", "R"};
  for (size_t i = 0; i < 3; ++i) GE_RETURN_IF_ERROR(WantRankOf(c, i, names[i], 3, 3));
  const auto axis = [&](size_t i, size_t d) {
    const Type& t = c.input_type(i);
    return t.ranked ? t.dims[d] : c.FreshDim("lstm", false);
  };
  QuantLstmSizes s;
  s.dirs = KnownDim(way == "bidirectional" ? 2 : 1);
  s.steps = axis(0, 0), s.batch = axis(0, 1);
  GE_ASSIGN_OR_RETURN(s.input, SameDim(c, axis(0, 2), axis(1, 1), "input sizes of 'X' and 'W'"));
  s.hidden = axis(2, 1);
  if (HasAttr(n, "hidden_size")) {
    GE_ASSIGN_OR_RETURN(s.hidden, SameDim(c, s.hidden, KnownDim(AttrInt(n, "hidden_size", 1)),
                                          "hidden sizes of 'R' and attribute 'hidden_size'"));
  }
  return s;
}

// One number a direction, or one a direction and row of the gates.
Status WantGateScale(InferContext& c, size_t i, const char* name, Dim dirs, Dim rows) {
  const Type& t = c.input_type(i);
  if (t.ranked && t.rank() == 1) return WantShape(c, i, name, {{dirs}});
  return WantShape(c, i, name, {{dirs, rows}});
}

Status InferQuantLstm(InferContext& c) {
  GE_ASSIGN_OR_RETURN(const QuantLstmSizes s, ReadQuantLstm(c));
  const auto times = [&](int64_t n) {
    return Checked(c.node(), c.dims().Mul(s.hidden, KnownDim(n)), "the size of the gates");
  };
  GE_ASSIGN_OR_RETURN(const Dim rows, times(4));
  GE_ASSIGN_OR_RETURN(const Dim biases, times(8));
  GE_ASSIGN_OR_RETURN(const Dim peepholes, times(3));
  GE_RETURN_IF_ERROR(WantShape(c, 1, "W", {{s.dirs, s.input, rows}}));
  GE_RETURN_IF_ERROR(WantShape(c, 2, "R", {{s.dirs, s.hidden, rows}}));
  const struct {
    const char* name;
    std::vector<Dim> wanted;
  } rest[] = {{"B", {s.dirs, biases}},
              {"sequence_lens", {s.batch}},
              {"initial_h", {s.dirs, s.batch, s.hidden}},
              {"initial_c", {s.dirs, s.batch, s.hidden}},
              {"P", {s.dirs, peepholes}}};
  for (size_t i = 3; i < 8; ++i) {
    if (HasInput(c, i)) GE_RETURN_IF_ERROR(WantShape(c, i, rest[i - 3].name, rest[i - 3].wanted));
  }
  const char* scales[] = {"W_scale", "W_zero_point", "R_scale", "R_zero_point"};
  for (size_t i = 8; i < 12; ++i) {
    GE_RETURN_IF_ERROR(WantGateScale(c, i, scales[i - 8], s.dirs, rows));
  }
  const std::vector<Dim> all = {s.steps, s.dirs, s.batch, s.hidden};
  const std::vector<Dim> last = {s.dirs, s.batch, s.hidden};
  for (size_t o = 0; o < c.output_count(); ++o) {
    if (c.has_output(o)) GE_RETURN_IF_ERROR(SetTensor(c, o, DType::kFloat, o == 0 ? all : last));
  }
  return {};
}

// A weight as ONNX's LSTM has it, [directions, rows, columns], in floats.
ValueId QuantLstmWeight(Steps* s, size_t weight, size_t scale) {
  const Steps::Shape w = s->ShapeOf(s->In(weight));
  const auto parameter = [&](size_t i) {
    const ValueId v = s->Cast(s->In(i), DType::kFloat);
    return s->Reshape(v, {w[0], 1, s->Rank(v) == 1 ? 1 : w[2]});
  };
  const ValueId codes = s->Cast(s->In(weight), DType::kFloat);
  const ValueId moved = s->Pair("Sub", codes, parameter(scale + 1));
  return s->Transpose(s->Pair("Mul", moved, parameter(scale)), {0, 2, 1});
}

// LSTM in floats: X and the hidden state are not quantized on their way into the products, so the
// result is nearer to that of the float model than ONNX Runtime's.
std::vector<ValueId> DecomposeQuantLstm(Transaction& t, FunctionId fn, const Node& node) {
  if (!Steps::Ready(t, fn, node)) return {};
  Steps s(t, fn, node);
  std::vector<ValueId> inputs = {s.In(0), QuantLstmWeight(&s, 1, 8), QuantLstmWeight(&s, 2, 10)};
  for (size_t i = 3; i < 8; ++i) inputs.push_back(s.In(i));
  while (inputs.back() == 0) inputs.pop_back();
  const Steps::Shape x = s.ShapeOf(s.In(0)), r = s.ShapeOf(s.In(2));
  std::vector<Type> types;
  for (size_t o = 0; o < node.outputs.size(); ++o) {
    types.push_back(o == 0 ? TensorType(DType::kFloat, Steps::Shape{x[0], r[0], x[1], r[1]})
                           : TensorType(DType::kFloat, Steps::Shape{r[0], x[1], r[1]}));
  }
  return t.AddNode(fn, node.id, "", "LSTM", std::move(inputs), node.attrs, std::move(types),
                   {&node});
}

OpDef QuantLstmRecord() {
  OpDef op = MicrosoftRecord("DynamicQuantizeLSTM", InferQuantLstm, DecomposeQuantLstm);
  const Arity opt = Arity::kOptional;
  constexpr DTypeSet kReal = Bit(DType::kFloat);
  op.inputs = {{"X", kReal, "T"},
               {"W", kBytes, "T2"},
               {"R", kBytes, "T2"},
               {"B", kReal, "T", opt},
               {"sequence_lens", Bit(DType::kInt32), "T1", opt},
               {"initial_h", kReal, "T", opt},
               {"initial_c", kReal, "T", opt},
               {"P", kReal, "T", opt},
               {"W_scale", kReal, "T"},
               {"W_zero_point", kBytes, "T2"},
               {"R_scale", kReal, "T"},
               {"R_zero_point", kBytes, "T2"}};
  op.outputs = {{"Y", kReal, "T", opt}, {"Y_h", kReal, "T", opt}, {"Y_c", kReal, "T", opt}};
  op.attrs = {{"activation_alpha", AttrKind::kFloats}, {"activation_beta", AttrKind::kFloats},
              {"activations", AttrKind::kStrings},     {"clip", AttrKind::kFloat},
              {"direction", AttrKind::kString},        {"hidden_size", AttrKind::kInt},
              {"input_forget", AttrKind::kInt}};
  return op;
}

}  // namespace

// LSTM whose weights are quantized.
GE_OP(microsoft_dynamic_quantize_lstm) = QuantLstmRecord();

}  // namespace ge
