#include "ge/ops/microsoft/checks.h"
#include "ge/ops/microsoft/steps.h"

namespace ge {
namespace {

struct QuantLstmSizes {
  Dim dirs, steps, batch, input, hidden;
};

Result<QuantLstmSizes> ReadQuantLstm(InferContext& c) {
  const Node& n = c.node();
  const std::string_view way = AttrString(n, "direction");
  if (way != "forward" && way != "reverse" && way != "bidirectional") {
    return Bad(n, fmt::format("attribute 'direction' is '{:.64}', wanted forward, reverse or "
                              "bidirectional",
                              way));
  }
  if (HasAttr(n, "clip") && !(AttrFloat(n, "clip", 1) > 0)) {
    return Bad(n, fmt::format("attribute 'clip' is {}, wanted above 0",
                              static_cast<float>(AttrFloat(n, "clip", 1))));
  }
  const char* names[] = {"X", "W", "R"};
  for (size_t i = 0; i < 3; ++i) GE_RETURN_IF_ERROR(WantRankOf(c, i, names[i], 3, 3));
  const auto axis = [&](size_t i, size_t d) {
    const Type& t = c.input_type(i);
    return t.ranked ? t.dims[d] : c.FreshDim("lstm", false);
  };
  QuantLstmSizes s;
  s.dirs = KnownDim(way == "bidirectional" ? 2 : 1);
  s.steps = axis(0, 0);
  s.batch = axis(0, 1);
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

// Steps that are written out one by one; longer sequences run as one LSTM in floats.
constexpr int64_t kMostQuantLstmSteps = 512;

// A value in eight bits, by the range of what it holds then, with its scale and zero point.
struct QuantLstmCodes {
  ValueId codes, scale, zero;
};
QuantLstmCodes Quantized(Transaction& t, FunctionId fn, const Node& node, Steps* s, ValueId v) {
  const Type byte = TensorType(DType::kUint8, s->ShapeOf(v));
  const Type one = TensorType(DType::kFloat, Steps::Shape{});
  const Type point = TensorType(DType::kUint8, Steps::Shape{});
  const auto q =
      t.AddNode(fn, node.id, "", "DynamicQuantizeLinear", {v}, {}, {byte, one, point}, {&node});
  return {q[0], q[1], q[2]};
}

// x times quantized weights [rows, columns], summed in integers.
ValueId QuantLstmProduct(Steps* s, const QuantLstmCodes& x, const QuantLstmCodes& w) {
  const ValueId sums = s->IntegerProduct(x.codes, w.codes, x.zero, w.zero);
  return s->Pair("Mul", s->Cast(sums, DType::kFloat), s->Pair("Mul", w.scale, x.scale));
}

// One direction; answers Y [steps, batch, hidden], Y_h and Y_c [batch, hidden].
struct QuantLstmRun {
  ValueId y, h, c;
};
QuantLstmRun RunQuantLstm(Steps* s, Transaction& t, FunctionId fn, const Node& node, int64_t dir,
                          const QuantLstmCodes& x, bool backwards) {
  const int64_t steps = s->Size(x.codes, 0), batch = s->Size(x.codes, 1);
  const int64_t hidden = s->Size(s->In(2), 1);
  const auto of_dir = [&](ValueId v) {
    Steps::Shape shape = s->ShapeOf(v);
    shape.erase(shape.begin());
    return s->Reshape(s->Slice(v, 0, dir, dir + 1), shape);
  };
  const auto weights = [&](size_t codes, size_t scale) -> QuantLstmCodes {
    return {of_dir(s->In(codes)), of_dir(s->In(scale)), of_dir(s->In(scale + 1))};
  };
  const QuantLstmCodes r = weights(2, 10);
  ValueId gates = QuantLstmProduct(s, x, weights(1, 8));  // [steps, batch, 4 * hidden]
  if (s->Has(3)) {
    const ValueId b = of_dir(s->In(3));
    gates = s->Pair(
        "Add", gates,
        s->Pair("Add", s->Slice(b, 0, 0, 4 * hidden), s->Slice(b, 0, 4 * hidden, 8 * hidden)));
  }
  const auto start = [&](size_t input) {
    return s->Has(input)
               ? of_dir(s->In(input))
               : s->Node1("Expand", {s->Scalar(DType::kFloat, 0), s->Ints({batch, hidden})},
                          DType::kFloat, {batch, hidden});
  };
  QuantLstmRun run{0, start(5), start(6)};
  std::vector<ValueId> rows(static_cast<size_t>(steps));
  for (int64_t k = 0; k < steps; ++k) {
    const int64_t at = backwards ? steps - 1 - k : k;
    const ValueId here = s->Reshape(s->Slice(gates, 0, at, at + 1), {batch, 4 * hidden});
    const ValueId sum =
        s->Pair("Add", here, QuantLstmProduct(s, Quantized(t, fn, node, s, run.h), r));
    const auto gate = [&](const char* op, int64_t g) {
      return s->Map(op, {s->Slice(sum, 1, g * hidden, (g + 1) * hidden)});
    };
    // ONNX's order of gates: i, o, f, c.
    run.c = s->Pair("Add", s->Pair("Mul", gate("Sigmoid", 2), run.c),
                    s->Pair("Mul", gate("Sigmoid", 0), gate("Tanh", 3)));
    run.h = s->Pair("Mul", gate("Sigmoid", 1), s->Map("Tanh", {run.c}));
    rows[static_cast<size_t>(at)] = s->Reshape(run.h, {1, batch, hidden});
  }
  run.y = s->Concat(std::move(rows), 0);
  return run;
}

// As ONNX Runtime computes it: X as a whole, and the hidden state in every step, go through eight
// bits on their way into the products. Empty where the node is more than a plain LSTM.
std::vector<ValueId> WriteQuantLstmOut(Steps* s, Transaction& t, FunctionId fn, const Node& node) {
  const Steps::Shape x = s->ShapeOf(s->In(0)), r = s->ShapeOf(s->In(2));
  const bool plain = !s->Has(4) && !s->Has(7) && !HasAttr(node, "activations") &&
                     !HasAttr(node, "clip") && AttrInt(node, "input_forget") == 0;
  if (!plain || x[0] < 1 || x[0] > kMostQuantLstmSteps || x[1] * r[1] < 1) return {};
  const std::string_view way = AttrString(node, "direction");
  const QuantLstmCodes input = Quantized(t, fn, node, s, s->In(0));
  std::vector<ValueId> y, h, c;
  for (int64_t dir = 0; dir < r[0]; ++dir) {
    const bool backwards = way == "reverse" || dir == 1;
    const QuantLstmRun run = RunQuantLstm(s, t, fn, node, dir, input, backwards);
    y.push_back(s->Reshape(run.y, {x[0], 1, x[1], r[1]}));
    h.push_back(s->Reshape(run.h, {1, x[1], r[1]}));
    c.push_back(s->Reshape(run.c, {1, x[1], r[1]}));
  }
  std::vector<ValueId> out = s->NoOutputs();
  if (s->Wants(0)) out[0] = s->Concat(std::move(y), 1);
  if (s->Wants(1)) out[1] = s->Concat(std::move(h), 0);
  if (s->Wants(2)) out[2] = s->Concat(std::move(c), 0);
  return out;
}

// Where it is not written out, LSTM in floats: nearer to the float model than ONNX Runtime is.
std::vector<ValueId> DecomposeQuantLstm(Transaction& t, FunctionId fn, const Node& node) {
  if (!Steps::Ready(t, fn, node)) return {};
  Steps s(t, fn, node);
  if (auto out = WriteQuantLstmOut(&s, t, fn, node); !out.empty()) return out;
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
  op.attrs = {{"activation_alpha", AttrKind::kFloats},     {"activation_beta", AttrKind::kFloats},
              {"activations", AttrKind::kStrings},         {"clip", AttrKind::kFloat},
              {"direction", AttrKind::kString, "forward"}, {"hidden_size", AttrKind::kInt},
              {"input_forget", AttrKind::kInt, 0}};
  return op;
}

}  // namespace

// LSTM whose weights are quantized.
GE_OP(microsoft_dynamic_quantize_lstm) = QuantLstmRecord();

}  // namespace ge
