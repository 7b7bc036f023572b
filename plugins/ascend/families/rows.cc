// Reductions, softmax, norms, places of extremes, the greatest few, running sums.
#include "plugins/ascend/families/family.h"
#include "plugins/units/index/top_k.h"
#include "plugins/units/reduce/arg_max.h"
#include "plugins/units/reduce/cum_sum.h"
#include "plugins/units/reduce/instance_normalization.h"
#include "plugins/units/reduce/layer_normalization.h"
#include "plugins/units/reduce/log_softmax.h"
#include "plugins/units/reduce/reduce.h"
#include "plugins/units/reduce/softmax.h"

namespace ge_engines::ascend {
namespace {

void RecordReduce(const Unit& u, Calls* c) {
  const auto& spec = *As<ReduceSpec>(u);
  const acl::Operators& op = c->op();
  const Operand x = c->In(u.in[0]),
                y = c->Out(u.out[0], c->DenseOf(u.out[0], KeptDims(x.form.dims, spec.axes)));
  switch (spec.reduce) {
    case Reduce::kSum:
      return c->Add(op.ReduceSum, x, spec.axes, true, y.form.type, y);
    case Reduce::kMean:
      return c->Add(op.Mean, x, spec.axes, true, y.form.type, y);
    case Reduce::kMax:
      return c->Add(op.Amax, x, spec.axes, true, y);
    case Reduce::kMin:
      return c->Add(op.Amin, x, spec.axes, true, y);
  }
}

void RecordSoftmax(const Unit& u, Calls* c) {
  c->Add(c->op().Softmax, c->In(u.in[0]), As<SoftmaxSpec>(u)->axis, c->Out(u.out[0]));
}
void RecordLogSoftmax(const Unit& u, Calls* c) {
  c->Add(c->op().LogSoftmax, c->In(u.in[0]), As<LogSoftmaxSpec>(u)->axis, c->Out(u.out[0]));
}

void RecordLayerNorm(const Unit& u, Calls* c) {
  const auto& spec = *As<LayerNormSpec>(u);
  const Dims row = {u.dims.back()};
  const auto factor = [&](uint32_t v) { return v == 0 ? Operand() : c->In(v, c->DenseOf(v, row)); };
  const Operand x = c->In(u.in[0]), scale = factor(u.in[1]), y = c->Out(u.out[0]);
  if (spec.centered) {
    return c->Add(c->op().LayerNorm, x, row, scale, factor(u.in[2]), spec.eps, y, Operand(),
                  Operand());
  }
  if (!scale.given) Calls::Refuse(GE_WHY_ATTRIBUTE, "the operator RmsNorm wants a scale");
  const Form rows =
      Form::Dense(KeptDims(u.dims, {static_cast<int64_t>(u.dims.size()) - 1}), acl::kF32);
  c->Add(c->op().RmsNorm, x, scale, spec.eps, y, c->Between(rows));
}

// Each channel is a group.
void RecordInstanceNorm(const Unit& u, Calls* c) {
  const int64_t batch = u.dims[0], channels = u.dims[1];
  const Operand y = c->Out(u.out[0]);
  const Form moments = Form::Dense({batch, channels}, y.form.type);
  c->Add(c->op().GroupNorm, c->In(u.in[0]), c->In(u.in[1]), c->In(u.in[2]), batch, channels,
         Product(u.dims) / (batch * channels), channels, As<InstanceNormSpec>(u)->eps, y,
         c->Between(moments), c->Between(moments));
}

// ---- places and order --------------------------------------------------------------------------

void OnlyFloats(const Unit& u, const Calls& c) {
  if (!c.parser().IsReal(c.parser().dtype(u.in[0]))) Calls::Refuse(GE_WHY_DTYPE, "only floats");
}

void RecordArg(const Unit& u, Calls* c) {
  const auto& spec = *As<ArgSpec>(u);
  OnlyFloats(u, *c);
  if (spec.last) Calls::Refuse(GE_WHY_ATTRIBUTE, "the last of equals");
  const Operand x = c->In(u.in[0]);
  const Form kept = c->DenseOf(u.out[0], KeptDims(x.form.dims, {spec.axis}));
  c->Add(spec.least ? c->op().ArgMin : c->op().ArgMax, x, spec.axis, true, c->Out(u.out[0], kept));
}

void RecordTopK(const Unit& u, Calls* c) {
  const auto& spec = *As<TopKSpec>(u);
  Dims k;
  OnlyFloats(u, *c);
  if (!c->parser().Integers(u.in[1], &k)) Calls::Refuse(GE_WHY_DYNAMIC, "K is not constant");
  const Operand x = c->In(u.in[0]);
  const auto result = [&](size_t at, acl::DataType type) {  // the operator makes both
    return u.out[at] != 0 ? c->Out(u.out[at]) : c->Between(Form::Dense(u.dims, type));
  };
  c->Add(c->op().Topk, x, u.dims[static_cast<size_t>(spec.axis)], spec.axis, spec.largest, true,
         result(0, x.form.type), result(1, acl::kI64));
}

// Sums of all up to each element; exclusive: of all before it, which are its neighbour's.
void AddSums(const Operand& x, const CumSumSpec& spec, const Operand& y, Calls* c) {
  const auto axis = static_cast<size_t>(spec.axis);
  Operand first = y, from = x, to = y;
  if (spec.exclusive) {
    first.form.dims[axis] = 1;
    from.form.dims[axis] = to.form.dims[axis] -= 1;
    to.form.offset = to.form.strides[axis];
    c->Add(c->op().InplaceZero, first);
  }
  if (from.form.dims[axis] > 0) c->Add(c->op().Cumsum, from, spec.axis, y.form.type, to);
}

void RecordCumSum(const Unit& u, Calls* c) {
  const auto& spec = *As<CumSumSpec>(u);
  const Operand x = c->In(u.in[0]), y = c->Out(u.out[0]);
  if (!spec.reverse) return AddSums(x, spec, y, c);
  const int64_t size = u.dims[static_cast<size_t>(spec.axis)];
  const Operand back = c->Between(Form::Dense({size}, acl::kI64)), turned = c->Between(x.form),
                sums = c->Between(y.form);
  c->Add(c->op().Arange, Whole(size - 1), Whole(-1), Whole(-1), back);
  c->Add(c->op().GatherV2, x, spec.axis, back, turned);
  AddSums(turned, spec, sums, c);
  c->Add(c->op().GatherV2, sums, spec.axis, back, y);
}

constexpr AscendKind kRows[] = {
    {&ReduceSpec::kKind, RecordReduce},
    {&SoftmaxSpec::kKind, RecordSoftmax},
    {&LogSoftmaxSpec::kKind, RecordLogSoftmax},
    {&LayerNormSpec::kKind, RecordLayerNorm},
    {&InstanceNormSpec::kKind, RecordInstanceNorm},
    {&ArgSpec::kKind, RecordArg, false},
    {&TopKSpec::kKind, RecordTopK, false},
    {&CumSumSpec::kKind, RecordCumSum},
};

}  // namespace

std::span<const AscendKind> RowKinds() { return kRows; }

}  // namespace ge_engines::ascend
