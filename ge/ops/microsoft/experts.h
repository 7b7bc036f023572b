// What com.microsoft's mixtures of experts share: a router picks k experts for each token; each is
// two products of matrices with an activation between them, and their results are added up by the
// router's shares. Not an operator. Any thread may call.
//
// T tokens, E experts, H the size of a token, I that between the products, W that of the first
// product's result: I, or 2 x I where a gate comes out of the same product.
#pragma once

#include "ge/ops/microsoft/checks.h"
#include "ge/ops/microsoft/steps.h"

namespace ge {

// Numbers of the inputs: weights and biases of the first product, the second and the gate's.
struct ExpertPorts {
  size_t weights[3], biases[3];
};

inline bool IsGatedExpert(const Node& n) {
  const std::string_view kind = AttrString(n, "activation_type");
  return kind == "swiglu" || kind == "geglu";
}
// Whether the first product gives gates and gated numbers, side by side or one after the other.
inline bool IsFusedExpert(const Node& n) {
  return IsGatedExpert(n) && AttrInt(n, "swiglu_fusion") != 0;
}

inline Status CheckExpertActivation(const Node& n, bool third) {
  const std::string_view kind = AttrString(n, "activation_type");
  bool known = false;
  for (const char* one : {"relu", "gelu", "silu", "swiglu", "identity", "relu2", "geglu"}) {
    known = known || kind == one;
  }
  if (!known) {
    return Bad(n, fmt::format("attribute 'activation_type' is '{:.64}', wanted relu, gelu, silu, "
                              "swiglu, identity, relu2 or geglu",
                              kind));
  }
  const int64_t fusion = AttrInt(n, "swiglu_fusion");
  if (fusion < 0 || fusion > 2) {
    return Bad(n, fmt::format("attribute 'swiglu_fusion' is {}, wanted 0 (the gated numbers come "
                              "from fc3), 1 (beside the gates) or 2 (behind them)",
                              fusion));
  }
  if (kind == "geglu" && fusion == 0) {
    return Bad(n,
               "attribute 'swiglu_fusion' is 0 where 'activation_type' is 'geglu', wanted 1 or 2");
  }
  if (kind == "swiglu" && fusion == 0 && !third) {
    return Bad(n,
               "attribute 'swiglu_fusion' is 0 without input 'fc3_experts_weights', wanted that "
               "input, or 1 or 2");
  }
  if (IsFusedExpert(n) && third) {
    return Bad(n, fmt::format("attribute 'swiglu_fusion' is {} with input 'fc3_experts_weights', "
                              "wanted 0 or the node without it",
                              fusion));
  }
  return {};
}

inline Status CheckExpertAttrs(const Node& n) {
  const int64_t k = AttrInt(n, "k");
  if (k < 1) return Bad(n, fmt::format("attribute 'k' is {}, wanted at least 1", k));
  GE_RETURN_IF_ERROR(WantFlag(n, "normalize_routing_weights"));
  // ONNX Runtime's engines disagree: on the CPU it changes nothing.
  GE_RETURN_IF_ERROR(RefuseAttr(n, "use_sparse_mixer", 0));
  GE_RETURN_IF_ERROR(WantFiniteAttr(n, "activation_alpha"));
  GE_RETURN_IF_ERROR(WantFiniteAttr(n, "activation_beta"));
  GE_RETURN_IF_ERROR(WantFlag(n, "swiglu_limit_after_activation"));
  if (AttrInt(n, "swiglu_limit_after_activation") != 0 &&
      AttrString(n, "activation_type") != "swiglu") {
    return Bad(n, fmt::format("attribute 'swiglu_limit_after_activation' is 1 where "
                              "'activation_type' is '{:.64}', wanted 0 or 'swiglu'",
                              AttrString(n, "activation_type")));
  }
  const double limit = AttrFloat(n, "swiglu_limit", 0);
  if (limit >= 0) return {};
  return Bad(n, fmt::format("attribute 'swiglu_limit' is {}, wanted at least 0", limit));
}

struct ExpertDims {
  Dim tokens, experts, hidden, inter, wide;
};

// All that does not depend on how weights are kept; `inter` is I as the second weight says it.
inline Result<ExpertDims> CheckExperts(InferContext& c, const ExpertPorts& ports, Dim inter) {
  const Node& n = c.node();
  GE_RETURN_IF_ERROR(CheckExpertAttrs(n));
  GE_RETURN_IF_ERROR(CheckExpertActivation(n, HasInput(c, ports.weights[2])));
  GE_RETURN_IF_ERROR(WantRankOf(c, 0, "input", 2, 3));
  GE_RETURN_IF_ERROR(WantRankOf(c, 1, "router_probs", 2, 2));
  const Type &x = c.input_type(0), &router = c.input_type(1),
             &first = c.input_type(ports.weights[0]);
  ExpertDims d;
  d.hidden = x.ranked ? x.dims.back() : c.FreshDim("hidden", false);
  d.tokens = router.ranked ? router.dims[0] : c.FreshDim("tokens", false);
  if (x.ranked) {
    d.tokens = x.dims[0];
    if (x.rank() == 3) {
      GE_ASSIGN_OR_RETURN(d.tokens,
                          Checked(n, c.dims().Mul(x.dims[0], x.dims[1]), "the number of tokens"));
    }
  }
  d.experts = router.ranked                       ? router.dims[1]
              : first.ranked && first.rank() == 3 ? first.dims[0]
                                                  : c.FreshDim("experts", false);
  GE_RETURN_IF_ERROR(WantShape(c, 1, "router_probs", {{d.tokens, d.experts}}));
  const int64_t k = AttrInt(n, "k");
  if (d.experts.known() && k > d.experts.value) {
    return Bad(n, fmt::format("attribute 'k' is {}, wanted at most {}, the number of experts", k,
                              d.experts.value));
  }
  d.inter = d.wide = inter;
  if (IsFusedExpert(n)) {
    GE_ASSIGN_OR_RETURN(d.wide, Checked(n, c.dims().Mul(inter, KnownDim(2)), "the size of gates"));
  }
  const Dim sizes[] = {d.wide, d.hidden, d.inter};
  const char* names[] = {"fc1_experts_bias", "fc2_experts_bias", "fc3_experts_bias"};
  for (size_t i = 0; i < 3; ++i) {
    if (!HasInput(c, ports.biases[i])) continue;
    GE_RETURN_IF_ERROR(WantShape(c, ports.biases[i], names[i], {{d.experts, sizes[i]}}));
  }
  if (HasInput(c, ports.biases[2]) && !HasInput(c, ports.weights[2])) {
    return Bad(n, "input 'fc3_experts_bias' is given without 'fc3_experts_weights', wanted both");
  }
  return d;
}

// ---- steps -------------------------------------------------------------------------------------

// A few tokens take their experts' weights, one token a column; many go through all experts, and
// what the router did not pick counts nothing. In both a group is an expert at work: T x k or E.
struct Experts {
  int64_t tokens = 0, experts = 0, hidden = 0, inter = 0, wide = 0, k = 0;
  DType step = DType::kFloat;
  ValueId picks = 0, shares = 0;  // [T,k]: experts in int64, and their shares

