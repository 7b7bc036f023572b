// Folds of any numbers, places of extremes, the greatest few, running sums.
#include "plugins/gpu/kernels/folds.h"

#include <algorithm>

#include "plugins/gpu/families/family.h"
#include "plugins/gpu/kernel_call.h"
#include "plugins/gpu/numbers_of.h"
#include "plugins/gpu/strides.h"
#include "plugins/units/index/top_k.h"
#include "plugins/units/reduce/arg_max.h"
#include "plugins/units/reduce/cum_sum.h"
#include "plugins/units/reduce/fold.h"
#include "plugins/units/reduce/row_squares.h"

namespace ge_engines::gpu {
namespace {

using device::Reads;
using device::Recorder;
using device::Ref;
using device::Writes;

// A fold from one place to another.
struct FoldStep {
  Ref y, x;
  Number y_of, x_of;
};

void RecordFoldStep(FoldOp op, const AxesApart& apart, const FoldStep& step, Recorder* r) {
  FoldArgs args;
  args.of[0] = step.y_of;
  args.of[1] = step.x_of;
  args.op = op;
  args.length = apart.length;
  args.rows = apart.rows_apart;
  args.outside = apart.outside;
  args.inside = apart.inside;
  args.out_strides = apart.out_strides;
  args.in_strides = apart.in_strides;
  AddKernel(KernelId::fold, args, apart.rows, {Writes(step.y), Reads(step.x)}, r);
}

// The fold of parts, and that of what they give.
FoldOp OfParts(FoldOp op) { return op == FoldOp::kLogSum ? FoldOp::kSum : op; }
FoldOp OverParts(FoldOp op) {
  return op == FoldOp::kL1 || op == FoldOp::kSumSquare ? FoldOp::kSum : op;
}

void RecordFoldAlong(const Unit& u, FoldOp op, const Dims& axes, Recorder* r) {
  const Parser& p = r->parser();
  const AxesApart apart(p.dims(u.in[0]), axes);
  const Number y_of = NumberOf(p.dtype(u.out[0])), x_of = NumberOf(p.dtype(u.in[0]));
  const Ref x = r->Read(u.in[0]), y = r->Write(u.out[0]);
  const int64_t parts = IsReal(x_of) ? apart.Parts() : 1;
  if (parts == 1) return RecordFoldStep(op, apart, {y, x, y_of, x_of}, r);
  const Ref part = r->Between(8 * static_cast<uint64_t>(apart.rows * parts));
  RecordFoldStep(OfParts(op), AxesApart::Rows(apart.rows * parts, apart.length / parts),
                 {part, x, Number::kF64, x_of}, r);
  RecordFoldStep(OverParts(op), AxesApart::Rows(apart.rows, parts), {y, part, y_of, Number::kF64},
                 r);
}

void RecordFold(const Unit& u, Recorder* r) {
  RecordFoldAlong(u, As<FoldSpec>(u)->op, As<FoldSpec>(u)->axes, r);
}

// Of rows: the last axes.
void RecordRowSquares(const Unit& u, Recorder* r) {
  const auto& spec = *As<RowSquareSpec>(u);
  const Dims x = r->parser().dims(u.in[0]);
  Dims axes;
  int64_t n = 1;
  for (auto k = static_cast<int64_t>(x.size()); k-- > 0 && (n < spec.n || axes.empty());) {
    axes.push_back(k);
    n *= x[static_cast<size_t>(k)];
  }
  RecordFoldAlong(u, spec.root ? FoldOp::kL2 : FoldOp::kSumSquare, axes, r);
}

// Lines along an axis of x.
Lines LinesOf(const Dims& x, int axis) {
  Lines lines;
  const auto at = static_cast<size_t>(axis);
  lines.length = x[at];
  lines.inner = Divider::By(static_cast<uint64_t>(Product(Dims(x.begin() + axis + 1, x.end()))));
  return lines;
}

bool TakesNumber(const Unit& u, const Parser& p, Why* why) {
  return HasNumber(p.dtype(u.in[0]), why);
}

void RecordArg(const Unit& u, Recorder* r) {
  const auto& spec = *As<ArgSpec>(u);
  const Dims x = r->parser().dims(u.in[0]);
  ArgArgs args;
  SetNumbers(r->parser(), {u.out[0], u.in[0]}, &args);
  args.lines = LinesOf(x, spec.axis);
  args.least = spec.least;
  args.last = spec.last;
  const Ref from = r->Read(u.in[0]);
  AddKernel(KernelId::arg, args, Product(x) / args.lines.length,
            {Writes(r->Write(u.out[0])), Reads(from)}, r);
}

bool TakesTopK(const Unit& u, const Parser& p, Why* why) {
  Dims k;
  return HasNumber(p.dtype(u.in[0]), why) &&
         (p.Integers(u.in[1], &k) || why->Say(GE_WHY_DYNAMIC, "K is not constant"));
}

void RecordTopK(const Unit& u, Recorder* r) {
  const Parser& p = r->parser();
  const auto& spec = *As<TopKSpec>(u);
  const Dims x = p.dims(u.in[0]);
  TopKArgs args;
  SetNumbers(p, {u.out[0], u.out[1], u.in[0]}, &args);
  args.lines = LinesOf(x, spec.axis);
  args.taken = u.dims[static_cast<size_t>(spec.axis)];
  args.bytes = p.size(u.in[0]);
  args.largest = spec.largest;
  args.places = u.out[1] != 0;
  const Ref from = r->Read(u.in[0]);
  const Ref values = r->Write(u.out[0]);
  const Ref places = args.places ? r->Write(u.out[1]) : values;
  AddKernel(KernelId::top_k, args, Product(x) / args.lines.length,
            {Writes(values), Writes(places), Reads(from)}, r);
}

void RecordCumSum(const Unit& u, Recorder* r) {
  const auto& spec = *As<CumSumSpec>(u);
  CumSumArgs args;
  SetNumbers(r->parser(), {u.out[0], u.in[0]}, &args);
  args.lines = LinesOf(u.dims, spec.axis);
  args.exclusive = spec.exclusive;
  args.reverse = spec.reverse;
  const Ref from = r->Read(u.in[0]);
  AddKernel(KernelId::cum_sum, args, Product(u.dims) / args.lines.length,
            {Writes(r->Write(u.out[0])), Reads(from)}, r);
}

// Each pass looks at all of a line twice.
double TopKFlops(const Unit& u, const Parser& p) {
  const auto taken = static_cast<double>(u.dims[static_cast<size_t>(As<TopKSpec>(u)->axis)]);
  return 20 * taken * static_cast<double>(Product(p.dims(u.in[0])));
}
double CumSumFlops(const Unit& u, const Parser&) {
  return InARow(u.dims[static_cast<size_t>(As<CumSumSpec>(u)->axis)]);
}

constexpr GpuKind kFolds[] = {
    {&FoldSpec::kKind, TakesNumber, RecordFold, nullptr},
    {&RowSquareSpec::kKind, nullptr, RecordRowSquares, nullptr},
    {&ArgSpec::kKind, TakesNumber, RecordArg, nullptr},
    {&TopKSpec::kKind, TakesTopK, RecordTopK, nullptr, TopKFlops},
    {&CumSumSpec::kKind, TakesNumber, RecordCumSum, nullptr, CumSumFlops},
};

}  // namespace

std::span<const GpuKind> FoldKinds() { return kFolds; }

}  // namespace ge_engines::gpu
