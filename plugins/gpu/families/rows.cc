// Reductions, softmax and norms.
#include "plugins/gpu/kernels/rows.h"

#include <algorithm>

#include "plugins/gpu/families/family.h"
#include "plugins/gpu/kernel_call.h"
#include "plugins/gpu/numbers_of.h"
#include "plugins/gpu/strides.h"
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

void RecordReduce(const Unit& u, Recorder* r) {
  const auto& spec = *As<ReduceSpec>(u);
  const Dims x = r->parser().dims(u.in[0]), strides = StridesOf(x);
  Dims out, in;
  std::vector<Dims> out_strides(1), in_strides(1);
  for (size_t k = 0; k < x.size(); ++k) {
    const bool reduced =
        std::find(spec.axes.begin(), spec.axes.end(), static_cast<int64_t>(k)) != spec.axes.end();
    (reduced ? in : out).push_back(x[k]);
    (reduced ? in_strides : out_strides)[0].push_back(strides[k]);
  }
  ReduceArgs args;
  SetNumbers(r->parser(), {u.out[0], u.in[0]}, &args);
  args.reduce = spec.reduce;
  args.length = Product(in);
  const int64_t rows = Product(out);
  MergeAxes(&out, &out_strides);
  MergeAxes(&in, &in_strides);
  args.outside = AxesOf(out);
  args.inside = AxesOf(in);
  args.out_strides = StridesFor(out_strides[0]);
  args.in_strides = StridesFor(in_strides[0]);
  const bool beside = in_strides[0].empty() || in_strides[0].back() == 1;
  const bool rows_apart = std::all_of(out_strides[0].begin(), out_strides[0].end(),
                                      [&](int64_t s) { return s % args.length == 0; });
  args.rows = in_strides[0] == Dims{1} && rows_apart;
  const bool team = args.length >= kLeastRow && (beside || rows < kTeamLanes);
  const Ref from = r->Read(u.in[0]);
  AddKernel(team ? KernelId::reduce_rows : KernelId::reduce_columns, args, rows,
            {Writes(r->Write(u.out[0])), Reads(from)}, r);
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

constexpr GpuKind kRows[] = {
    {&ReduceSpec::kKind, nullptr, RecordReduce, nullptr},
    {&SoftmaxSpec::kKind, nullptr, RecordSoftmax, nullptr},
    {&LogSoftmaxSpec::kKind, nullptr, RecordLogSoftmax, nullptr},
    {&LayerNormSpec::kKind, nullptr, RecordNorm, nullptr},
};

}  // namespace

std::span<const GpuKind> RowKinds() { return kRows; }

}  // namespace ge_engines::gpu
