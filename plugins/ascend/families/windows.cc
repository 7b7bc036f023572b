// Convolutions and pools over windows of images.
#include <algorithm>

#include "plugins/ascend/families/family.h"
#include "plugins/units/conv/conv.h"
#include "plugins/units/reduce/pool.h"

namespace ge_engines::ascend {
namespace {

// The image with a frame of zeros around it.
Operand FrameOf(const Operand& x, const Dims& left, const Dims& right, Calls* c) {
  Dims dims = x.form.dims, pads;  // of the last axis first
  for (size_t k = left.size(); k-- > 0;) {
    pads.push_back(left[k]);
    pads.push_back(std::max<int64_t>(right[k], 0));  // behind the last window is more
    dims[k + 2] += left[k] + pads.back();
  }
  const Operand framed = c->Between(Form::Image(dims, x.form.type));
  c->Add(c->op().ConstantPadNd, x, pads, Real(0), framed);
  return framed;
}

void RecordConv(const Unit& u, Calls* c) {
  const auto& spec = *As<ConvSpec>(u);
  const Parser& p = c->parser();
  Operand image = c->In(u.in[0], c->ImageOf(u.in[0]));
  Dims pads = spec.pad_l;
  if (Framed(u)) {
    if (spec.transposed) {
      Calls::Refuse(GE_WHY_ATTRIBUTE, "uneven pads of a transposed convolution");
    }
    image = FrameOf(image, spec.pad_l, spec.pad_r, c);
    pads = Dims(pads.size(), 0);
  }
  // A bias in the call is added before the result is rounded.
  const bool read = u.in.size() > 2 && u.in[2] != 0;
  const bool taken =
      !read && !u.bias.empty() && u.bias_factor == 1 && Product(p.dims(u.bias[0])) == spec.dst[1];
  Operand bias;
  if (read || taken) {
    const uint32_t value = read ? u.in[2] : u.bias[0];
    bias = c->In(value, c->DenseOf(value, {spec.dst[1]}));
  }
  const Operand y = c->Out(u.out[0], c->ImageOf(u.out[0]));
  c->Add(c->op().Convolution, image, c->In(u.in[1], c->ImageOf(u.in[1])), bias, spec.stride, pads,
         spec.dilation, spec.transposed, OutputPadding(spec), spec.groups, y, acl::kKeepDtype);
  RecordSteps(u, y, c, taken ? 1 : 0);
}

void RecordPool(const Unit& u, Calls* c) {
  const auto& spec = *As<PoolSpec>(u);
  if (u.dims.size() != 4) Calls::Refuse(GE_WHY_SHAPE, "only images of two axes");
  if (!EndsInside(spec)) Calls::Refuse(GE_WHY_SHAPE, "windows that end beyond the padding");
  Operand image = c->In(u.in[0], c->ImageOf(u.in[0]));
  const Operand y = c->Out(u.out[0], c->ImageOf(u.out[0]));
  if (spec.max) {
    const Dims pads = {spec.pad_l[0], spec.pad_l[1], PadBehind(spec, 0), PadBehind(spec, 1)};
    return c->Add(c->op().MaxPool, image, spec.kernel, spec.stride, 0, pads, Dims(2, 1), 0, y);
  }
  Dims pads = spec.pad_l;
  if (Framed(u)) {
    if (!spec.count_pad) Calls::Refuse(GE_WHY_ATTRIBUTE, "uneven pads that are not counted");
    image = FrameOf(image, spec.pad_l, spec.pad_r, c);
    pads = {0, 0};
  }
  c->Add(c->op().AvgPool2d, image, spec.kernel, spec.stride, pads, false, spec.count_pad, 0,
         acl::kKeepDtype, y);
}

constexpr AscendKind kWindows[] = {
    {&ConvSpec::kKind, RecordConv, true, Blocks::kLikes},
    {&PoolSpec::kKind, RecordPool, true, Blocks::kLikes},
};

}  // namespace

bool Framed(const Unit& unit) {
  if (const auto* conv = As<ConvSpec>(unit)) return !HasEvenPads(*conv);
  const auto* pool = As<PoolSpec>(unit);
  return pool != nullptr && !pool->max && !HasEvenPads(*pool);
}

std::span<const AscendKind> WindowKinds() { return kWindows; }

}  // namespace ge_engines::ascend
