// Attention, taken apart as its definition has it: two products and a softmax over what no mask
// forbids.
#include <algorithm>
#include <cmath>
#include <limits>

#include "passes/grad/shape_values.h"

namespace ge::grad {
namespace {

// [batch, heads, steps, size] of a tensor that may be [batch, steps, heads * size].
Val HeadsOf(Back& b, Val v, const char* count) {
  if (b.rank(v) == 4) return v;
  const int64_t heads = b.Int(count, 1);
  const Type t = b.type(v);
  const Val size = t.dims[2].value >= 0 ? b.fn().Ints({t.dims[2].value / heads})
                                        : SizeOf(v, 2) / static_cast<double>(heads);
  return Transpose(ReshapeTo(v, {SizeOf(v, 0), SizeOf(v, 1), b.fn().Ints({heads}), size}),
                   {0, 2, 1, 3});
}

// Each head of keys stands for several of queries, one behind the other.
Val RepeatHeads(Val v, int64_t times) {
  if (times == 1) return v;
  Fn& fn = *v.fn;
  const Val n = fn.Ints({times});
  const Val wide = fn.Op(
      "Expand",
      {Unsqueeze(v, {2}), Joined({SizeOf(v, 0), SizeOf(v, 1), n, SizeOf(v, 2), SizeOf(v, 3)})});
  return ReshapeTo(wide, {SizeOf(v, 0), SizeOf(v, 1) * n, SizeOf(v, 2), SizeOf(v, 3)});
}

struct AttentionMask {
  Val bias, forbidden;  // absent = nothing
  Val unseeing;         // rows that see no key; absent = there are none
};

constexpr int64_t kFarApart = int64_t{1} << 40;  // no two keys are: sums do not overflow
constexpr double kHidden = -std::numeric_limits<double>::infinity();

Val EitherOf(Val a, Val b) { return a ? a.fn->Op("Or", {a, b}) : b; }

// Rows all of whose keys a mask hides.
Val UnseeingRows(const AttentionMask& m, int32_t dtype) {
  Fn& fn = m.bias ? *m.bias.fn : *m.forbidden.fn;
  const Val hidden = fn.Scalar(dtype, kHidden);
  Val bias = m.bias ? m.bias : fn.Scalar(dtype, 0);
  if (m.forbidden) bias = Where(m.forbidden, hidden, bias);
  const Val most = fn.Op("ReduceMax", {bias, fn.Ints({-1})}, Attrs().Int("keepdims", 1));
  return Compare("Equal", most, hidden);
}

// A mask that is shorter than the keys forbids the rest.
AttentionMask MaskOf(Back& b, Val q, Val k, Val past) {
  Fn& fn = b.fn();
  AttentionMask m;
  const Val keys = SizeOf(k, 2);
  if (b.x(3)) {
    const int64_t rank = b.rank(b.x(3));
    Val mask = b.x(3);
    const Type t = b.type(mask);
    const int64_t have = t.dims.back().value;
    const bool truth = t.dtype == GE_BOOL;
    if (have < 0 || have != b.type(k).dims[2].value) {
      const Val more = keys - SizeOf(mask, rank - 1);
      const Val zero = fn.Ints({0}), last = fn.Ints({rank - 1});
      // A truth value is padded by false.
      const Val fill = truth ? Val{} : fn.Scalar(t.dtype, kHidden);
      mask = fn.Op("Pad", {mask, Joined({zero, more}), fill, last});
    }
    if (truth) m.forbidden = Unary("Not", mask);
    if (!truth) m.bias = fn.Cast(mask, b.type(q).dtype);
  }
  const int64_t left = b.Int("left_window_size", -1);
  const int64_t right = b.Int("is_causal") != 0 ? 0 : b.Int("right_window_size", -1);
  const Val at = left >= 0 || right >= 0 || b.x(6) ? Iota(keys) : Val{};
  if (left >= 0 || right >= 0) {
    Val row = Unsqueeze(Iota(SizeOf(q, 2)), {1});
    if (past) row = row + SizeOf(past, 2);
    // The last query stands at the last key of its sample.
    if (b.x(6)) row = row + (Unsqueeze(b.x(6), {1, 2, 3}) - SizeOf(q, 2));
    const auto apart = [&](int64_t most) { return fn.Ints({std::min(most, kFarApart)}); };
    if (right >= 0) {
      m.forbidden = EitherOf(m.forbidden, Compare("Greater", at, row + apart(right)));
    }
    if (left >= 0) m.forbidden = EitherOf(m.forbidden, Compare("Less", at, row - apart(left)));
  }
  if (b.x(6)) {
    m.forbidden =
        EitherOf(m.forbidden, Compare("GreaterOrEqual", at, Unsqueeze(b.x(6), {1, 2, 3})));
  }
  if (b.x(3) || b.x(6) || left >= 0) m.unseeing = UnseeingRows(m, b.type(q).dtype);
  return m;
}

Val Masked(const AttentionMask& m, Val score) {
  if (m.bias) score = score + m.bias;
  if (!m.forbidden) return score;
  return Where(m.forbidden, score.fn->Scalar(score.fn->TypeOf(score).dtype, kHidden), score);
}

// The same mask, but that rows which see no key see all: Softmax makes NaN of nothing, and so do
// its gradients.
AttentionMask Seeing(const AttentionMask& m) {
  if (!m.unseeing) return m;
  Fn& fn = *m.unseeing.fn;
  AttentionMask seeing;
  if (m.bias) {
    seeing.bias = Where(m.unseeing, fn.Scalar(fn.TypeOf(m.bias).dtype, 0), m.bias);
  }
  if (m.forbidden) seeing.forbidden = fn.Op("And", {m.forbidden, Unary("Not", m.unseeing)});
  return seeing;
}

Val ZerosWhere(Val rows, Val v) {
  return rows ? Where(rows, v.fn->Scalar(v.fn->TypeOf(v).dtype, 0), v) : v;
}

std::vector<Val> AttentionParts(Back& b) {
  Fn& fn = b.fn();
  const auto fail = [&](const char* why) { return b.Fail(why), std::vector<Val>{}; };
  if (b.rank(b.x(0)) < 3 || b.rank(b.x(1)) < 3) return fail("an input's rank is not known");
  const Val q = HeadsOf(b, b.x(0), "q_num_heads");
  Val k = HeadsOf(b, b.x(1), "kv_num_heads"), v = HeadsOf(b, b.x(2), "kv_num_heads");
  const ge_dim heads = b.type(q).dims[1], groups = b.type(k).dims[1];
  const bool known = heads.value > 0 && groups.value > 0;
  if (!known && !Same(heads, groups)) return fail("the number of heads is not known");
  const int64_t times = known ? heads.value / groups.value : 1;
  if (b.x(4)) {
    k = Concat({b.x(4), k}, 2);
    v = Concat({b.x(5), v}, 2);
  }
  const Val present_key = k, present_value = v;
  k = RepeatHeads(k, times);
  v = RepeatHeads(v, times);
  const int32_t dtype = b.type(q).dtype;
  const Val size = fn.Cast(First(SizeOf(q, 3)), dtype);
  Val score = MatMul(q, SwapLast(k));
  score = b.Has("scale") && b.Float("scale") != 0 ? score * b.Float("scale") : score / Sqrt(size);
  std::vector<Val> stages = {score};
  const double cap = b.Float("softcap");
  if (cap > 0) score = Tanh(score / cap) * cap;
  stages.push_back(score);
  const AttentionMask m = MaskOf(b, q, k, b.x(4));
  stages.push_back(Masked(m, score));
  score = Masked(Seeing(m), score);
  const Attrs last = Attrs().Int("axis", -1);
  const auto precise = static_cast<int32_t>(b.Int("softmax_precision", dtype));
  const Val share = fn.Cast(fn.Op("Softmax", {fn.Cast(score, precise)}, last), dtype);
  stages.push_back(ZerosWhere(m.unseeing, share));
  Val y = MatMul(fn.Cast(share, b.type(v).dtype), v);
  y = ZerosWhere(m.unseeing, fn.Cast(y, dtype));
  if (b.rank(b.x(0)) == 3) {
    const Val rows = Transpose(y, {0, 2, 1, 3});
    y = ReshapeTo(rows, {SizeOf(rows, 0), SizeOf(rows, 1), CountOf(rows, {2, 3})});
  }
  return {y, present_key, present_value,
          stages[static_cast<size_t>(b.Int("qk_matmul_output_mode"))]};
}

}  // namespace

GE_GRAD(attention) {
  return {{"", "Attention", nullptr, {{6, "a number of tokens"}}, AttentionParts}};
}

}  // namespace ge::grad
