// Reductions, softmax, norms, places of extremes, the greatest few, running sums.
#include "plugins/ascend/families/steps.h"
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

using device::Ref;

bool OneDtype(const Unit& u, const Parser& p, Why* why) {
  return p.dtype(u.in[0]) == p.dtype(u.out[0]) ||
         why->Say(GE_WHY_DTYPE, "its tensors have several dtypes");
}

bool TakesReduce(const Unit& u, const Parser& p, const acl::Operators& op, Why* why) {
  if (!OneDtype(u, p, why)) return false;
  switch (As<ReduceSpec>(u)->reduce) {
    case Reduce::kSum:
      return Has(op.ReduceSum, "ReduceSum", why);
    case Reduce::kMean:
      return Has(op.Mean, "Mean", why);
    case Reduce::kMax:
      return Has(op.Amax, "Amax", why);
    default:
      return Has(op.Amin, "Amin", why);
  }
}

void RecordReduce(const Unit& u, Calls* c) {
  const auto& spec = *As<ReduceSpec>(u);
  Dims kept = c->parser().dims(u.in[0]);
  for (const int64_t axis : spec.axes) kept[static_cast<size_t>(axis)] = 1;
  const TensorAt x = c->In(u.in[0]);
  const Form form = c->FormOf(u.out[0], kept);
  const TensorAt y = c->Out(c->recorder().Write(u.out[0]), form);
  const acl::Operators& op = c->op();
  switch (spec.reduce) {
    case Reduce::kSum:
      return c->Add(op.ReduceSum, x, spec.axes, true, form.type, y);
    case Reduce::kMean:
      return c->Add(op.Mean, x, spec.axes, true, form.type, y);
    case Reduce::kMax:
      return c->Add(op.Amax, x, spec.axes, true, y);
    default:
      return c->Add(op.Amin, x, spec.axes, true, y);
  }
}

bool TakesSoftmax(const Unit& u, const Parser& p, const acl::Operators& op, Why* why) {
  return OneDtype(u, p, why) && Has(op.Softmax, "Softmax", why) &&
         Has(op.LogSoftmax, "LogSoftmax", why);
}

void RecordSoftmax(const Unit& u, Calls* c) {
  const TensorAt x = c->In(u.in[0]);
  c->Add(c->op().Softmax, x, int64_t{As<SoftmaxSpec>(u)->axis}, c->Out(u.out[0]));
}
void RecordLogSoftmax(const Unit& u, Calls* c) {
  const TensorAt x = c->In(u.in[0]);
  c->Add(c->op().LogSoftmax, x, int64_t{As<LogSoftmaxSpec>(u)->axis}, c->Out(u.out[0]));
}

bool OneDtypeOfAll(const Unit& u, const Parser& p, Why* why) {
  for (const uint32_t v : u.in) {
    if (v != 0 && p.dtype(v) != p.dtype(u.out[0])) {
      return why->Say(GE_WHY_DTYPE, "its tensors have several dtypes");
    }
  }
  return true;
}

bool TakesNorm(const Unit& u, const Parser& p, const acl::Operators& op, Why* why) {
  if (!OneDtypeOfAll(u, p, why)) return false;
  if (As<LayerNormSpec>(u)->centered) return Has(op.LayerNorm, "LayerNorm", why);
  if (u.in[1] == 0) return why->Say(GE_WHY_ATTRIBUTE, "the operator RmsNorm wants a scale");
  return Has(op.RmsNorm, "RmsNorm", why);
}

void RecordNorm(const Unit& u, Calls* c) {
  const auto& spec = *As<LayerNormSpec>(u);
  const int64_t length = u.dims.back();
  const Dims row = {length};
  const TensorAt x = c->In(u.in[0]);
  TensorAt scale, bias;
  if (u.in[1] != 0) scale = c->In(c->recorder().Read(u.in[1]), c->FormOf(u.in[1], row));
  if (u.in[2] != 0) bias = c->In(c->recorder().Read(u.in[2]), c->FormOf(u.in[2], row));
  const TensorAt y = c->Out(u.out[0]);
  if (spec.centered) {
    return c->Add(c->op().LayerNorm, x, row, scale, bias, double{spec.eps}, y, TensorAt(),
                  TensorAt());
  }
  Dims rows = u.dims;
  rows.back() = 1;
  const Ref deviation = c->recorder().Between(4 * static_cast<uint64_t>(Product(rows)));
  const TensorAt rstd = c->Out(deviation, Form::Dense(rows, acl::kF32));
  c->Add(c->op().RmsNorm, x, scale, double{spec.eps}, y, rstd);
}

bool TakesInstanceNorm(const Unit& u, const Parser& p, const acl::Operators& op, Why* why) {
  return OneDtypeOfAll(u, p, why) && Has(op.GroupNorm, "GroupNorm", why);
}

