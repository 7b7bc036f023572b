// Moves of elements: transposes, slices, concatenation, expansion, tiles, pads, triangles; tensors
// made of few numbers.
#include <algorithm>

#include "plugins/ascend/families/family.h"
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

// Another look at the storage of a tensor, by strides.
Operand Strided(const Operand& x, const Dims& dims, const Dims& strides, int64_t offset = 0) {
  constexpr size_t kMostAxes = 8;  // of a tensor of the vendor's
  if (dims.size() > kMostAxes) Calls::Refuse(GE_WHY_SHAPE, "its copy would have over eight axes");
  Operand look = x;
  look.form.dims = dims;
  look.form.strides = strides;
  look.form.offset = offset;
  return look;
}

void RecordTranspose(const Unit& u, Calls* c) {
  c->Add(c->op().Permute, c->In(u.in[0]), As<TransposeSpec>(u)->perm, c->Out(u.out[0]));
}

void RecordExpand(const Unit& u, Calls* c) {
  c->Add(c->op().Expand, c->In(u.in[0]), u.dims, c->Out(u.out[0]));
}

void RecordTile(const Unit& u, Calls* c) {
  const Operand x = c->In(u.in[0]);
  Dims repeats = u.dims;
  for (size_t k = 0; k < repeats.size(); ++k) repeats[k] /= x.form.dims[k];
  c->Add(c->op().Repeat, x, repeats, c->Out(u.out[0]));
}

void RecordResize(const Unit& u, Calls* c) {
  const Dims& factors = As<ResizeSpec>(u)->factors;
  if (u.dims.size() != 4 || factors[0] != 1 || factors[1] != 1) {
    Calls::Refuse(GE_WHY_SHAPE, "only rows and columns of images");
  }
  c->Add(c->op().UpsampleNearest2d, c->In(u.in[0], c->ImageOf(u.in[0])), Dims{u.dims[2], u.dims[3]},
         c->Out(u.out[0], c->ImageOf(u.out[0])));
}

void RecordDepthToSpace(const Unit& u, Calls* c) {
  const Operand x = c->In(u.in[0]), y = c->Out(u.out[0]);
  Dims dims, from, to;
  for (const MoveSpec::Axis& axis : As<MoveSpec>(u)->axes) {
    dims.push_back(axis.size);
    to.push_back(axis.to);
    from.push_back(x.form.strides[static_cast<size_t>(axis.x)] * axis.times);
  }
  c->Add(c->op().InplaceCopy, Strided(y, dims, to), Strided(x, dims, from));
}

// Along one axis the vendor's Slice, else a copy of a look.
void RecordSlice(const Unit& u, Calls* c) {
  for (size_t k = 0; k < u.out.size(); ++k) {
    if (u.out[k] == 0 || Product(c->parser().dims(u.out[k])) == 0) continue;
    const Box& box = As<SliceSpec>(u)->boxes[k];
    if (GoesBack(box)) Calls::Refuse(GE_WHY_ATTRIBUTE, "steps backwards");
    const Operand x = c->In(u.in[0]), y = c->Out(u.out[k]);
    const Dims &from = x.form.dims, &to = y.form.dims;
    const auto a = static_cast<size_t>(std::mismatch(from.begin(), from.end(), to.begin()).first -
                                       from.begin());
    if (a < to.size() && std::equal(from.begin() + a + 1, from.end(), to.begin() + a + 1)) {
      const int64_t end = box.start[a] + (to[a] - 1) * box.step[a] + 1;
      c->Add(c->op().Slice, x, static_cast<int64_t>(a), box.start[a], end, box.step[a], y);
      continue;
    }
    Dims strides = x.form.strides;
    const int64_t begin = BeginOf(box, &strides);
    c->Add(c->op().InplaceCopy, y, Strided(x, to, strides, begin));
  }
}

