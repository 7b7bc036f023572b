#include "ge/ops/microsoft/checks.h"
#include "ge/ops/microsoft/state_window.h"
#include "ge/ops/microsoft/steps.h"

namespace ge {
namespace {

struct LinearMsRule {
  bool gated = false, delta = false;
};

Result<LinearMsRule> ReadLinearMsRule(const Node& n) {
  const std::string_view rule = AttrString(n, "update_rule");
  const LinearMsRule r{rule == "gated" || rule == "gated_delta",
                       rule == "delta" || rule == "gated_delta"};
  if (r.gated || r.delta || rule == "linear") return r;
  return Bad(n, fmt::format("attribute 'update_rule' is '{:.64}', wanted linear, gated, delta or "
                            "gated_delta",
                            rule));
}

struct LinearMs {
  int64_t q_heads, kv_heads;
  Dim batch, steps, size, v_size;
};

Status CheckLinearMsAttrs(const Node& n) {
  const int64_t q = AttrInt(n, "q_num_heads"), kv = AttrInt(n, "kv_num_heads");
  if (q < 1 || kv < 1 || (q % kv != 0 && kv % q != 0)) {
    return Bad(n, fmt::format("attributes 'q_num_heads' and 'kv_num_heads' are {} and {}, wanted "
                              "positive numbers of which one is a multiple of the other",
                              q, kv));
  }
  GE_RETURN_IF_ERROR(WantStateWindow(n));
  return WantFiniteAttr(n, "scale");
}

// The hidden size of an input over its heads.
Result<Dim> LinearMsHead(InferContext& c, size_t i, const char* name, int64_t heads) {
  const Type& t = c.input_type(i);
  if (!t.ranked) return c.FreshDim("head", false);
  const Dim hidden = t.dims[2];
  if (hidden.known() && (hidden.value % heads != 0 || hidden.value == 0)) {
    return Bad(c.node(), fmt::format("input '{}' has hidden size {}, wanted a multiple of its {} "
                                     "heads",
                                     name, hidden.value, heads));
  }
  return Checked(c.node(), c.dims().FloorDiv(hidden, KnownDim(heads)), "the size of a head");
}

// Keys may have fewer heads than the state, which share them.
Status WantLinearMsKey(InferContext& c, const LinearMs& s) {
  const Type& key = c.input_type(1);
  if (!key.ranked || !key.dims[2].known() || !s.size.known()) return {};
  const int64_t hidden = key.dims[2].value, heads = hidden / s.size.value;
  if (heads > 0 && hidden % s.size.value == 0 && s.kv_heads % heads == 0) return {};
  return Bad(c.node(), fmt::format("input 'key' has hidden size {}, wanted heads of {} whose "
                                   "number divides 'kv_num_heads', {}",
                                   hidden, s.size.value, s.kv_heads));
}

Result<LinearMs> ReadLinearMs(InferContext& c) {
  const Node& n = c.node();
  LinearMs s{AttrInt(n, "q_num_heads"),
             AttrInt(n, "kv_num_heads"),
             c.FreshDim("batch", false),
             c.FreshDim("steps", false),
             {},
             {}};
  const char* names[] = {"query", "key", "value"};
  for (size_t i = 0; i < 3; ++i) {
    GE_RETURN_IF_ERROR(WantRankOf(c, i, names[i], 3, 3));
    const Type& t = c.input_type(i);
    if (!t.ranked) continue;
    const char* what = "batch size and length of 'query', 'key' and 'value'";
    GE_ASSIGN_OR_RETURN(s.batch, SameDim(c, t.dims[0], s.batch, what));
    GE_ASSIGN_OR_RETURN(s.steps, SameDim(c, t.dims[1], s.steps, what));
  }
  GE_ASSIGN_OR_RETURN(s.size, LinearMsHead(c, 0, "query", s.q_heads));
  GE_ASSIGN_OR_RETURN(s.v_size, LinearMsHead(c, 2, "value", s.kv_heads));
  GE_RETURN_IF_ERROR(WantLinearMsKey(c, s));
  return s;
}

// decay and beta have to be there when the rule reads them; their last axis may have two sizes.
Status CheckLinearMsGates(InferContext& c, const LinearMs& s, const LinearMsRule& rule) {
  const Node& n = c.node();
  for (size_t i = 4; i < 6; ++i) {
    const char* name = i == 4 ? "decay" : "beta";
    if (!HasInput(c, i)) {
      if (i == 4 ? !rule.gated : !rule.delta) continue;
      return Bad(n, fmt::format("input '{}' is absent, wanted it for update_rule {}", name,
                                AttrString(n, "update_rule")));
    }
    GE_RETURN_IF_ERROR(WantRankOf(c, i, name, 3, 3));
    const Type& t = c.input_type(i);
    if (!t.ranked) continue;
    GE_ASSIGN_OR_RETURN(const Dim all, Checked(n, c.dims().Mul(s.size, KnownDim(s.kv_heads)),
                                               "the hidden size of the keys"));
    const Dim last = t.dims[2], other = i == 4 ? all : KnownDim(1);
    if (last.known() && last.value != s.kv_heads && other.known() && last != other) {
      return Bad(n, fmt::format("input '{}' has shape {}, wanted the last size {} or {}", name,
                                Show(c.dims(), t.dims), s.kv_heads, c.dims().ToString(other)));
    }
    GE_RETURN_IF_ERROR(WantShape(c, i, name, {{s.batch, s.steps, last}}));
  }
  return {};
}

Status InferLinearMs(InferContext& c) {
  const Node& n = c.node();
  GE_RETURN_IF_ERROR(CheckLinearMsAttrs(n));
  GE_ASSIGN_OR_RETURN(const LinearMsRule rule, ReadLinearMsRule(n));
  GE_ASSIGN_OR_RETURN(const LinearMs s, ReadLinearMs(c));
  GE_RETURN_IF_ERROR(CheckLinearMsGates(c, s, rule));
  std::vector<Dim> state = {s.batch, KnownDim(s.kv_heads), s.size, s.v_size};
  const int64_t window = AttrInt(n, "state_window");
  if (window > 0) state.insert(state.begin(), KnownDim(window));
  if (HasInput(c, 3)) GE_RETURN_IF_ERROR(WantShape(c, 3, "past_state", state));
  const int64_t heads = std::max(s.q_heads, s.kv_heads);
  GE_ASSIGN_OR_RETURN(const Dim hidden, Checked(n, c.dims().Mul(s.v_size, KnownDim(heads)),
                                                "the hidden size of 'output'"));
  const DType dtype = c.input_type(0).dtype;
  GE_RETURN_IF_ERROR(SetTensor(c, 0, dtype, {s.batch, s.steps, hidden}));
  if (c.output_count() < 2 || !c.has_output(1)) return {};
  return SetTensor(c, 1, HasInput(c, 3) ? c.input_type(3).dtype : dtype, std::move(state));
}

// Each head of [batch, steps, hidden] so many times.
ValueId RepeatHeads(Steps* s, ValueId x, int64_t heads, int64_t times) {
  if (times == 1) return x;
  const Steps::Shape shape = s->ShapeOf(x);
  const int64_t size = shape[2] / heads;
  const Steps::Shape all = {shape[0], shape[1], heads, times, size};
  const ValueId one = s->Reshape(x, {shape[0], shape[1], heads, 1, size});
  const ValueId many = s->Node1("Expand", {one, s->Ints(all)}, s->DTypeOf(x), all);
  return s->Reshape(many, {shape[0], shape[1], times * shape[2]});
}

// What ONNX's operator takes: as many heads of keys as of values, and a multiple of them of
// queries. In the dtype of the steps; absent where the rule does not read it.
struct LinearMsInputs {
  ValueId query, key, value, past, decay, beta;
};

LinearMsInputs ReadLinearMsInputs(Steps* s, const Node& node, const LinearMsRule& rule) {
  const DType step = StepDType(s->DTypeOf(s->In(0)));
  const auto in = [&](size_t i) { return s->Has(i) ? s->Cast(s->In(i), step) : ValueId{0}; };
  const int64_t q = AttrInt(node, "q_num_heads"), kv = AttrInt(node, "kv_num_heads");
  const int64_t keys = s->Size(s->In(1), 2) / (s->Size(s->In(0), 2) / q);
  const int64_t window = AttrInt(node, "state_window");
  LinearMsInputs r{RepeatHeads(s, in(0), q, std::max<int64_t>(1, kv / q)),
                   RepeatHeads(s, in(1), keys, kv / keys),
                   in(2),
                   in(3),
                   rule.gated ? in(4) : 0,
                   rule.delta ? in(5) : 0};
  if (r.past != 0 && window > 0) {
    Steps::Shape slot = s->ShapeOf(r.past);
    slot.erase(slot.begin());
    r.past = s->Reshape(s->Slice(r.past, 0, window - 1, window), slot);
  }
  return r;
}

// The tokens [begin, end) from a state on; answers the output and the state.
std::vector<ValueId> LinearMsTokens(Steps* s, const Node& node, const LinearMsInputs& in,
                                    ValueId past, int64_t begin, int64_t end) {
  const auto cut = [&](ValueId v) { return v == 0 ? v : s->Slice(v, 1, begin, end); };
  const int64_t kv = AttrInt(node, "kv_num_heads"), q = std::max(kv, AttrInt(node, "q_num_heads"));
  const int64_t batch = s->Size(in.query, 0), size = s->Size(in.query, 2) / q;
  const int64_t v_size = s->Size(in.value, 2) / kv;
  const DType step = s->DTypeOf(in.query);
  return s->NodeN("LinearAttention",
                  {cut(in.query), cut(in.key), cut(in.value), past, cut(in.decay), cut(in.beta)},
                  {TensorType(step, Steps::Shape{batch, end - begin, q * v_size}),
                   TensorType(step, Steps::Shape{batch, kv, size, v_size})},
                  {{"q_num_heads", q},
                   {"kv_num_heads", kv},
                   {"scale", AttrFloat(node, "scale")},
                   {"chunk_size", AttrInt(node, "chunk_size")},
                   {"update_rule", std::string(AttrString(node, "update_rule"))}});
}

// All tokens but those of the window at once, then one by one those whose states it holds.
std::vector<ValueId> DecomposeLinearMs(Transaction& t, FunctionId fn, const Node& node) {
  const auto rule = ReadLinearMsRule(node);
  if (!rule.ok() || !Steps::Ready(t, fn, node)) return {};
  Steps s(t, fn, node);
  const LinearMsInputs in = ReadLinearMsInputs(&s, node, *rule);
  const int64_t steps = s.Size(in.query, 1), window = AttrInt(node, "state_window");
  const int64_t states = s.Wants(1) ? StatesInWindow(window, steps) : 1;
  std::vector<ValueId> outputs, kept;
  ValueId past = in.past;
  for (int64_t i = 0, begin = 0; i < states; ++i) {
    const int64_t end = steps - (states - 1 - i);
    const std::vector<ValueId> piece = LinearMsTokens(&s, node, in, past, begin, end);
    outputs.push_back(piece[0]);
    kept.push_back(past = piece[1]);
    begin = end;
  }
  std::vector<ValueId> out = s.NoOutputs();
  if (s.Wants(0)) {
    const ValueId all = outputs.size() == 1 ? outputs[0] : s.Concat(outputs, 1);
    out[0] = s.Cast(all, s.OutDType(0));
  }
  if (s.Wants(1)) out[1] = s.Cast(window > 0 ? s.Window(kept, window) : past, s.OutDType(1));
  return out;
}

OpDef LinearMsRecord() {
  constexpr DTypeSet kReal = kFloats & ~Bit(DType::kDouble);
  const Arity opt = Arity::kOptional;
  OpDef op = MicrosoftRecord("LinearAttention", InferLinearMs, DecomposeLinearMs);
  op.inputs = {{"query", kReal, "T"},      {"key", kReal, "T"},
               {"value", kReal, "T"},      {"past_state", kReal, "S", opt},
               {"decay", kReal, "T", opt}, {"beta", kReal, "T", opt}};
  op.outputs = {{"output", kReal, "T"}, {"present_state", kReal, "S"}};
  op.attrs = {
      {"chunk_size", AttrKind::kInt, 64},    {"kv_num_heads", AttrKind::kInt, true},
      {"q_num_heads", AttrKind::kInt, true}, {"scale", AttrKind::kFloat, 0.0f},
      {"state_window", AttrKind::kInt, 0},   {"update_rule", AttrKind::kString, "gated_delta"}};
  return op;
}

}  // namespace

// ONNX's LinearAttention, whose keys, and whose queries, may have fewer heads than the state; with
// a window it hands on the state after each of the last tokens.
GE_OP(microsoft_linear_attention) = LinearMsRecord();

}  // namespace ge