// Each channel is a group.
void RecordInstanceNorm(const Unit& u, Calls* c) {
  const int64_t batch = u.dims[0], channels = u.dims[1];
  const TensorAt x = c->In(u.in[0]), scale = c->In(u.in[1]), bias = c->In(u.in[2]);
  const TensorAt y = c->Out(u.out[0]);
  const Form moments = Form::Dense({batch, channels}, y.form.type);
  const auto bytes = static_cast<uint64_t>(batch * channels * c->parser().size(u.out[0]));
  const TensorAt mean = c->Out(c->recorder().Between(bytes), moments),
                 rstd = c->Out(c->recorder().Between(bytes), moments);
  c->Add(c->op().GroupNorm, x, scale, bias, batch, channels, Product(u.dims) / (batch * channels),
         channels, double{As<InstanceNormSpec>(u)->eps}, y, mean, rstd);
}

// ---- places and order --------------------------------------------------------------------------

bool TakesArg(const Unit& u, const Parser& p, const acl::Operators& op, Why* why) {
  if (!p.IsReal(p.dtype(u.in[0]))) return why->Say(GE_WHY_DTYPE, "only floats");
  if (As<ArgSpec>(u)->last) return why->Say(GE_WHY_ATTRIBUTE, "the last of equals");
  return Has(op.ArgMax, "ArgMax", why) && Has(op.ArgMin, "ArgMin", why);
}

void RecordArg(const Unit& u, Calls* c) {
  const auto& spec = *As<ArgSpec>(u);
  Dims kept = c->parser().dims(u.in[0]);
  kept[static_cast<size_t>(spec.axis)] = 1;
  const TensorAt x = c->In(u.in[0]);
  const TensorAt y = c->Out(c->recorder().Write(u.out[0]), c->FormOf(u.out[0], kept));
  c->Add(spec.least ? c->op().ArgMin : c->op().ArgMax, x, int64_t{spec.axis}, true, y);
}

bool TakesTopK(const Unit& u, const Parser& p, const acl::Operators& op, Why* why) {
  Dims k;
  if (!p.Integers(u.in[1], &k)) return why->Say(GE_WHY_DYNAMIC, "K is not constant");
  if (!p.IsReal(p.dtype(u.in[0]))) return why->Say(GE_WHY_DTYPE, "only floats");
  return Has(op.Topk, "Topk", why);
}

void RecordTopK(const Unit& u, Calls* c) {
  const auto& spec = *As<TopKSpec>(u);
  const TensorAt x = c->In(u.in[0]);
  // The operator makes both.
  const auto result = [&](size_t k, acl::DataType type, uint64_t size) {
    if (u.out[k] != 0) return c->Out(u.out[k]);
    const auto bytes = static_cast<uint64_t>(Product(u.dims)) * size;
    return c->Out(c->recorder().Between(bytes), Form::Dense(u.dims, type));
  };
  const TensorAt values = result(0, x.form.type, static_cast<uint64_t>(c->parser().size(u.in[0])));
  const TensorAt places = result(1, acl::kI64, 8);
  c->Add(c->op().Topk, x, u.dims[static_cast<size_t>(spec.axis)], int64_t{spec.axis}, spec.largest,
         true, values, places);
}

bool TakesCumSum(const Unit& u, const Parser& p, const acl::Operators& op, Why* why) {
  const auto& spec = *As<CumSumSpec>(u);
  if (spec.exclusive || spec.reverse) {
    return why->Say(GE_WHY_ATTRIBUTE, "exclusive and reverse sums");
  }
  return OneDtype(u, p, why) && Has(op.Cumsum, "Cumsum", why);
}

void RecordCumSum(const Unit& u, Calls* c) {
  const TensorAt x = c->In(u.in[0]);
  const TensorAt y = c->Out(u.out[0]);
  const acl::DataType type = y.form.type;
  c->Add(c->op().Cumsum, x, int64_t{As<CumSumSpec>(u)->axis}, type, y);
}

constexpr AscendKind kRows[] = {
    {&ReduceSpec::kKind, TakesReduce, RecordReduce, nullptr},
    {&SoftmaxSpec::kKind, TakesSoftmax, RecordSoftmax, nullptr},
    {&LogSoftmaxSpec::kKind, TakesSoftmax, RecordLogSoftmax, nullptr},
    {&LayerNormSpec::kKind, TakesNorm, RecordNorm, nullptr},
    {&InstanceNormSpec::kKind, TakesInstanceNorm, RecordInstanceNorm, nullptr},
    {&ArgSpec::kKind, TakesArg, RecordArg, nullptr},
    {&TopKSpec::kKind, TakesTopK, RecordTopK, nullptr},
    {&CumSumSpec::kKind, TakesCumSum, RecordCumSum, nullptr},
};

}  // namespace

std::span<const AscendKind> RowKinds() { return kRows; }

}  // namespace ge_engines::ascend
