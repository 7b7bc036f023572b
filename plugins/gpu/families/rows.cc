// Reductions, softmax and norms.
#include "plugins/gpu/kernels/rows.h"

#include "plugins/gpu/families/family.h"
#include "plugins/gpu/kernel_call.h"
#include "plugins/gpu/numbers_of.h"
#include "plugins/gpu/strides.h"
#include "plugins/units/reduce/instance_normalization.h"
#include "plugins/units/reduce/layer_normalization.h"
#include "plugins/units/reduce/log_softmax.h"
#include "plugins/units/reduce/reduce.h"
#include "plugins/units/reduce/softmax.h"

namespace ge_engines::gpu {
namespace {

using device::Reads;
using device::Recorder;
using device::Ref;
using device::Writes;

// Rows shorter than this leave most lanes of a team without work.
constexpr int64_t kLeastRow = 32;

// A reduction from one place to another.
struct ReduceStep {
  Ref y, x;
  Number y_of, x_of;
};

void RecordReduceStep(Reduce reduce, const AxesApart& apart, const ReduceStep& step, Recorder* r) {
  ReduceArgs args;
  args.of[0] = step.y_of;
  args.of[1] = step.x_of;
  args.reduce = reduce;
  args.outside = apart.outside;
  args.inside = apart.inside;
  args.out_strides = apart.out_strides;
  args.in_strides = apart.in_strides;
  args.length = apart.length;
  args.rows = apart.rows_apart;
  const bool team = args.length >= kLeastRow && (apart.beside || apart.rows < kTeamLanes);
  AddKernel(team ? KernelId::reduce_rows : KernelId::reduce_columns, args, apart.rows,
            {Writes(step.y), Reads(step.x)}, r);
}

// A mean of means of equally many is the mean.
void RecordReduce(const Unit& u, Recorder* r) {
  const Parser& p = r->parser();
  const auto& spec = *As<ReduceSpec>(u);
  const AxesApart apart(p.dims(u.in[0]), spec.axes);
  const Number y_of = NumberOf(p.dtype(u.out[0])), x_of = NumberOf(p.dtype(u.in[0]));
  const Ref x = r->Read(u.in[0]), y = r->Write(u.out[0]);
  const int64_t parts = apart.Parts();
  if (parts == 1) return RecordReduceStep(spec.reduce, apart, {y, x, y_of, x_of}, r);
  const Ref part = r->Between(4 * static_cast<uint64_t>(apart.rows * parts));
  RecordReduceStep(spec.reduce, AxesApart::Rows(apart.rows * parts, apart.length / parts),
                   {part, x, Number::kF32, x_of}, r);
  RecordReduceStep(spec.reduce, AxesApart::Rows(apart.rows, parts), {y, part, y_of, Number::kF32},
                   r);
}

void RecordSoftmaxAlong(const Unit& u, size_t axis, bool log, Recorder* r) {
  SoftmaxArgs args;
  SetNumbers(r->parser(), {u.out[0], u.in[0]}, &args);
  args.length = u.dims[axis];
  args.log = log;
  int64_t stride = 1;
  for (size_t k = axis + 1; k < u.dims.size(); ++k) stride *= u.dims[k];
  args.stride = Divider::By(static_cast<uint64_t>(stride));
  const bool team = stride == 1 && args.length >= kLeastRow;
  const Ref from = r->Read(u.in[0]);
  AddKernel(team ? KernelId::softmax_rows : KernelId::softmax_columns, args,
            Product(u.dims) / args.length, {Writes(r->Write(u.out[0])), Reads(from)}, r);
}
void RecordSoftmax(const Unit& u, Recorder* r) {
  RecordSoftmaxAlong(u, static_cast<size_t>(As<SoftmaxSpec>(u)->axis), false, r);
}
void RecordLogSoftmax(const Unit& u, Recorder* r) {
  RecordSoftmaxAlong(u, static_cast<size_t>(As<LogSoftmaxSpec>(u)->axis), true, r);
}

void RecordNorm(const Unit& u, Recorder* r) {
  const auto& spec = *As<LayerNormSpec>(u);
  NormArgs args;
  SetNumbers(r->parser(), {u.out[0], u.in[0], u.in[1], u.in[2]}, &args);
  args.length = u.dims.back();
  args.eps = spec.eps;
  args.centered = spec.centered;
  args.scaled = u.in[1] != 0;
  args.biased = u.in[2] != 0;
  const Ref x = r->Read(u.in[0]);
  const Ref scale = args.scaled ? r->Read(u.in[1]) : x, bias = args.biased ? r->Read(u.in[2]) : x;
  AddKernel(KernelId::norm_rows, args, Product(u.dims) / args.length,
            {Writes(r->Write(u.out[0])), Reads(x), Reads(scale), Reads(bias)}, r);
}

// Each channel of an image is a row.
void RecordInstanceNorm(const Unit& u, Recorder* r) {
  NormArgs args;
  SetNumbers(r->parser(), {u.out[0], u.in[0], u.in[1], u.in[2]}, &args);
  const int64_t rows = u.dims[0] * u.dims[1];
  args.length = Product(u.dims) / rows;
  args.eps = As<InstanceNormSpec>(u)->eps;
  args.scaled = args.biased = args.by_channel = true;
  args.channels = Divider::By(static_cast<uint64_t>(u.dims[1]));
  const Ref x = r->Read(u.in[0]), scale = r->Read(u.in[1]), bias = r->Read(u.in[2]);
  AddKernel(KernelId::norm_rows, args, rows,
            {Writes(r->Write(u.out[0])), Reads(x), Reads(scale), Reads(bias)}, r);
}

constexpr GpuKind kRows[] = {
    {&ReduceSpec::kKind, nullptr, RecordReduce, nullptr},
    {&SoftmaxSpec::kKind, nullptr, RecordSoftmax, nullptr},
    {&LogSoftmaxSpec::kKind, nullptr, RecordLogSoftmax, nullptr},
    {&LayerNormSpec::kKind, nullptr, RecordNorm, nullptr},
    {&InstanceNormSpec::kKind, nullptr, RecordInstanceNorm, nullptr},
};

}  // namespace

std::span<const GpuKind> RowKinds() { return kRows; }

}  // namespace ge_engines::gpu
