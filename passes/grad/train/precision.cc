#include "passes/grad/train/precision.h"

#include <algorithm>
#include <limits>
#include <map>

#include "passes/grad/train/weights.h"

namespace ge::grad {
namespace {

bool Multiplies(const ge_node& n) {
  static constexpr const char* kOps[] = {"Conv", "ConvTranspose", "Einsum", "Gemm", "MatMul"};
  return std::any_of(std::begin(kOps), std::end(kOps),
                     [&](const char* op) { return plugin::IsOp(n, op); });
}

bool ReadsFloats(Fn& fn, const ge_node& n) {
  for (uint32_t k = 0; k < n.n_in; ++k) {
    if (n.in[k] != 0 && fn.TypeOf(fn.At(n.in[k])).dtype != GE_F32) return false;
  }
  return n.n_out == 1 && n.out[0] != 0;
}

Val CastAhead(Fn& fn, Val v, int32_t dtype, uint32_t before) {
  return fn.Node("", "Cast", {v}, Attrs().Int("to", dtype), 1, nullptr, before)[0];
}

uint32_t StateOf(const ge_edit* e, const char* name, int32_t dtype, const void* first,
                 uint64_t bytes) {
  ge_type t{};
  t.dtype = dtype;
  t.bits = plugin::ElementBits(dtype);
  return MakeState(e, name, t, GE_STATE_BUFFER, first, bytes);
}

}  // namespace

void ComputeInHalves(Fn& fn, int32_t dtype) {
  const ge_graph* g = fn.Picture();
  const ge_edit* e = fn.edit();
  std::map<uint32_t, Val> halves;  // what is read by several is cast once, ahead of the first
  for (uint32_t i = 0; i < g->n_node; ++i) {
    const ge_node& n = *GE_NODE(g, i);
    if (!Multiplies(n) || !ReadsFloats(fn, n)) continue;
    std::vector<Val> in;
    for (uint32_t k = 0; k < n.n_in; ++k) {
      Val half;
      if (n.in[k] != 0) {
        Val& known = halves[n.in[k]];
        if (!known) known = CastAhead(fn, fn.At(n.in[k]), dtype, n.id);
        half = known;
      }
      in.push_back(half);
    }
    Attrs attrs;
    for (uint32_t k = 0; k < n.n_attr; ++k) attrs.Add(n.attr[k]);
    const Val made = fn.Node("", plugin::View(n.op), in, attrs, 1, nullptr, n.id)[0];
    e->replace_uses(e->host, fn.id(), n.out[0], CastAhead(fn, made, GE_F32, n.id).id);
    e->erase(e->host, fn.id(), n.id);
  }
}

LossScale::LossScale(Fn& fn, const TrainSettings& settings) : fn_(fn), s_(settings) {
  const auto first = static_cast<float>(settings.scale);
  scale_state_ = StateOf(fn.edit(), "train.scale", GE_F32, &first, sizeof first);
  updates_state_ = StateOf(fn.edit(), "train.updates", GE_I64, nullptr, 0);
  scale_ = ReadState(fn, scale_state_, 0);
  updates_ = ReadState(fn, updates_state_, 0);
  if (!settings.scale_moves) return;
  good_state_ = StateOf(fn.edit(), "train.good", GE_I64, nullptr, 0);
  good_ = ReadState(fn, good_state_, 0);
}

Val LossScale::Scaled(Val change) const {
  return change * fn_.Cast(scale_, fn_.TypeOf(change).dtype);
}

Val LossScale::Unscaled(Val gradient) const {
  return gradient / fn_.Cast(scale_, fn_.TypeOf(gradient).dtype);
}

Val LossScale::Moves(const std::vector<Val>& gradients, Val now) {
  Val finite;
  for (const Val g : gradients) {
    const Val most =
        fn_.Op("ReduceMax", {Unary("Abs", g)}, Attrs().Int("keepdims", 0));  // NaN where one is
    const bool wide = fn_.TypeOf(g).dtype == GE_F64;
    const Val fits = Compare("LessOrEqual", most,
                             wide ? std::numeric_limits<double>::max()
                                  : static_cast<double>(std::numeric_limits<float>::max()));
    finite = finite ? fn_.Op("And", {finite, fits}) : fits;
  }
  const Val moves = now ? fn_.Op("And", {now, finite}) : finite;
  const auto if_now = [&](Val v, Val old) { return now ? Where(now, v, old) : v; };
  AssignState(fn_, updates_state_, Where(moves, updates_ + 1, updates_));
  if (!s_.scale_moves) return moves;
  const Val next = good_ + 1;
  const Val grows = Compare("GreaterOrEqual", next, static_cast<double>(s_.scale_every));
  const Val less = fn_.Op("Max", {scale_ / 2, fn_.Scalar(GE_F32, 1)});
  // Twice the greatest power of two would be infinite.
  const Val more = fn_.Op("Min", {scale_ * 2, fn_.Scalar(GE_F32, 0x1p126)});
  AssignState(fn_, scale_state_, if_now(Where(finite, Where(grows, more, scale_), less), scale_));
  const Val none = fn_.Scalar(GE_I64, 0);
  AssignState(fn_, good_state_, if_now(Where(finite, Where(grows, none, next), none), good_));
  return moves;
}

void LossScale::BeginAnew(Fn& fn) const {
  AssignState(fn, scale_state_, fn.Scalar(GE_F32, s_.scale));
  AssignState(fn, updates_state_, fn.Scalar(GE_I64, 0));
  if (good_state_ != 0) AssignState(fn, good_state_, fn.Scalar(GE_I64, 0));
}

}  // namespace ge::grad
