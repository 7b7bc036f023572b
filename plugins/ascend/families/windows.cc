// Convolutions and pools over windows of images.
#include <algorithm>

#include "plugins/ascend/families/steps.h"
#include "plugins/units/conv/conv.h"
#include "plugins/units/reduce/pool.h"

namespace ge_engines::ascend {
namespace {

using device::Ref;

bool Even(const Dims& left, const Dims& right) { return left == right; }

// The image with a frame of zeros around it, as a tensor between two calls.
TensorAt Framed(const Ref& x, const Form& form, const Dims& left, const Dims& right, Calls* c) {
  Form framed = form;
  Dims pads;  // of the last axis first
  for (size_t k = left.size(); k-- > 0;) {
    pads.push_back(left[k]);
    pads.push_back(right[k]);
    framed.dims[k + 2] += left[k] + right[k];
  }
  framed = Form::Dense(framed.dims, form.type);
  const auto bytes = static_cast<uint64_t>(Product(framed.dims)) * x.bytes /
                     static_cast<uint64_t>(std::max<int64_t>(1, Product(form.dims)));
  const Ref made = c->recorder().Between(bytes);
  const TensorAt from = c->In(x, form), to = c->Out(made, framed);
  c->Add(c->op().ConstantPadNd, from, pads, ScalarOf{0, acl::kF32}, to);
  return c->In(made, framed);
}

bool TakesConv(const Unit& u, const Parser& p, const acl::Operators& op, Why* why) {
  const auto& spec = *As<ConvSpec>(u);
  for (const uint32_t v : u.in) {
    if (v != 0 && p.dtype(v) != p.dtype(u.out[0])) {
      return why->Say(GE_WHY_DTYPE, "its tensors have several dtypes");
    }
  }
  if (spec.transposed && !Even(spec.pad_l, spec.pad_r)) {
    return why->Say(GE_WHY_ATTRIBUTE, "uneven pads of a transposed convolution");
  }
  return Has(op.Convolution, "Convolution", why) && Has(op.ConstantPadNd, "ConstantPadNd", why) &&
         TakesSteps(u, u.dims, p, op, why);
}

// What a transposed convolution's result has beyond its windows, an axis.
Dims OutputPadding(const ConvSpec& spec, const Dims& weights) {
  Dims more(spec.stride.size(), 0);
  if (!spec.transposed) return more;
  for (size_t k = 0; k < more.size(); ++k) {
    const int64_t reach = (spec.src[k + 2] - 1) * spec.stride[k] - 2 * spec.pad_l[k] +
                          spec.dilation[k] * (weights[k + 2] - 1) + 1;
    more[k] = spec.dst[k + 2] - reach;
  }
  return more;
}

void RecordConv(const Unit& u, Calls* c) {
  const auto& spec = *As<ConvSpec>(u);
  const Parser& p = c->parser();
  const Dims weights = p.dims(u.in[1]);
  // A bias in the call is added before the result is rounded.
  const bool biased = u.in.size() > 2 && u.in[2] != 0;
  const bool takes_bias =
      !biased && !u.bias.empty() && u.bias_factor == 1 && Product(p.dims(u.bias[0])) == spec.dst[1];
  const Ref x = c->recorder().Read(u.in[0]), w = c->recorder().Read(u.in[1]);
  for (const PostOp& q : u.post_ops) {
    if (q.operand != 0) (void)c->recorder().Read(q.operand);
  }
  const Ref y = c->recorder().Write(u.out[0]);
  const bool even = Even(spec.pad_l, spec.pad_r);
  const TensorAt image = even ? c->In(x, c->FormOf(u.in[0]))
                              : Framed(x, c->FormOf(u.in[0]), spec.pad_l, spec.pad_r, c);
  const TensorAt weight = c->In(w, c->FormOf(u.in[1]));
  TensorAt bias;
  if (biased || takes_bias) {
    const uint32_t value = biased ? u.in[2] : u.bias[0];
    bias = c->In(c->recorder().Read(value), c->FormOf(value, {spec.dst[1]}));
  }
  const TensorAt result = c->Out(y, c->FormOf(u.out[0]));
  const Dims pads = even ? spec.pad_l : Dims(spec.pad_l.size(), 0);
  c->Add(c->op().Convolution, image, weight, bias, spec.stride, pads, spec.dilation,
         spec.transposed, OutputPadding(spec, weights), spec.groups, result, acl::kKeepDtype);
  RecordSteps(u, y, u.dims, y, c, takes_bias ? 1 : 0);
}

uint32_t ConvOperators(const Unit& u) {
  const auto& spec = *As<ConvSpec>(u);
  return 1 + OperatorsOfSteps(u) + (Even(spec.pad_l, spec.pad_r) ? 0 : 1);
}

// ---- pools -------------------------------------------------------------------------------------

// Windows of a pool that end where the padding does: the vendor's has no other.
bool EndsInside(const PoolSpec& spec) {
  for (size_t k = 0; k < spec.kernel.size(); ++k) {
    const int64_t room = spec.src[k + 2] + spec.pad_l[k] + spec.pad_r[k] - spec.kernel[k];
    if (room / spec.stride[k] + 1 != spec.dst[k + 2]) return false;
  }
  return true;
}

bool TakesPool(const Unit& u, const Parser& p, const acl::Operators& op, Why* why) {
  const auto& spec = *As<PoolSpec>(u);
  if (p.dtype(u.in[0]) != p.dtype(u.out[0])) {
    return why->Say(GE_WHY_DTYPE, "its tensors have several dtypes");
  }
  if (u.dims.size() != 4) return why->Say(GE_WHY_SHAPE, "only images of two axes");
  if (!EndsInside(spec)) return why->Say(GE_WHY_SHAPE, "windows that end beyond the padding");
  if (spec.max) return Has(op.MaxPool, "MaxPool", why);
  if (!spec.count_pad && !Even(spec.pad_l, spec.pad_r)) {
    return why->Say(GE_WHY_ATTRIBUTE, "uneven pads that are not counted");
  }
  return Has(op.AvgPool2d, "AvgPool2d", why) && Has(op.ConstantPadNd, "ConstantPadNd", why);
}

void RecordPool(const Unit& u, Calls* c) {
  const auto& spec = *As<PoolSpec>(u);
  const Ref x = c->recorder().Read(u.in[0]), y = c->recorder().Write(u.out[0]);
  const Form form = c->FormOf(u.in[0]);
  if (spec.max) {
    const Dims pads = {spec.pad_l[0], spec.pad_l[1], spec.pad_r[0], spec.pad_r[1]};
    const TensorAt image = c->In(x, form), result = c->Out(y, c->FormOf(u.out[0]));
    return c->Add(c->op().MaxPool, image, spec.kernel, spec.stride, int64_t{0}, pads, Dims(2, 1),
                  int64_t{0}, result);
  }
  const bool even = Even(spec.pad_l, spec.pad_r);
  const TensorAt image = even ? c->In(x, form) : Framed(x, form, spec.pad_l, spec.pad_r, c);
  const TensorAt result = c->Out(y, c->FormOf(u.out[0]));
  c->Add(c->op().AvgPool2d, image, spec.kernel, spec.stride, even ? spec.pad_l : Dims(2, 0), false,
         spec.count_pad, int64_t{0}, acl::kKeepDtype, result);
}

constexpr AscendKind kWindows[] = {
    {&ConvSpec::kKind, TakesConv, RecordConv, ConvOperators},
    {&PoolSpec::kKind, TakesPool, RecordPool, nullptr},
};

}  // namespace

std::span<const AscendKind> WindowKinds() { return kWindows; }

}  // namespace ge_engines::ascend
