#include <fmt/format.h>

#include <cmath>

#include "ge/ops/infer_shapes.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

constexpr DTypeSet kTypesLinear = kFloats & ~Bit(DType::kDouble);

struct LinearSizes {
  int64_t q_heads, kv_heads;
  Dim batch, steps, size, v_size;
};

// Hidden size of input `i` over its heads.
Result<Dim> LinearHead(InferContext& c, size_t i, int64_t heads) {
  const char* names[] = {"query", "key", "value"};
  const Type& t = c.input_type(i);
  if (!t.ranked) return c.FreshDim("head", false);
  if (t.dims[2].known() && t.dims[2].value % heads != 0) {
    return Bad(c.node(), fmt::format("input '{}' has hidden size {}, wanted a multiple of its {} "
                                     "heads",
                                     names[i], t.dims[2].value, heads));
  }
  return Checked(c.node(), c.dims().FloorDiv(t.dims[2], KnownDim(heads)), "the size of a head");
}

Result<LinearSizes> ReadLinear(InferContext& c) {
  const Node& n = c.node();
  LinearSizes s{};
  s.q_heads = AttrInt(n, "q_num_heads");
  s.kv_heads = AttrInt(n, "kv_num_heads");
  if (s.q_heads < 1 || s.kv_heads < 1 || s.q_heads % s.kv_heads != 0) {
    return Bad(n, fmt::format("attributes 'q_num_heads' and 'kv_num_heads' are {} and {}, wanted a "
                              "positive multiple",
                              s.q_heads, s.kv_heads));
  }
  s.batch = c.FreshDim("batch", false);
  s.steps = c.FreshDim("steps", false);
  for (size_t i = 0; i < 3; ++i) {
    const Type& t = c.input_type(i);
    if (!t.ranked) continue;
    if (t.rank() != 3) {
      return Bad(n, fmt::format("input {} has shape {}, wanted rank 3: [batch, length, hidden]", i,
                                Show(c.dims(), t.dims)));
    }
    const char* what = "batch size and length of 'query', 'key' and 'value'";
    GE_ASSIGN_OR_RETURN(s.batch, SameDim(c, t.dims[0], s.batch, what));
    GE_ASSIGN_OR_RETURN(s.steps, SameDim(c, t.dims[1], s.steps, what));
  }
  GE_ASSIGN_OR_RETURN(const Dim q, LinearHead(c, 0, s.q_heads));
  GE_ASSIGN_OR_RETURN(const Dim k, LinearHead(c, 1, s.kv_heads));
  GE_ASSIGN_OR_RETURN(s.size, SameDim(c, q, k, "size of a head of 'query' and 'key'"));
  GE_ASSIGN_OR_RETURN(s.v_size, LinearHead(c, 2, s.kv_heads));
  return s;
}

// decay and beta are there just when the rule has them; their last axis may have two sizes.
Status CheckLinearGates(InferContext& c, const LinearSizes& s) {
  const Node& n = c.node();
  const std::string_view rule = AttrString(n, "update_rule");
  const bool gated = rule == "gated" || rule == "gated_delta";
  const bool delta = rule == "delta" || rule == "gated_delta";
  if (!gated && !delta && rule != "linear") {
    return Bad(n, fmt::format("attribute 'update_rule' is '{:.64}', wanted linear, gated, delta or "
                              "gated_delta",
                              rule));
  }
  for (size_t i = 4; i < 6; ++i) {
    const char* name = i == 4 ? "decay" : "beta";
    const bool wanted = i == 4 ? gated : delta, has = c.input_count() > i && c.has_input(i);
    if (has != wanted) {
      return Bad(n, fmt::format("input '{}' is {}, wanted the opposite for update_rule {}", name,
                                has ? "there" : "absent", rule));
    }
    if (!has || !c.input_type(i).ranked) continue;
    const Type& t = c.input_type(i);
    const Dim last = t.rank() == 3 ? t.dims[2] : KnownDim(0);
    GE_ASSIGN_OR_RETURN(const Dim all, Checked(n, c.dims().Mul(s.size, KnownDim(s.kv_heads)),
                                               "the hidden size of 'key'"));
    const Dim other = i == 4 ? all : KnownDim(1);
    if (last.known() && last.value != s.kv_heads && other.known() && last != other) {
      return Bad(n,
                 fmt::format("input '{}' has shape {}, wanted rank 3 and last size {} or {}", name,
                             Show(c.dims(), t.dims), s.kv_heads, c.dims().ToString(other)));
    }
    const Dim dims[] = {s.batch, s.steps, last};
    GE_RETURN_IF_ERROR(WantShape(c, i, name, dims));
  }
  return {};
}

Status InferLinear(InferContext& c) {
  GE_ASSIGN_OR_RETURN(const LinearSizes s, ReadLinear(c));
  GE_RETURN_IF_ERROR(CheckLinearGates(c, s));
  if (!std::isfinite(AttrFloat(c.node(), "scale"))) {
    return Bad(c.node(), "attribute 'scale' is not finite, wanted a number");
  }
  const std::vector<Dim> state = {s.batch, KnownDim(s.kv_heads), s.size, s.v_size};
  const bool has_state = c.input_count() > 3 && c.has_input(3);
  if (has_state) GE_RETURN_IF_ERROR(WantShape(c, 3, "past_state", state));
  GE_ASSIGN_OR_RETURN(const Dim hidden,
                      Checked(c.node(), c.dims().Mul(s.v_size, KnownDim(s.q_heads)),
                              "the hidden size of 'output'"));
  const DType dtype = c.input_type(0).dtype;
  GE_RETURN_IF_ERROR(SetTensor(c, 0, dtype, {s.batch, s.steps, hidden}));
  if (c.output_count() < 2 || !c.has_output(1)) return {};
  // Nothing says what type a first state has: that of the query, as in ONNX's definition.
  return SetTensor(c, 1, has_state ? c.input_type(3).dtype : dtype, state);
}

// Four passes over the state for each token and head, one more for each further query.
Work EffortLinear(const Node& n, std::span<const Type> in, std::span<const Type> out) {
  if (in.size() < 3 || !in[0].is_static() || !in[2].is_static() || in[2].rank() != 3) {
    return {0, BytesOf(in, out)};
  }
  const double heads = static_cast<double>(AttrInt(n, "kv_num_heads", 1));
  const double v_size = static_cast<double>(in[2].dims[2].value) / heads;
  return {(6 * ElementsOf(in[1]) + 2 * ElementsOf(in[0])) * v_size, BytesOf(in, out)};
}

OpDef LinearRecord() {
  const DTypeSet types = kTypesLinear;
  const Arity opt = Arity::kOptional;
  OpDef op{"", "LinearAttention", 27, {}, {}, {}, InferLinear, EffortLinear};
  op.inputs = {{"query", types, "T"},      {"key", types, "T"},
               {"value", types, "T"},      {"past_state", types, "S", opt},
               {"decay", types, "T", opt}, {"beta", types, "T", opt}};
  op.outputs = {{"output", types, "T"}, {"present_state", types, "S"}};
  op.attrs = {{"chunk_size", AttrKind::kInt, 64},
              {"kv_num_heads", AttrKind::kInt, true},
              {"q_num_heads", AttrKind::kInt, true},
              {"scale", AttrKind::kFloat, 0.0f},
              {"update_rule", AttrKind::kString, "gated_delta"}};
  return op;
}

}  // namespace

// Attention without softmax, token by token: a state of outer products of keys and values that may
// decay and be corrected. chunk_size is a hint that changes nothing.
GE_OP(linear_attention) = LinearRecord();

}  // namespace ge
