// Shared by com.microsoft's attention operators: their attributes and masks, and the steps from
// heads of Q, K and V to the result. B batch, N heads, S queries, P past and T all keys, h the size
// of a head. Not an operator. Any thread may call.
#pragma once

#include "ge/ops/microsoft/checks.h"
#include "ge/ops/microsoft/steps.h"

namespace ge {

inline Status CheckAttentionMsAttrs(const Node& n) {
  const int64_t heads = AttrInt(n, "num_heads");
  if (heads < 1) {
    return Bad(n, fmt::format("attribute 'num_heads' is {}, wanted at least 1", heads));
  }
  GE_RETURN_IF_ERROR(WantFlag(n, "unidirectional"));
  GE_RETURN_IF_ERROR(WantFiniteAttr(n, "scale"));
  GE_RETURN_IF_ERROR(WantFiniteAttr(n, "mask_filter_value"));
  return {};
}

// The size of one of `heads` heads of a hidden size.
inline Result<Dim> HeadSize(InferContext& context, Dim hidden, int64_t heads, const char* of) {
  if (hidden.known() && hidden.value % heads != 0) {
    return Bad(context.node(),
               fmt::format("the hidden size of {} is {}, wanted a multiple of the number "
                           "of its heads, {}",
                           of, hidden.value, heads));
  }
  return Checked(context.node(), context.dims().FloorDiv(hidden, KnownDim(heads)),
                 "the size of a head");
}

// Masks by shape: [B] how many keys count, [2B] their ends and then their begins, [B,T], [B,S,T],
// and [B,1,M,M] with M >= T.
inline Status CheckMaskIndex(InferContext& context, size_t i, const char* name, Dim batch,
                             Dim steps, Dim total) {
  if (!HasInput(context, i)) return {};
  const Type& m = context.input_type(i);
  if (!m.ranked) return {};
  const auto may_be = [](Dim a, Dim b) { return !a.known() || !b.known() || a == b; };
  bool fits = false;
  if (m.rank() == 1) {
    const Dim size = m.dims[0];
    fits = !size.known() || !batch.known() || size == batch || size.value == 2 * batch.value;
    if (!fits && size.value == 3 * batch.value + 2) {
      return NotComputed(context.node(),
                         fmt::format("input '{}' has shape {}, the kind of 3 x batch + 2 "
                                     "elements, which is not computed here; wanted a "
                                     "mask of shape [batch, keys]",
                                     name, Show(context.dims(), m.dims)));
    }
  } else if (m.rank() == 2) {
    fits = may_be(m.dims[0], batch) && may_be(m.dims[1], total);
  } else if (m.rank() == 3) {
    fits = may_be(m.dims[0], batch) && may_be(m.dims[1], steps) && may_be(m.dims[2], total);
  } else if (m.rank() == 4) {
    const auto reaches = [&](Dim d) {
      return !d.known() || !total.known() || d.value >= total.value;
    };
    fits = may_be(m.dims[0], batch) && may_be(m.dims[1], KnownDim(1)) && reaches(m.dims[2]) &&
           reaches(m.dims[3]);
  }
  if (fits) return {};
  const Dim wanted[] = {batch, steps, total};
  return Bad(context.node(),
             fmt::format("input '{}' has shape {}, wanted [B], [2 x B], [B,T], [B,S,T] "
                         "or [B,1,M,M] with M >= T, where [B,S,T] is {}",
                         name, Show(context.dims(), m.dims), Show(context.dims(), wanted)));
}

// The bias added to the scores: [B or 1, N or 1, S, T].
inline Status CheckAttentionBias(InferContext& context, size_t i, Dim batch, int64_t heads,
                                 Dim steps, Dim total) {
  if (!HasInput(context, i) || !context.input_type(i).ranked) return {};
  const Type& b = context.input_type(i);
  const Dim wanted[] = {batch, KnownDim(heads), steps, total};
  bool fits = b.rank() == 4;
  for (size_t d = 0; fits && d < 4; ++d) {
    const Dim have = b.dims[d];
    fits = !have.known() || !wanted[d].known() || have == wanted[d] || (d < 2 && have.value == 1);
  }
  if (fits) return {};
  return Bad(context.node(),
             fmt::format("input 'attention_bias' has shape {}, wanted {}, or 1 in its "
                         "first two axes",
                         Show(context.dims(), b.dims), Show(context.dims(), wanted)));
}

// ---- steps -------------------------------------------------------------------------------------

// [B,S,N*h] -> [B,N,S,h]
inline ValueId AddHeads(Steps* steps, ValueId value, int64_t heads) {
  const Steps::Shape x = steps->ShapeOf(value);
  return steps->Transpose(steps->Reshape(value, {x[0], x[1], heads, x[2] / heads}), {0, 2, 1, 3});
}

// [B,N,S,h] -> [B,S,N*h]
inline ValueId AddMerged(Steps* steps, ValueId value) {
  const Steps::Shape x = steps->ShapeOf(value);
  return steps->Reshape(steps->Transpose(value, {0, 2, 1, 3}), {x[0], x[2], x[1] * x[3]});
}

// 0 where the condition holds, else `fill`.
inline ValueId AddPenalty(Steps* steps, ValueId condition, DType step, double fill) {
  return steps->Choose(condition, steps->Scalar(step, 0), steps->Scalar(step, fill));
}

// The term of a mask for scores [B,N,S,T]; see CheckMaskIndex.
inline ValueId AddMaskTerm(Steps* s, ValueId mask, int64_t batch, int64_t steps, int64_t total,
                           DType step, double fill) {
  const Steps::Shape shape = s->ShapeOf(mask);
  if (shape.size() == 1) {
    const ValueId key = s->Counting({1, total}, 0, total);
    const auto bound = [&](int64_t which) {
      return s->Reshape(s->Slice(mask, 0, which * batch, (which + 1) * batch), {batch, 1});
    };
    ValueId counts = s->Pair("Less", key, bound(0), DType::kBool);
    if (shape[0] == 2 * batch) {
      const ValueId begun = s->Pair("GreaterOrEqual", key, bound(1), DType::kBool);
      counts = s->Pair("And", counts, begun);
    }
    return AddPenalty(s, s->Reshape(counts, {batch, 1, 1, total}), step, fill);
  }
  if (shape.size() == 4) {
    mask = s->Slice(s->Slice(mask, 2, total - steps, total), 3, 0, total);
  } else {
    mask = s->Reshape(mask, {batch, 1, shape.size() == 3 ? steps : 1, total});
  }
  const ValueId counts = s->Pair("Greater", mask, s->Int32s({}, {0}), DType::kBool);
  return AddPenalty(s, counts, step, fill);
}

// Lets every query see the past and the keys up to its own. Other keys get the lowest number, as in
// ONNX Runtime: less than the fill of any mask.
inline ValueId AddCausalTerm(Steps* s, int64_t steps, int64_t past, int64_t total, DType step) {
  constexpr double kLowest = -3.4028234663852886e38;
  const ValueId key = s->Counting({1, total}, 0, total);
  const ValueId own = s->Counting({steps, 1}, past, steps);
  return AddPenalty(s, s->Pair("LessOrEqual", key, own, DType::kBool), step, kLowest);
}

// Inputs of attention once Q, K and V are heads, [B,N,S,h] and [B,N,T,h].
struct Attended {
  ValueId q = 0, k = 0, v = 0;
  ValueId mask = 0, bias = 0;  // 0 = none
  int64_t past = 0;
  ValueId scores = 0;  // filled: before the softmax
};

// softmax(Q * K^T * scale + terms) * V, as [B,S,N*h].
inline ValueId AddAttended(Steps* s, const Node& node, Attended* attended) {
  const Steps::Shape q = s->ShapeOf(attended->q);
  const int64_t steps = q[2], total = s->Size(attended->k, 2);
  const DType step = s->DTypeOf(attended->q);
  const double fill = AttrFloat(node, "mask_filter_value");
  double scale = AttrFloat(node, "scale");
  if (scale == 0) scale = 1 / std::sqrt(static_cast<double>(q[3]));
  ValueId scores = s->Times(s->MatMul(attended->q, s->SwapLast(attended->k)), scale);
  if (attended->mask != 0) {
    scores = s->Pair("Add", scores, AddMaskTerm(s, attended->mask, q[0], steps, total, step, fill));
  }
  if (AttrInt(node, "unidirectional") != 0 && steps > 1) {
    scores = s->Pair("Add", scores, AddCausalTerm(s, steps, attended->past, total, step));
  }
  attended->scores = scores = s->PairIf("Add", scores, attended->bias);
  const ValueId shares = s->Map("Softmax", {scores}, {{"axis", int64_t{-1}}});
  return AddMerged(s, s->MatMul(shares, attended->v));
}

// Puts the past keys and values, [2,B,N,P,h], in front of k and v. Answers both again as one.
inline ValueId AddPast(Steps* steps, ValueId past, ValueId* k, ValueId* value) {
  ValueId* both[] = {k, value};
  std::vector<ValueId> halves;
  for (int64_t i = 0; i < 2; ++i) {
    ValueId* now = both[i];
    if (past != 0) {
      const Steps::Shape p = steps->ShapeOf(past);
      const ValueId old = steps->Reshape(steps->Slice(past, 0, i, i + 1), {p[1], p[2], p[3], p[4]});
      *now = steps->Concat({steps->Cast(old, steps->DTypeOf(*now)), *now}, 2);
    }
    const Steps::Shape n = steps->ShapeOf(*now);
    halves.push_back(steps->Reshape(*now, {1, n[0], n[1], n[2], n[3]}));
  }
  return steps->Concat(halves, 0);
}

}  // namespace ge
