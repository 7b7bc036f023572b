// Pools and convolutions over windows of images.
#include "plugins/gpu/kernels/windows.h"

#include "plugins/gpu/families/family.h"
#include "plugins/gpu/kernel_call.h"
#include "plugins/gpu/numbers_of.h"
#include "plugins/units/conv/conv.h"
#include "plugins/units/reduce/pool.h"
#include "plugins/units/training/max_pool_grad.h"

namespace ge_engines::gpu {
namespace {

using device::Reads;
using device::Recorder;
using device::Ref;
using device::Writes;

// The window of images of dims [n, c, spatial...].
Window WindowFor(const Dims& src, const Dims& dst, const int64_t* kernel, const Dims& stride,
                 const Dims& dilation, const Dims& pad) {
  Window w;
  const size_t axes = src.size() - 2, first = kWindowAxes - axes;
  for (size_t k = 0; k < axes; ++k) {
    w.src[first + k] = src[k + 2];
    w.dst[first + k] = Divider::By(static_cast<uint64_t>(dst[k + 2]));
    w.kernel[first + k] = kernel[k];
    w.stride[first + k] = stride[k];
    w.dilation[first + k] = dilation[k];
    w.pad[first + k] = pad[k];
  }
  return w;
}

void RecordPool(const Unit& u, Recorder* r) {
  const auto& spec = *As<PoolSpec>(u);
  PoolArgs args;
  SetNumbers(r->parser(), {u.out[0], u.in[0]}, &args);
  args.max = spec.max;
  args.count_pad = spec.count_pad;
  args.window = WindowFor(spec.src, spec.dst, spec.kernel.begin(), spec.stride,
                          Dims(spec.kernel.size(), 1), spec.pad_l);
  const Ref x = r->Read(u.in[0]);
  AddKernel(KernelId::pool, args, Product(u.dims), {Writes(r->Write(u.out[0])), Reads(x)}, r);
}

bool TakesPoolGrad(const Unit& u, const Parser&, Why* why) {
  return u.dims.size() <= kWindowAxes + 2 || why->Say(GE_WHY_SHAPE, "more than three axes");
}

// Each pixel looks at all taps of the windows that it lies in.
double PoolGradFlops(const Unit& u, const Parser&) {
  const auto& spec = *As<PoolGradSpec>(u);
  const auto taps = static_cast<double>(Product(spec.kernel));
  return 4 * static_cast<double>(Product(spec.dy)) * taps * taps;
}
double PoolFlops(const Unit& u, const Parser&) {
  return 4 * static_cast<double>(Product(u.dims)) *
         static_cast<double>(Product(As<PoolSpec>(u)->kernel));
}

void RecordPoolGrad(const Unit& u, Recorder* r) {
  const auto& spec = *As<PoolGradSpec>(u);
  PoolGradArgs args;
  SetNumbers(r->parser(), {u.out[0], u.in[0], u.in[1]}, &args);
  args.window =
      WindowFor(spec.x, spec.dy, spec.kernel.begin(), spec.stride, spec.dilation, spec.pad_l);
  const Ref dy = r->Read(u.in[0]), x = r->Read(u.in[1]);
  AddKernel(KernelId::pool_grad, args, Product(u.dims),
            {Writes(r->Write(u.out[0])), Reads(dy), Reads(x)}, r);
}

void RecordConv(const Unit& u, Recorder* r) {
  const auto& spec = *As<ConvSpec>(u);
  ConvArgs args;
  SetNumbers(r->parser(), {u.out[0], u.in[0], u.in[1], u.in.size() > 2 ? u.in[2] : 0}, &args);
  const size_t first = spec.groups > 1 ? 3 : 2;  // spatial axis of the weights
  // A transposed one is the gradient of a convolution from its result to its image.
  args.window =
      WindowFor(spec.transposed ? spec.dst : spec.src, spec.transposed ? spec.src : spec.dst,
                spec.weights.begin() + first, spec.stride, spec.dilation, spec.pad_l);
  args.groups = spec.groups;
  args.channels = Divider::By(static_cast<uint64_t>(spec.dst[1]));
  args.group_out = spec.dst[1] / spec.groups;
  args.group_in = spec.src[1] / spec.groups;
  args.biased = u.in.size() > 2;
  const Ref x = r->Read(u.in[0]), weights = r->Read(u.in[1]);
  const Ref bias = args.biased ? r->Read(u.in[2]) : x;
  const Ref y = r->Write(u.out[0]);
  const MainResult main = ResultOfMain(u, y, r);
  args.of[0] = main.of;
  AddKernel(spec.transposed ? KernelId::conv_transpose : KernelId::conv, args, Product(u.dims),
            {Writes(main.place), Reads(x), Reads(weights), Reads(bias)}, r);
  RecordPostOps(u, main, y, r);
}

constexpr GpuKind kWindows[] = {
    {&PoolSpec::kKind, nullptr, RecordPool, nullptr, PoolFlops},
    {&PoolGradSpec::kKind, TakesPoolGrad, RecordPoolGrad, nullptr, PoolGradFlops},
    {&ConvSpec::kKind, nullptr, RecordConv, nullptr},
};

}  // namespace

std::span<const GpuKind> WindowKinds() { return kWindows; }

}  // namespace ge_engines::gpu
