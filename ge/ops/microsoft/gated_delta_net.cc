#include "ge/ops/microsoft/checks.h"

namespace ge {
namespace {

constexpr int64_t kMostDeltaCaptures = 8;  // ONNX Runtime's limit

// Inputs by their places.
enum DeltaNetPort : size_t {
  kDeltaQuery,
  kDeltaKey,
  kDeltaValue,
  kDeltaCuSeqlens,
  kDeltaDecay,
  kDeltaBeta,
  kDeltaInitialState,
  kDeltaALog,
  kDeltaDtBias,
  kDeltaCaptureCount,
  kDeltaActive
};

Status WantDeltaWord(const Node& n, const char* name, std::initializer_list<const char*> words) {
  const std::string_view found = AttrString(n, name);
  for (const char* word : words) {
    if (found == word) return {};
  }
  return Bad(
      n, fmt::format("attribute '{}' is '{:.64}', wanted {}", name, found, fmt::join(words, ", ")));
}

Status CheckDeltaNetAttrs(const Node& n) {
  GE_RETURN_IF_ERROR(WantDeltaWord(n, "update_rule", {"linear", "gated", "delta", "gated_delta"}));
  GE_RETURN_IF_ERROR(
      WantDeltaWord(n, "gate_activation", {"none", "softplus", "qwen", "sigmoid", "kda"}));
  GE_RETURN_IF_ERROR(WantDeltaWord(n, "beta_activation", {"none", "sigmoid"}));
  GE_RETURN_IF_ERROR(WantFlag(n, "qk_l2_norm"));
  GE_RETURN_IF_ERROR(WantFiniteAttr(n, "scale"));
  const double lower = AttrFloat(n, "gate_lower_bound");
  if (!std::isfinite(lower) || lower >= 0) {
    return Bad(n, fmt::format("attribute 'gate_lower_bound' is {}, wanted a finite number below 0",
                              lower));
  }
  const int64_t capacity = AttrInt(n, "state_update_capacity");
  if (capacity >= 0 && capacity <= kMostDeltaCaptures) return {};
  return Bad(n, fmt::format("attribute 'state_update_capacity' is {}, wanted 0 to {}", capacity,
                            kMostDeltaCaptures));
}

// An input is there just when an attribute says so.
Status WantDeltaInput(const InferContext& c, size_t i, bool wanted, const char* name,
                      const std::string& attribute) {
  if (HasInput(c, i) == wanted) return {};
  return Bad(c.node(), fmt::format("input '{}' is {}, wanted the opposite for {}", name,
                                   wanted ? "absent" : "there", attribute));
}

Status CheckDeltaNetInputs(const InferContext& c) {
  const Node& n = c.node();
  const auto told = [&](const char* name) {
    return fmt::format("{} '{}'", name, AttrString(n, name));
  };
  const std::string_view rule = AttrString(n, "update_rule");
  const bool biased = AttrString(n, "gate_activation") != "none";
  const int64_t capacity = AttrInt(n, "state_update_capacity");
  const std::string captures = fmt::format("state_update_capacity {}", capacity);
  GE_RETURN_IF_ERROR(WantDeltaInput(c, kDeltaDecay, rule == "gated" || rule == "gated_delta",
                                    "decay", told("update_rule")));
  GE_RETURN_IF_ERROR(WantDeltaInput(c, kDeltaBeta, rule == "delta" || rule == "gated_delta", "beta",
                                    told("update_rule")));
  GE_RETURN_IF_ERROR(WantDeltaInput(c, kDeltaALog, biased, "a_log", told("gate_activation")));
  GE_RETURN_IF_ERROR(WantDeltaInput(c, kDeltaDtBias, biased, "dt_bias", told("gate_activation")));
  GE_RETURN_IF_ERROR(
      WantDeltaInput(c, kDeltaCaptureCount, capacity > 0, "capture_count", captures));
  if (HasInput(c, kDeltaKey) != HasInput(c, kDeltaValue)) {
    return Bad(n, "one of the inputs 'key' and 'value' is absent, wanted both, or all in 'query'");
  }
  const bool whole = HasInput(c, kDeltaKey) && HasInput(c, kDeltaCuSeqlens);
  if (!HasInput(c, kDeltaInitialState) && !whole) {
    return Bad(n,
               "input 'initial_state' is absent, wanted it beside packed queries or without "
               "'cu_seqlens'");
  }
  for (const size_t i : {kDeltaDecay, kDeltaBeta}) {
    if (!HasInput(c, i)) continue;
    const DType found = c.input_type(i).dtype, query = c.input_type(kDeltaQuery).dtype;
    if (found == DType::kFloat || found == query) continue;
    return Bad(
        n, fmt::format("input '{}' is {}, wanted f32 or the type of 'query', {}",
                       i == kDeltaDecay ? "decay" : "beta", DTypeName(found), DTypeName(query)));
  }
  return {};
}

// What the shapes say; `lead` are the axes of tokens, one or [batch, length].
struct DeltaNetSizes {
  std::vector<Dim> lead;
  Dim requests, heads, v_heads, size, v_size;
};

// (row - values) / 2 / size, where some of them are symbols.
std::optional<Dim> PackedHeads(InferContext& c, Dim row, const DeltaNetSizes& s) {
  const auto values = c.dims().Mul(s.v_heads, s.v_size);
  const auto keys = values ? c.dims().Sub(row, *values) : std::nullopt;
  const auto each = c.dims().Mul(s.size, KnownDim(2));
  return keys && each ? c.dims().FloorDiv(*keys, *each) : std::nullopt;
}

// Heads of queries: of packed rows what the values leave, halved.
Status ReadPackedDelta(InferContext& c, DeltaNetSizes* s) {
  const Type& q = c.input_type(kDeltaQuery);
  GE_RETURN_IF_ERROR(WantRankOf(c, kDeltaQuery, "query", 2, 3));
  if (!q.ranked) return {};
  s->lead.assign(q.dims.begin(), q.dims.end() - 1);
  const Dim row = q.dims.back();
  const bool known = row.known() && s->v_heads.known() && s->v_size.known() && s->size.known();
  if (!known) {
    s->heads = PackedHeads(c, row, *s).value_or(s->heads);
    return {};
  }
  const auto values = c.dims().Mul(s->v_heads, s->v_size);
  const int64_t keys = values && values->known() ? row.value - values->value : -1;
  if (keys > 0 && s->size.value > 0 && keys % 2 == 0 && keys / 2 % s->size.value == 0) {
    s->heads = KnownDim(keys / 2 / s->size.value);
    return {};
  }
  return Bad(c.node(), fmt::format("input 'query' has rows of {}, wanted queries and keys of heads "
                                   "of {} beside {} values of {}, as 'initial_state' says",
                                   row.value, s->size.value, s->v_heads.value, s->v_size.value));
}

Status ReadDeltaHeads(InferContext& c, DeltaNetSizes* s) {
  const char* names[] = {"query", "key", "value"};
  for (size_t i = 0; i < 3; ++i) {
    GE_RETURN_IF_ERROR(WantRankOf(c, i, names[i], 3, 4));
    const Type& t = c.input_type(i);
    if (!t.ranked) continue;
    Dim &heads = i < 2 ? s->heads : s->v_heads, &size = i < 2 ? s->size : s->v_size;
    const char* what = "heads and sizes of 'query', 'key' and 'value'";
    GE_ASSIGN_OR_RETURN(heads, SameDim(c, t.dims[t.rank() - 2], heads, what));
    GE_ASSIGN_OR_RETURN(size, SameDim(c, t.dims[t.rank() - 1], size, what));
    if (s->lead.empty()) s->lead.assign(t.dims.begin(), t.dims.end() - 2);
  }
  for (size_t i = 0; i < 3 && !s->lead.empty(); ++i) {
    std::vector<Dim> wanted = s->lead;
    wanted.push_back(i < 2 ? s->heads : s->v_heads);
    wanted.push_back(i < 2 ? s->size : s->v_size);
    GE_RETURN_IF_ERROR(WantShape(c, i, names[i], wanted));
  }
  return {};
}

// The number of requests: as cu_seqlens or the state says, and of what shape the tokens must be.
Status ReadDeltaRequests(InferContext& c, DeltaNetSizes* s) {
  const Node& n = c.node();
  if (HasInput(c, kDeltaCuSeqlens)) {
    GE_RETURN_IF_ERROR(WantRankOf(c, kDeltaCuSeqlens, "cu_seqlens", 1, 1));
    const Type& ends = c.input_type(kDeltaCuSeqlens);
    if (ends.ranked && ends.dims[0].known() && ends.dims[0].value < 1) {
      return Bad(n, "input 'cu_seqlens' has no element, wanted one more than there are requests");
    }
    if (ends.ranked) {
      GE_ASSIGN_OR_RETURN(s->requests, Checked(n, c.dims().Sub(ends.dims[0], KnownDim(1)),
                                               "the number of requests"));
    }
    if (s->lead.size() < 2) return {};
    return Bad(n, "input 'cu_seqlens' is there, wanted tokens along one axis, not [batch, length]");
  }
  if (s->lead.size() == 2) {
    GE_ASSIGN_OR_RETURN(
        s->requests, SameDim(c, s->lead[0], s->requests, "the batches of 'query' and the state"));
  }
  const bool known = s->lead.size() == 1 && s->lead[0].known() && s->requests.known();
  if (!known || s->requests.value == 0 || s->lead[0].value % s->requests.value == 0) return {};
  return Bad(n,
             fmt::format("input 'query' has {} tokens, wanted a multiple of the {} requests that "
                         "'initial_state' has",
                         s->lead[0].value, s->requests.value));
}

Result<DeltaNetSizes> ReadDeltaNet(InferContext& c) {
  DeltaNetSizes s{{},
                  c.FreshDim("requests", false),
                  c.FreshDim("heads", false),
                  c.FreshDim("value_heads", false),
                  c.FreshDim("head", false),
                  c.FreshDim("value", false)};
  const bool has_state = HasInput(c, kDeltaInitialState);
  if (has_state) {
    GE_RETURN_IF_ERROR(WantRankOf(c, kDeltaInitialState, "initial_state", 4, 4));
    const Type& state = c.input_type(kDeltaInitialState);
    if (state.ranked) {
      s.requests = state.dims[0];
      s.v_heads = state.dims[1];
      s.v_size = state.dims[2];
      s.size = state.dims[3];
    }
  }
  GE_RETURN_IF_ERROR(HasInput(c, kDeltaKey) ? ReadDeltaHeads(c, &s) : ReadPackedDelta(c, &s));
  GE_RETURN_IF_ERROR(ReadDeltaRequests(c, &s));
  if (has_state) {
    GE_RETURN_IF_ERROR(WantShape(c, kDeltaInitialState, "initial_state",
                                 {{s.requests, s.v_heads, s.v_size, s.size}}));
  }
  const bool known = s.heads.known() && s.v_heads.known();
  const bool fits =
      !known || (s.heads.value > 0 && s.v_heads.value > 0 && s.v_heads.value % s.heads.value == 0);
  if (fits && !(s.size.known() && s.size.value == 0)) return s;
  return Bad(c.node(), fmt::format("there are {} heads of queries of {} and {} of values, wanted a "
                                   "positive multiple, and elements",
                                   c.dims().ToString(s.heads), c.dims().ToString(s.size),
                                   c.dims().ToString(s.v_heads)));
}

// Shapes of decay, beta and what shapes them; answers the entries of a head in decay.
Result<Dim> CheckDeltaGates(InferContext& c, const DeltaNetSizes& s) {
  Dim each = KnownDim(1);
  std::vector<Dim> gates = s.lead;
  gates.push_back(s.v_heads);
  if (HasInput(c, kDeltaDecay) && !s.lead.empty() && c.input_type(kDeltaDecay).ranked) {
    std::vector<Dim> wanted = gates;
    if (c.input_type(kDeltaDecay).rank() == gates.size() + 1) wanted.push_back(each = s.size);
    GE_RETURN_IF_ERROR(WantShape(c, kDeltaDecay, "decay", wanted));
  } else if (HasInput(c, kDeltaDecay)) {  // one a head, or one an element
    each = c.FreshDim("decays", false);
  }
  if (HasInput(c, kDeltaBeta) && !s.lead.empty()) {
    GE_RETURN_IF_ERROR(WantShape(c, kDeltaBeta, "beta", gates));
  }
  GE_RETURN_IF_ERROR(WantVector(c, kDeltaALog, "a_log", s.v_heads));
  GE_RETURN_IF_ERROR(WantVector(c, kDeltaCaptureCount, "capture_count", s.requests));
  GE_RETURN_IF_ERROR(WantVector(c, kDeltaActive, "state_update_active", KnownDim(1)));
  if (!HasInput(c, kDeltaDtBias) || !c.input_type(kDeltaDtBias).ranked) return each;
  const Type& bias = c.input_type(kDeltaDtBias);
  const auto elements = ElementCount(bias);
  const auto all = c.dims().Mul(s.v_heads, each);
  const bool flat = bias.rank() == 1 && all &&
                    (!all->known() || !elements || *elements == all->value ||
                     (s.v_heads.known() && *elements == s.v_heads.value));
  if (flat) return each;
  std::vector<Dim> wanted = {s.v_heads};
  if (bias.rank() == 2) wanted.push_back(each);
  GE_RETURN_IF_ERROR(WantShape(c, kDeltaDtBias, "dt_bias", wanted));
  return each;
}

// Elements of a captured token: its decays, keys and corrected values.
Result<Dim> DeltaUpdateWidth(InferContext& c, const DeltaNetSizes& s, Dim each) {
  const Node& n = c.node();
  Dim sum = KnownDim(0);
  for (const auto& [heads, size] :
       {std::pair{s.v_heads, each}, std::pair{s.heads, s.size}, std::pair{s.v_heads, s.v_size}}) {
    GE_ASSIGN_OR_RETURN(const Dim part, Checked(n, c.dims().Mul(heads, size), "a state update"));
    GE_ASSIGN_OR_RETURN(sum, Checked(n, c.dims().Add(sum, part), "a state update"));
  }
  const Dim capacity = KnownDim(AttrInt(n, "state_update_capacity"));
  return Checked(n, c.dims().Mul(sum, capacity), "a state update");
}

Status InferDeltaNet(InferContext& c) {
  GE_RETURN_IF_ERROR(CheckDeltaNetAttrs(c.node()));
  GE_RETURN_IF_ERROR(CheckDeltaNetInputs(c));
  GE_ASSIGN_OR_RETURN(const DeltaNetSizes s, ReadDeltaNet(c));
  GE_ASSIGN_OR_RETURN(const Dim each, CheckDeltaGates(c, s));
  const DType dtype = c.input_type(kDeltaQuery).dtype;
  if (s.lead.empty()) {
    c.SetOutput(0, UnrankedTensor(dtype));
  } else {
    std::vector<Dim> dims = s.lead;
    dims.insert(dims.end(), {s.v_heads, s.v_size});
    GE_RETURN_IF_ERROR(SetTensor(c, 0, dtype, std::move(dims)));
  }
  if (c.output_count() > 1 && c.has_output(1)) {
    GE_RETURN_IF_ERROR(SetTensor(c, 1, DType::kFloat, {s.requests, s.v_heads, s.v_size, s.size}));
  }
  if (c.output_count() < 3 || !c.has_output(2)) return {};
  GE_ASSIGN_OR_RETURN(const Dim width, DeltaUpdateWidth(c, s, each));
  return SetTensor(c, 2, DType::kFloat, {s.requests, width});
}

// Three passes over the state for each token and head.
Work EffortDeltaNet(const Node&, std::span<const Type> in, std::span<const Type> out) {
  const Type* query = in.empty() ? nullptr : &in[0];
  const bool known = query != nullptr && query->is_static() && query->rank() > 1 && !out.empty();
  const double size = known ? static_cast<double>(query->dims.back().value) : 0;
  return {known ? 6 * size * ElementsOf(out[0]) : 0, BytesOf(in, out)};
}

OpDef DeltaNetRecord() {
  constexpr DTypeSet kReal = kFloats & ~Bit(DType::kDouble);
  constexpr DTypeSet kState = Bit(DType::kFloat), kCount = Bit(DType::kInt32);
  const Arity opt = Arity::kOptional;
  OpDef op = MicrosoftRecord("GatedDeltaNet", InferDeltaNet, nullptr);
  op.inputs = {{"query", kReal, "T"},
               {"key", kReal, "T", opt},
               {"value", kReal, "T", opt},
               {"cu_seqlens", kCount, "TI", opt},
               {"decay", kReal, "TG", opt},
               {"beta", kReal, "TG", opt},
               {"initial_state", kState, "TS", opt},
               {"a_log", kState, "TS", opt},
               {"dt_bias", kState, "TS", opt},
               {"capture_count", kCount, "TI", opt},
               {"state_update_active", kCount, "TI", opt}};
  op.outputs = {{"output", kReal, "T"},
                {"final_state", kState, "TS", opt},
                {"state_update", kState, "TS", opt}};
  op.attrs = {{"beta_activation", AttrKind::kString, "none"},
              {"chunk_size", AttrKind::kInt, 64},
              {"gate_activation", AttrKind::kString, "none"},
              {"gate_lower_bound", AttrKind::kFloat, -5.0f},
              {"qk_l2_norm", AttrKind::kInt, 0},
              {"scale", AttrKind::kFloat, 0.0f},
              {"state_update_capacity", AttrKind::kInt, 0},
              {"update_rule", AttrKind::kString, "gated_delta"}};
  op.work = EffortDeltaNet;
  return op;
}

}  // namespace

// Linear attention of requests whose tokens lie one behind the other, with its gates and the norms
// of queries and keys; chunk_size is a hint that changes nothing.
GE_OP(microsoft_gated_delta_net) = DeltaNetRecord();

}  // namespace ge