void RecordConcat(const Unit& u, Calls* c) {
  if (u.in.size() > device::kMostUses - 2) Calls::Refuse(GE_WHY_SHAPE, "too many tensors");
  std::vector<Operand> from;
  for (const uint32_t v : u.in) {
    if (Product(c->parser().dims(v)) != 0) from.push_back(c->In(v));
  }
  c->Add(c->op().Cat, std::move(from), As<ConcatSpec>(u)->axis, c->Out(u.out[0]));
}

void RecordPad(const Unit& u, Calls* c) {
  const auto& spec = *As<FillPadSpec>(u);
  float value = 0;
  if (!c->parser().IsReal(c->parser().dtype(u.in[0]))) Calls::Refuse(GE_WHY_DTYPE, "only floats");
  if (u.in.size() > 1 && !c->parser().Scalar(u.in[1], &value)) {
    Calls::Refuse(GE_WHY_DYNAMIC, "the padding's value is not constant");
  }
  Dims pads;  // of the last axis first
  for (size_t k = spec.x.size(); k-- > 0;) {
    pads.push_back(spec.before[k]);
    pads.push_back(spec.y[k] - spec.x[k] - spec.before[k]);
  }
  if (std::any_of(pads.begin(), pads.end(), [](int64_t pad) { return pad < 0; })) {
    Calls::Refuse(GE_WHY_ATTRIBUTE, "pads that cut");
  }
  c->Add(c->op().ConstantPadNd, c->In(u.in[0], c->DenseOf(u.in[0], spec.x)), pads, Real(value),
         c->Out(u.out[0], c->DenseOf(u.out[0], spec.y)));
}

void RecordTriangle(const Unit& u, Calls* c) {
  const auto& spec = *As<TriangleSpec>(u);
  c->Add(spec.upper ? c->op().Triu : c->op().Tril, c->In(u.in[0]), spec.diagonal, c->Out(u.out[0]));
}

// ---- tensors made of few numbers ---------------------------------------------------------------

void RecordFill(const Unit& u, Calls* c) {
  const Operand y = c->Out(u.out[0]);
  double value = 0;
  if (!NumberOf(*As<FillSpec>(u), c->parser().dtype(u.out[0]), &value)) {
    Calls::Refuse(GE_WHY_DTYPE, "no scalar of such a value");
  }
  c->Add(c->op().InplaceFillScalar, y, NumberFor(y, value));
}

// The numbers 0, 1, ... by the step, from the start, both of which the device knows alone.
void RecordRange(const Unit& u, Calls* c) {
  const Operand y = c->Out(u.out[0]);
  const acl::DataType type = y.form.type;
  if (type != acl::kI32 && type != acl::kI64 && type != acl::kF32) {
    Calls::Refuse(GE_WHY_DTYPE, "only float32, int32 and int64");
  }
  const auto number = [type](double value) { return ScalarOf{value, type}; };
  const Form one = Form::Dense({1}, type);
  c->Add(c->op().Arange, number(0), number(static_cast<double>(u.dims[0])), number(1), y);
  c->Add(c->op().Mul, y, c->In(u.in[2], one), y);
  c->Add(c->op().Add, y, c->In(u.in[0], one), number(1), y);
}

constexpr AscendKind kMoves[] = {
    {&ViewSpec::kKind, nullptr, false},        {&TransposeSpec::kKind, RecordTranspose, false},
    {&ExpandSpec::kKind, RecordExpand, false}, {&TileSpec::kKind, RecordTile, false},
    {&ResizeSpec::kKind, RecordResize, false}, {&MoveSpec::kKind, RecordDepthToSpace, false},
    {&SliceSpec::kKind, RecordSlice, false},   {&ConcatSpec::kKind, RecordConcat, false},
    {&FillPadSpec::kKind, RecordPad, false},   {&TriangleSpec::kKind, RecordTriangle, false},
    {&FillSpec::kKind, RecordFill, false},     {&RangeSpec::kKind, RecordRange, false},
};

}  // namespace

std::span<const AscendKind> MoveKinds() { return kMoves; }

}  // namespace ge_engines::ascend
