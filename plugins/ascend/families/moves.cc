// Moves of elements: transposes, slices, concatenation, expansion, tiles, pads, triangles; tensors
// made of one number.
#include <algorithm>
#include <cstring>

#include "plugins/ascend/families/steps.h"
#include "plugins/units/half.h"
#include "plugins/units/movement/concat.h"
#include "plugins/units/movement/constant_of_shape.h"
#include "plugins/units/movement/depth_to_space.h"
#include "plugins/units/movement/expand.h"
#include "plugins/units/movement/pad.h"
#include "plugins/units/movement/range.h"
#include "plugins/units/movement/reshape.h"
#include "plugins/units/movement/slice.h"
#include "plugins/units/movement/tile.h"
#include "plugins/units/movement/transpose.h"
#include "plugins/units/movement/trilu.h"
#include "plugins/units/resample/resize.h"

namespace ge_engines::ascend {
namespace {

constexpr size_t kMostAxes = 8;  // of a tensor of the vendor's

bool TakesCopy(const Unit&, const Parser&, const acl::Operators& op, Why* why) {
  return Has(op.InplaceCopy, "InplaceCopy", why);
}

bool TakesTwice(const Unit& u, const Parser& p, const acl::Operators& op, Why* why) {
  if (2 * u.dims.size() > kMostAxes) return why->Say(GE_WHY_SHAPE, "more than four axes");
  return TakesCopy(u, p, op, why);
}

// Copies between two looks at tensors, of the same dims.
void RecordCopy(const Form& to, const device::Ref& y, const Form& from, const device::Ref& x,
                Calls* c) {
  const TensorAt source = c->In(x, from), target = c->Out(y, to);
  c->Add(c->op().InplaceCopy, target, source);
}

// Another look at the storage of a dense tensor.
Form Look(const Form& dense, const Dims& dims, const Dims& strides, int64_t offset = 0) {
  Form form = dense;
  form.dims = dims;
  form.strides = strides;
  form.offset = offset;
  return form;
}

void RecordTranspose(const Unit& u, Calls* c) {
  const TensorAt x = c->In(u.in[0]);
  c->Add(c->op().Permute, x, As<TransposeSpec>(u)->perm, c->Out(u.out[0]));
}
bool TakesTranspose(const Unit&, const Parser&, const acl::Operators& op, Why* why) {
  return Has(op.Permute, "Permute", why);
}

void RecordExpand(const Unit& u, Calls* c) {
  const TensorAt x = c->In(u.in[0]);
  c->Add(c->op().Expand, x, u.dims, c->Out(u.out[0]));
}
bool TakesExpand(const Unit&, const Parser&, const acl::Operators& op, Why* why) {
  return Has(op.Expand, "Expand", why);
}

// The axes of x, then how often each is repeated.
void RecordTile(const Unit& u, Calls* c) {
  Dims repeats;
  const Dims dims = c->parser().dims(u.in[0]);
  for (size_t k = 0; k < dims.size(); ++k) repeats.push_back(u.dims[k] / dims[k]);
  const TensorAt x = c->In(u.in[0]);
  c->Add(c->op().Repeat, x, repeats, c->Out(u.out[0]));
}
bool TakesTile(const Unit&, const Parser&, const acl::Operators& op, Why* why) {
  return Has(op.Repeat, "Repeat", why);
}

// An axis that is repeated becomes two, of which the second stands still in x.
void RecordResize(const Unit& u, Calls* c) {
  const Form x = c->FormOf(u.in[0]), y = c->FormOf(u.out[0]);
  Dims dims, from, to;
  for (size_t k = 0; k < x.dims.size(); ++k) {
    const int64_t factor = As<ResizeSpec>(u)->factors[k];
    for (const bool stands : {false, true}) {
      dims.push_back(stands ? factor : x.dims[k]);
      from.push_back(stands ? 0 : x.strides[k]);
      to.push_back(stands ? y.strides[k] : y.strides[k] * factor);
    }
  }
  const device::Ref source = c->recorder().Read(u.in[0]);
  RecordCopy(Look(y, dims, to), c->recorder().Write(u.out[0]), Look(x, dims, from), source, c);
}

bool TakesDepthToSpace(const Unit& u, const Parser& p, const acl::Operators& op, Why* why) {
  if (As<MoveSpec>(u)->axes.size() > kMostAxes) return why->Say(GE_WHY_SHAPE, "too many axes");
  return TakesCopy(u, p, op, why);
}

void RecordDepthToSpace(const Unit& u, Calls* c) {
  const Form x = c->FormOf(u.in[0]), y = c->FormOf(u.out[0]);
  Dims dims, from, to;
  for (const MoveSpec::Axis& axis : As<MoveSpec>(u)->axes) {
    dims.push_back(axis.size);
    to.push_back(axis.to);
    from.push_back(x.strides[static_cast<size_t>(axis.x)] * axis.times);
  }
  const device::Ref source = c->recorder().Read(u.in[0]);
  RecordCopy(Look(y, dims, to), c->recorder().Write(u.out[0]), Look(x, dims, from), source, c);
}

bool TakesSlice(const Unit& u, const Parser& p, const acl::Operators& op, Why* why) {
  for (const Box& box : As<SliceSpec>(u)->boxes) {
    const bool back =
        std::any_of(box.step.begin(), box.step.end(), [](int64_t s) { return s < 0; });
    if (back) return why->Say(GE_WHY_ATTRIBUTE, "steps backwards");
  }
  return TakesCopy(u, p, op, why) && Has(op.Slice, "Slice", why);
}

// Along one axis the vendor's Slice, else a copy of a look.
void RecordSlice(const Unit& u, Calls* c) {
  const device::Ref x = c->recorder().Read(u.in[0]);
  const Form form = c->FormOf(u.in[0]);
  const auto& boxes = As<SliceSpec>(u)->boxes;
  for (size_t k = 0; k < boxes.size(); ++k) {
    const Form y = c->FormOf(u.out[k]);
    const Box& box = boxes[k];
    Dims strides = form.strides;
    int64_t offset = 0;
    size_t cut = 0, axis = 0;
    for (size_t a = 0; a < strides.size(); ++a) {
      if (y.dims[a] != form.dims[a]) {
        ++cut;
        axis = a;
      }
      offset += box.start[a] * strides[a];
      strides[a] *= box.step[a];
    }
    const device::Ref to = c->recorder().Write(u.out[k]);
    if (cut == 1) {
      const int64_t end = box.start[axis] + (y.dims[axis] - 1) * box.step[axis] + 1;
      const TensorAt from = c->In(x, form), made = c->Out(to, y);
      c->Add(c->op().Slice, from, static_cast<int64_t>(axis), box.start[axis], end, box.step[axis],
             made);
    } else {
      RecordCopy(y, to, Look(form, y.dims, strides, offset), x, c);
    }
  }
}
uint32_t SliceOperators(const Unit& u) {
  return static_cast<uint32_t>(As<SliceSpec>(u)->boxes.size());
}

bool TakesConcat(const Unit& u, const Parser&, const acl::Operators& op, Why* why) {
  if (u.in.size() > device::kMostUses - 2) return why->Say(GE_WHY_SHAPE, "too many tensors");
  return Has(op.Cat, "Cat", why);
}

void RecordConcat(const Unit& u, Calls* c) {
  std::vector<TensorAt> from;
  for (const uint32_t v : u.in) {
    if (Product(c->parser().dims(v)) != 0) from.push_back(c->In(v));
  }
  c->Add(c->op().Cat, std::move(from), int64_t{As<ConcatSpec>(u)->axis}, c->Out(u.out[0]));
}

bool TakesPad(const Unit& u, const Parser& p, const acl::Operators& op, Why* why) {
  const auto& spec = *As<FillPadSpec>(u);
  float value = 0;
  if (!p.IsReal(p.dtype(u.in[0]))) return why->Say(GE_WHY_DTYPE, "only floats");
  if (u.in.size() > 1 && !p.Scalar(u.in[1], &value)) {
    return why->Say(GE_WHY_DYNAMIC, "the padding's value is not constant");
  }
  for (size_t k = 0; k < spec.x.size(); ++k) {
    if (spec.before[k] < 0 || spec.y[k] - spec.x[k] - spec.before[k] < 0) {
      return why->Say(GE_WHY_ATTRIBUTE, "pads that cut");
    }
  }
  return Has(op.ConstantPadNd, "ConstantPadNd", why);
}

void RecordPad(const Unit& u, Calls* c) {
  const auto& spec = *As<FillPadSpec>(u);
  Dims pads;  // of the last axis first
  for (size_t k = spec.x.size(); k-- > 0;) {
    pads.push_back(spec.before[k]);
    pads.push_back(spec.y[k] - spec.x[k] - spec.before[k]);
  }
  float value = 0;
  if (u.in.size() > 1) (void)c->parser().Scalar(u.in[1], &value);
  const TensorAt x = c->In(u.in[0]);
  c->Add(c->op().ConstantPadNd, x, pads, ScalarOf{value, acl::kF32}, c->Out(u.out[0]));
}

bool TakesTriangle(const Unit& u, const Parser&, const acl::Operators& op, Why* why) {
  const auto& spec = *As<TriangleSpec>(u);
  return Has(spec.upper ? op.Triu : op.Tril, spec.upper ? "Triu" : "Tril", why);
}

void RecordTriangle(const Unit& u, Calls* c) {
  const auto& spec = *As<TriangleSpec>(u);
  const TensorAt x = c->In(u.in[0]);
  c->Add(spec.upper ? c->op().Triu : c->op().Tril, x, spec.diagonal, c->Out(u.out[0]));
}

// ---- tensors made of little --------------------------------------------------------------------

// The element as a number; false: not one that a scalar of the vendor's holds exactly.
bool ElementOf(const FillSpec& spec, int32_t dtype, double* value) {
  switch (dtype) {
    case GE_F32:
    case GE_F16:
    case GE_BF16:
      *value = ElementAsFloat(spec.element.data(), dtype, 0);
      return true;
    case GE_I32: {
      int32_t whole = 0;
      std::memcpy(&whole, spec.element.data(), sizeof whole);
      *value = whole;
      return true;
    }
    case GE_I64: {
      int64_t whole = 0;
      std::memcpy(&whole, spec.element.data(), sizeof whole);
      *value = static_cast<double>(whole);
      return whole > -(int64_t{1} << 53) && whole < int64_t{1} << 53;
    }
    default:
      return false;
  }
}

bool TakesFill(const Unit& u, const Parser& p, const acl::Operators& op, Why* why) {
  double value = 0;
  if (!ElementOf(*As<FillSpec>(u), p.dtype(u.out[0]), &value)) {
    return why->Say(GE_WHY_DTYPE, "no scalar of such a value");
  }
  return Has(op.InplaceFillScalar, "InplaceFillScalar", why);
}

void RecordFill(const Unit& u, Calls* c) {
  double value = 0;
  (void)ElementOf(*As<FillSpec>(u), c->parser().dtype(u.out[0]), &value);
  const TensorAt y = c->Out(u.out[0]);
  const bool whole = y.form.type == acl::kI32 || y.form.type == acl::kI64;
  const ScalarOf scalar{value, whole ? y.form.type : acl::kF32};
  c->Add(c->op().InplaceFillScalar, y, scalar);
}

// plugins/device makes views itself, but for those with post-ops, which there are none of.
void RecordView(const Unit& u, Calls* c) { c->recorder().View(u.out[0], u.in[0]); }

constexpr AscendKind kMoves[] = {
    {&ViewSpec::kKind, nullptr, RecordView, nullptr},
    {&TransposeSpec::kKind, TakesTranspose, RecordTranspose, nullptr},
    {&ExpandSpec::kKind, TakesExpand, RecordExpand, nullptr},
    {&TileSpec::kKind, TakesTile, RecordTile, nullptr},
    {&ResizeSpec::kKind, TakesTwice, RecordResize, nullptr},
    {&MoveSpec::kKind, TakesDepthToSpace, RecordDepthToSpace, nullptr},
    {&SliceSpec::kKind, TakesSlice, RecordSlice, SliceOperators},
    {&ConcatSpec::kKind, TakesConcat, RecordConcat, nullptr},
    {&FillPadSpec::kKind, TakesPad, RecordPad, nullptr},
    {&TriangleSpec::kKind, TakesTriangle, RecordTriangle, nullptr},
    {&FillSpec::kKind, TakesFill, RecordFill, nullptr},
};

}  // namespace

std::span<const AscendKind> MoveKinds() { return kMoves; }

}  // namespace ge_engines::ascend