  bool gathers() const { return tokens * k <= experts; }
  int64_t groups() const { return gathers() ? tokens * k : experts; }
  int64_t columns() const { return gathers() ? 1 : tokens; }
};

// What the groups have of a tensor of all experts.
inline ValueId OfGroups(Steps* s, const Experts& e, ValueId value) {
  return e.gathers() ? s->Gather(value, s->Reshape(e.picks, {e.groups()})) : value;
}

// The places of the k greatest numbers of each row; of equal ones the last, as in ONNX Runtime.
inline ValueId AddPicks(Steps* s, ValueId scores, int64_t experts, int64_t k) {
  Steps::Shape backwards;
  for (int64_t i = experts; i-- > 0;) backwards.push_back(i);
  const Steps::Shape shape = s->ShapeOf(scores);
  const ValueId turned = s->Node1("Gather", {scores, s->Ints(backwards)}, s->DTypeOf(scores), shape,
                                  {{"axis", int64_t{1}}});
  const ValueId places = s->Greatest(turned, k)[1];
  const ValueId last = s->Scalar(DType::kInt64, static_cast<double>(experts - 1));
  return s->Node1("Sub", {last, places}, DType::kInt64, {shape[0], k});
}

inline ValueId AtPicks(Steps* s, const Experts& e, ValueId table) {
  return s->Node1("GatherElements", {table, e.picks}, s->DTypeOf(table), {e.tokens, e.k},
                  {{"axis", int64_t{1}}});
}

inline ValueId AddSumOne(Steps* s, ValueId shares) {
  return s->Pair("Div", shares, s->Reduce("ReduceSum", shares, {1}));
}

// A product of each group's weight, [G,N,K], and its columns, [G,K,C] or [K,C] for all groups.
inline ValueId AddExpertProduct(Steps* s, const Experts& e, ValueId weight, ValueId columns,
                                ValueId bias) {
  const ValueId y = s->MatMul(weight, columns);
  if (bias == 0) return y;
  const ValueId mine = OfGroups(s, e, s->Cast(bias, e.step));
  return s->Pair("Add", y, s->Reshape(mine, {e.groups(), s->Size(mine, 1), 1}));
}

inline ValueId AddSwish(Steps* s, ValueId x, double alpha) {
  return s->Pair("Mul", x, s->Map("Sigmoid", {s->Times(x, alpha)}));
}

inline ValueId AddExpertCurve(Steps* s, std::string_view kind, ValueId x) {
  if (kind == "relu") return s->Map("Relu", {x});
  if (kind == "silu") return AddSwish(s, x, 1);
  if (kind == "gelu") return s->Map("Gelu", {x}, {{"approximate", std::string("tanh")}});
  if (kind != "relu2") return x;
  const ValueId half = s->Map("Relu", {x});
  return s->Pair("Mul", half, half);
}

// gate * sigmoid(alpha * gate) * (value + beta), or Gelu(gate) * value. A limit clips the value,
// and the gate before its activation or behind it.
inline ValueId AddGatedExpert(Steps* s, const Experts& e, const Node& n, ValueId gate,
                              ValueId value) {
  if (AttrString(n, "activation_type") == "geglu") {
    return s->Pair("Mul", s->Map("Gelu", {gate}, {{"approximate", std::string("tanh")}}), value);
  }
  const bool limited = HasAttr(n, "swiglu_limit");
  const bool after = AttrInt(n, "swiglu_limit_after_activation") != 0;
  const double limit = AttrFloat(n, "swiglu_limit", 0);
  const auto clipped = [&](ValueId v) { return s->Map("Clip", {v, 0, s->Scalar(e.step, limit)}); };
  if (limited) {
    value = s->Map("Clip", {value, s->Scalar(e.step, -limit), s->Scalar(e.step, limit)});
    if (!after) gate = clipped(gate);
  }
  const double beta = AttrFloat(n, "activation_beta");
  if (beta != 0) value = s->Pair("Add", value, s->Scalar(e.step, beta));
  gate = AddSwish(s, gate, AttrFloat(n, "activation_alpha"));
  return s->Pair("Mul", limited && after ? clipped(gate) : gate, value);
}

// Both halves of [G,W,C]: side by side, or one behind the other.
inline ValueId AddFusedExpert(Steps* s, const Experts& e, const Node& n, ValueId both) {
  const int64_t g = e.groups(), columns = e.columns();
  const auto half = [&](int64_t which) {
    if (AttrInt(n, "swiglu_fusion") == 2) {
      return s->Slice(both, 1, which * e.inter, (which + 1) * e.inter);
    }
    const ValueId pairs = s->Reshape(both, {g, e.inter, 2, columns});
    return s->Reshape(s->Slice(pairs, 2, which, which + 1), {g, e.inter, columns});
  };
  const ValueId gate = half(0);
  return AddGatedExpert(s, e, n, gate, half(1));
}

// The groups' results [G,H,C] by their shares, added up: [T,H]. What an expert gives for a token
// that does not take it may be infinite, and counts nothing.
inline ValueId AddShared(Steps* s, const Experts& e, ValueId results) {
  ValueId shares = 0;
  if (e.gathers()) {
    shares = s->Reshape(e.shares, {e.groups(), 1, 1});
  } else {
    const Steps::Shape table = {e.tokens, e.experts};
    const ValueId none = s->Node1("Expand", {s->Scalar(e.step, 0), s->Ints(table)}, e.step, table);
    const ValueId all = s->Node1("ScatterElements", {none, e.picks, e.shares}, e.step, table,
                                 {{"axis", int64_t{1}}});
    shares = s->Reshape(s->Transpose(all, {1, 0}), {e.experts, 1, e.tokens});
  }
  const ValueId counts = s->Pair("Greater", shares, s->Scalar(e.step, 0), DType::kBool);
  const ValueId each = s->Choose(counts, s->Pair("Mul", results, shares), s->Scalar(e.step, 0));
  if (e.gathers()) {
    const ValueId sums = s->Reduce("ReduceSum", s->Reshape(each, {e.tokens, e.k, e.hidden}), {1});
    return s->Reshape(sums, {e.tokens, e.hidden});
  }
  const ValueId sums = s->Reduce("ReduceSum", each, {0});
  return s->Transpose(s->Reshape(sums, {e.hidden, e.tokens}), {1, 0});
}

// The tokens as columns: [H,T] for every group, or one of its own for each, [T x k,H,1].
inline ValueId AddColumns(Steps* s, const Experts& e, ValueId input) {
  const ValueId x = s->Reshape(s->Cast(input, e.step), {e.tokens, e.hidden});
  if (!e.gathers()) return s->Transpose(x, {1, 0});
  const Steps::Shape each = {e.tokens, e.k, e.hidden};
  const ValueId wide =
      s->Node1("Expand", {s->Reshape(x, {e.tokens, 1, e.hidden}), s->Ints(each)}, e.step, each);
  return s->Reshape(wide, {e.groups(), e.hidden, 1});
}

// From picks, shares and the groups' weights [G,N,K] to the result; the third weight may be absent.
inline ValueId AddExperts(Steps* s, const Experts& e, const Node& n, const ExpertPorts& ports,
                          const std::vector<ValueId>& weights) {
  const ValueId x = AddColumns(s, e, s->In(0));
  ValueId h = AddExpertProduct(s, e, weights[0], x, s->In(ports.biases[0]));
  if (IsFusedExpert(n)) {
    h = AddFusedExpert(s, e, n, h);
  } else {
    const ValueId third =
        weights[2] == 0 ? 0 : AddExpertProduct(s, e, weights[2], x, s->In(ports.biases[2]));
    if (IsGatedExpert(n)) {
      h = AddGatedExpert(s, e, n, h, third);
    } else {
      h = AddExpertCurve(s, AttrString(n, "activation_type"), h);
      if (third != 0) h = s->Pair("Mul", h, third);
    }
  }
  const ValueId y = AddExpertProduct(s, e, weights[1], h, s->In(ports.biases[1]));
  return s->Cast(s->Reshape(AddShared(s, e, y), s->OutShape(0)), s->OutDType(0));
}

inline std::vector<AttrDef> ExpertAttrs() {
  const AttrKind kInt = AttrKind::kInt, kReal = AttrKind::kFloat;
  return {{"activation_alpha", kReal, 1.0f},
          {"activation_beta", kReal, 0.0f},
          {"activation_type", AttrKind::kString, "relu"},
          {"k", kInt, 1},
          {"normalize_routing_weights", kInt, 0},
          {"swiglu_fusion", kInt, 0},
          {"swiglu_limit", kReal},
          {"swiglu_limit_after_activation", kInt, 0},
          {"use_sparse_mixer", kInt, 0}};
}

}  // namespace ge
