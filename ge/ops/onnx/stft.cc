#include "ge/ops/scalar_inputs.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status CheckStftSignal(InferContext& c, bool onesided) {
  const Type& x = c.input_type(0);
  if (!x.ranked) return {};
  // PyTorch's exporter leaves the last axis of a real signal out.
  const bool fits =
      x.rank() == 2 || (x.rank() == 3 && (!x.dims[2].known() || x.dims[2].value == 1 ||
                                          (x.dims[2].value == 2 && !onesided)));
  if (fits) return {};
  return Bad(c.node(), fmt::format("input 'signal' has shape {}, wanted rank 2, or rank 3 and last "
                                   "size 1, or 2 (complex) with onesided 0",
                                   Show(c.dims(), x.dims)));
}

// Samples of a frame: frame_length, else as the window has, else all.
Result<Dim> StftLength(InferContext& c, Dim samples) {
  const auto has = [&](size_t i) { return c.input_count() > i && c.has_input(i); };
  std::optional<Dim> length;
  if (has(3)) {
    GE_ASSIGN_OR_RETURN(length, ScalarSize(c, 3, "frame_length", 1));
  }
  if (has(2) && c.input_type(2).ranked) {
    const Type& window = c.input_type(2);
    if (window.rank() != 1) {
      return Bad(c.node(), fmt::format("input 'window' has shape {}, wanted rank 1",
                                       Show(c.dims(), window.dims)));
    }
    const Dim own = window.dims[0];
    if (!length) length = own;
    GE_ASSIGN_OR_RETURN(length, SameDim(c, *length, own, "'frame_length' and size of 'window'"));
  } else if (has(2) && !length) {
    length = c.FreshDim("frame", false);
  }
  const Dim found = length.value_or(samples);
  const bool fits =
      !found.known() || (found.value >= 1 && (!samples.known() || found.value <= samples.value));
  if (fits) return found;
  return Bad(c.node(), fmt::format("a frame has {} samples, wanted 1 to {}: all of the signal",
                                   found.value, c.dims().ToString(samples)));
}

Status InferStft(InferContext& c) {
  const bool onesided = AttrInt(c.node(), "onesided") != 0;
  const Type& x = c.input_type(0);
  GE_RETURN_IF_ERROR(CheckStftSignal(c, onesided));
  const Dim batch = x.ranked ? x.dims[0] : c.FreshDim("batch", false);
  const Dim samples = x.ranked ? x.dims[1] : c.FreshDim("samples", false);
  GE_ASSIGN_OR_RETURN(const Dim length, StftLength(c, samples));
  GE_ASSIGN_OR_RETURN(const Dim step, ScalarSize(c, 1, "frame_step", 1));
  Dim bins = length, frames = c.FreshDim("frames", true);
  if (onesided) {
    auto half = c.dims().FloorDiv(length, KnownDim(2));
    if (half) half = c.dims().Add(*half, KnownDim(1));
    GE_ASSIGN_OR_RETURN(bins, Checked(c.node(), half, "the size of the spectrum"));
  }
  if (step.known()) {
    auto count = c.dims().Sub(samples, length);
    if (count) count = c.dims().FloorDiv(*count, step);
    if (count) count = c.dims().Add(*count, KnownDim(1));
    GE_ASSIGN_OR_RETURN(frames, Checked(c.node(), count, "the number of frames"));
  }
  return SetTensor(c, 0, x.dtype, {batch, frames, bins, KnownDim(2)});
}

// Eight flops for each sample of a frame and each frequency, which no table of the sizes shortens:
// a spectrum of half the frequencies is that of twice as many samples.
Work EffortStft(const Node& n, std::span<const Type> in, std::span<const Type> out) {
  if (out.empty() || out[0].rank() != 4 || !out[0].dims[2].known()) return {0, BytesOf(in, out)};
  const double bins = static_cast<double>(out[0].dims[2].value);
  const double length = AttrInt(n, "onesided") != 0 ? 2 * bins : bins;
  return {4 * length * ElementsOf(out[0]), BytesOf(in, out)};  // a frequency is two elements
}

OpDef StftRecord() {
  OpDef op{"", "STFT", 17, {}, {}, {}, InferStft, EffortStft};
  op.inputs = {{"signal", kFloats, "T1"},
               {"frame_step", kIndex, "T2"},
               {"window", kFloats, "T1", Arity::kOptional},
               {"frame_length", kIndex, "T2", Arity::kOptional}};
  op.outputs = {{"output", kFloats, "T1"}};
  op.attrs = {{"onesided", AttrKind::kInt, 1}};
  return op;
}

}  // namespace

// Fourier transforms of frames of a signal, a step apart, each under the same window.
GE_OP(stft) = StftRecord();

}  // namespace ge
