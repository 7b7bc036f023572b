// Arithmetic of integers and of float64, questions about floats, PRelu.
#include "plugins/gpu/kernels/wholes.h"

#include "plugins/gpu/families/family.h"
#include "plugins/gpu/kernel_call.h"
#include "plugins/gpu/kernels/numbers.h"
#include "plugins/gpu/numbers_of.h"
#include "plugins/gpu/strides.h"
#include "plugins/units/elementwise/arithmetic.h"
#include "plugins/units/elementwise/double_pointwise.h"
#include "plugins/units/elementwise/double_power.h"
#include "plugins/units/elementwise/double_relation.h"
#include "plugins/units/elementwise/is_inf.h"
#include "plugins/units/elementwise/prelu.h"

namespace ge_engines::gpu {
namespace {

using device::Reads;
using device::Recorder;
using device::Ref;
using device::Writes;

bool TakesNumbers(const Unit& u, const Parser& p, Why* why) {
  return HasNumber(p.dtype(u.in[0]), why);
}

// One tensor of a pair.
struct Term {
  Ref place;
  Dims dims;
};

// y = x fn z; without z, x fn the spec's number.
void RecordPair(const Unit& u, Fn fn, const Term& x, const Term* z, const Ref& y, Recorder* r) {
  ArithmeticArgs args;
  args.of[0] = args.of[1] = args.of[2] = NumberOf(r->parser().dtype(u.out[0]));
  args.fn = fn;
  args.number = As<ArithmeticSpec>(u)->number;
  args.has_z = z != nullptr;
  Dims dims = u.dims;
  std::vector<Dims> strides = {StridesOf(dims), BroadcastStrides(x.dims, u.dims)};
  std::vector<device::Use> uses = {Writes(y), Reads(x.place)};
  if (z != nullptr) {
    strides.push_back(BroadcastStrides(z->dims, u.dims));
    uses.push_back(Reads(z->place));
  }
  MergeAxes(&dims, &strides);
  args.axes = AxesOf(dims);
  for (size_t k = 0; k < strides.size(); ++k) args.strides[k] = StridesFor(strides[k]);
  AddKernel(KernelId::arithmetic, args, Product(u.dims), std::move(uses), r);
}

void RecordArithmetic(const Unit& u, Recorder* r) {
  const Fn fn = As<ArithmeticSpec>(u)->fn;
  std::vector<Term> terms;  // of a clip: x, then the least and the greatest that there are
  std::vector<Fn> fns;
  for (size_t k = 0; k < u.in.size(); ++k) {
    if (u.in[k] == 0) continue;
    terms.push_back({r->Read(u.in[k]), r->parser().dims(u.in[k])});
    fns.push_back(fn != Fn::kClip ? fn : k == 1 ? Fn::kMax : Fn::kMin);
  }
  const Ref y = r->Write(u.out[0]);
  if (terms.size() == 1 && fn == Fn::kClip) return AddCopy(y, terms[0].place, r);
  if (terms.size() == 1) return RecordPair(u, fn, terms[0], nullptr, y, r);
  for (size_t k = 1; k < terms.size(); ++k) {
    RecordPair(u, fns[k], k == 1 ? terms[0] : Term{y, u.dims}, &terms[k], y, r);
  }
}

uint32_t ArithmeticKernels(const Unit& u) {
  return u.in.size() < 3 ? 1 : static_cast<uint32_t>(u.in.size() - 1);
}

// Sine and cosine are none of them: their angles would want more digits of pi.
bool TakesDouble(const Unit& u, const Parser&, Why* why) {
  const Fn fn = As<DoublePointwiseSpec>(u)->fn;
  return (fn != Fn::kSin && fn != Fn::kCos) ||
         why->Say(GE_WHY_DTYPE, "no kernel for angles of float64");
}

void RecordDouble(const Unit& u, Recorder* r) {
  const auto& spec = *As<DoublePointwiseSpec>(u);
  DoubleArgs args;
  args.fn = spec.fn;
  args.a = spec.a;
  args.b = spec.b;
  const Ref x = r->Read(u.in[0]);
  AddKernel(KernelId::double_function, args, Product(u.dims),
            {Writes(r->Write(u.out[0])), Reads(x)}, r);
}

// Tensors that meet along the result's axes.
template <class A>
std::vector<device::Use> UsesOfBroadcast(const Unit& u, A* args, Recorder* r) {
  Dims dims = u.dims;
  std::vector<Dims> strides = {StridesOf(dims)};
  std::vector<device::Use> uses(1);
  for (const uint32_t v : u.in) {
    strides.push_back(BroadcastStrides(r->parser().dims(v), u.dims));
    uses.push_back(Reads(r->Read(v)));
  }
  uses[0] = Writes(r->Write(u.out[0]));
  MergeAxes(&dims, &strides);
  args->axes = AxesOf(dims);
  for (size_t k = 0; k < strides.size(); ++k) args->strides[k] = StridesFor(strides[k]);
  return uses;
}

void RecordDoublePower(const Unit& u, Recorder* r) {
  DoubleArgs args;
  args.fn = Fn::kPow;
  std::vector<device::Use> uses = UsesOfBroadcast(u, &args, r);
  AddKernel(KernelId::double_function, args, Product(u.dims), std::move(uses), r);
}

void RecordDoubleRelation(const Unit& u, Recorder* r) {
  RelationArgs args;
  SetNumbers(r->parser(), u.in, &args, 1);
  args.test = As<DoubleRelationSpec>(u)->op;
  std::vector<device::Use> uses = UsesOfBroadcast(u, &args, r);
  AddKernel(KernelId::relation, args, Product(u.dims), std::move(uses), r);
}

void RecordIsInf(const Unit& u, Recorder* r) {
  const auto& spec = *As<IsInfSpec>(u);
  IsInfArgs args;
  SetNumbers(r->parser(), {u.out[0], u.in[0]}, &args);
  args.nan = spec.nan;
  args.negative = spec.negative;
  args.positive = spec.positive;
  const Ref x = r->Read(u.in[0]);
  AddKernel(KernelId::is_inf, args, Product(u.dims), {Writes(r->Write(u.out[0])), Reads(x)}, r);
}

void RecordPRelu(const Unit& u, Recorder* r) {
  PReluArgs args;
  SetNumbers(r->parser(), {u.out[0], u.in[0], u.in[1]}, &args);
  Dims dims = u.dims;
  std::vector<Dims> strides = {BroadcastStrides(r->parser().dims(u.in[1]), u.dims)};
  MergeAxes(&dims, &strides);
  args.axes = AxesOf(dims);
  args.slope = StridesFor(strides[0]);
  const Ref x = r->Read(u.in[0]), slope = r->Read(u.in[1]);
  AddKernel(KernelId::prelu, args, Product(u.dims),
            {Writes(r->Write(u.out[0])), Reads(x), Reads(slope)}, r);
}

constexpr GpuKind kWholes[] = {
    {&ArithmeticSpec::kKind, TakesNumbers, RecordArithmetic, ArithmeticKernels},
    {&DoublePointwiseSpec::kKind, TakesDouble, RecordDouble, nullptr},
    {&DoublePowerSpec::kKind, nullptr, RecordDoublePower, nullptr},
    {&DoubleRelationSpec::kKind, nullptr, RecordDoubleRelation, nullptr},
    {&IsInfSpec::kKind, nullptr, RecordIsInf, nullptr},
    {&PReluSpec::kKind, nullptr, RecordPRelu, nullptr},
};

}  // namespace

std::span<const GpuKind> WholeKinds() { return kWholes; }

}  // namespace ge_engines::gpu
