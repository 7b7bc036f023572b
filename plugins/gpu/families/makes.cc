// Tensors made of little, and triangles of matrices.
#include "plugins/gpu/kernels/makes.h"

#include <cstring>

#include "plugins/gpu/families/family.h"
#include "plugins/gpu/kernel_call.h"
#include "plugins/gpu/numbers_of.h"
#include "plugins/units/elementwise/random.h"
#include "plugins/units/movement/constant_of_shape.h"
#include "plugins/units/movement/eye_like.h"
#include "plugins/units/movement/range.h"
#include "plugins/units/movement/trilu.h"

namespace ge_engines::gpu {
namespace {

using device::Reads;
using device::Recorder;
using device::Ref;
using device::Writes;

void RecordFill(const Unit& u, Recorder* r) {
  const auto& element = As<FillSpec>(u)->element;
  FillArgs args;
  std::memcpy(&args.element, element.data(), sizeof args.element);
  args.bytes = r->parser().size(u.out[0]);
  AddKernel(KernelId::fill, args, Product(u.dims), {Writes(r->Write(u.out[0]))}, r);
}

void RecordRange(const Unit& u, Recorder* r) {
  RangeArgs args;
  SetNumbers(r->parser(), {u.out[0], u.in[0], u.in[2]}, &args);
  const Ref start = r->Read(u.in[0]), delta = r->Read(u.in[2]);
  AddKernel(KernelId::range, args, Product(u.dims),
            {Writes(r->Write(u.out[0])), Reads(start), Reads(delta)}, r);
}

void RecordEye(const Unit& u, Recorder* r) {
  EyeArgs args;
  SetNumbers(r->parser(), {u.out[0]}, &args);
  args.columns = Divider::By(static_cast<uint64_t>(u.dims[1]));
  args.diagonal = As<EyeSpec>(u)->diagonal;
  AddKernel(KernelId::eye, args, Product(u.dims), {Writes(r->Write(u.out[0]))}, r);
}

void RecordTriangle(const Unit& u, Recorder* r) {
  TriangleArgs args;
  args.columns = Divider::By(static_cast<uint64_t>(u.dims.back()));
  args.rows = Divider::By(static_cast<uint64_t>(u.dims[u.dims.size() - 2]));
  args.diagonal = As<TriangleSpec>(u)->diagonal;
  args.upper = As<TriangleSpec>(u)->upper;
  args.bytes = r->parser().size(u.in[0]);
  const Ref x = r->Read(u.in[0]);
  AddKernel(KernelId::triangle, args, Product(u.dims), {Writes(r->Write(u.out[0])), Reads(x)}, r);
}

bool MakesNumber(const Unit& u, const Parser& p, Why* why) {
  return HasNumber(p.dtype(u.out[0]), why);
}

void RecordRandom(const Unit& u, Recorder* r) {
  const auto& spec = *As<RandomSpec>(u);
  const bool shares = spec.of == RandomSpec::Of::kBernoulli;
  RandomArgs args;
  SetNumbers(r->parser(), {u.out[0], shares ? u.in[0] : 0}, &args);
  args.draw = shares                               ? Draw::kBernoulli
              : spec.of == RandomSpec::Of::kNormal ? Draw::kNormal
                                                   : Draw::kUniform;
  args.low = spec.key.low;
  args.high = spec.key.high;
  args.from = spec.at;
  args.width = spec.width;
  args.n = Product(u.dims);
  std::vector<device::Use> uses(1);
  if (shares) uses.push_back(Reads(r->Read(u.in[0])));
  uses[0] = Writes(r->Write(u.out[0]));
  AddKernel(KernelId::random, args, CeilDiv(args.n, 2), std::move(uses), r);
}

constexpr GpuKind kMakes[] = {
    {&FillSpec::kKind, nullptr, RecordFill, nullptr},
    {&RangeSpec::kKind, nullptr, RecordRange, nullptr},
    {&EyeSpec::kKind, nullptr, RecordEye, nullptr},
    {&TriangleSpec::kKind, nullptr, RecordTriangle, nullptr},
    {&RandomSpec::kKind, MakesNumber, RecordRandom, nullptr},
};

}  // namespace

std::span<const GpuKind> MakeKinds() { return kMakes; }

}  // namespace ge_engines::gpu
