// Elements that integers name: look-ups, one-hot rows, appends to caches.
#include "plugins/ascend/families/family.h"
#include "plugins/units/attention/kv_append.h"
#include "plugins/units/index/gather.h"
#include "plugins/units/index/gather_scatter.h"
#include "plugins/units/index/one_hot.h"

namespace ge_engines::ascend {
namespace {

// Indices into an axis of so many elements, counted from the front: those below zero have `size`
// added, but where it is known that there are none.
Operand Forward(uint32_t indices, int64_t size, bool backwards, Calls* c) {
  const acl::Operators& op = c->op();
  const Operand x = c->In(indices);
  const acl::DataType type = x.form.type;
  if (type != acl::kI64 && type != acl::kI32) Calls::Refuse(GE_WHY_DTYPE, "indices of this dtype");
  bool below_zero = true;
  if (!MayIndex(c->parser(), indices, size, &below_zero)) {
    Calls::Refuse(GE_WHY_SHAPE, "an index is out of range");
  }
  if (!backwards || !below_zero) return x;
  const Operand below = c->Between(Form::Dense(x.form.dims, acl::kBool)),
                shifted = c->Between(x.form), made = c->Between(x.form);
  c->Add(op.LtTensor, x, c->One(0, type, x.form.dims.size()), below);
  c->Add(op.Adds, x, ScalarOf{static_cast<double>(size), type}, ScalarOf{1, type}, shifted);
  c->Add(op.SWhere, below, shifted, x, made);
  return made;
}

void RecordGather(const Unit& u, Calls* c) {
  const auto& spec = *As<GatherSpec>(u);
  const Operand x = c->In(u.in[0]);
  const int64_t size = x.form.dims[static_cast<size_t>(spec.axis)];
  c->Add(c->op().GatherV2, x, spec.axis, Forward(u.in[1], size, spec.backwards, c),
         c->Out(u.out[0]));
}

void RecordPick(const Unit& u, Calls* c) {
  const auto& spec = *As<IndexSpec>(u);
  if (spec.scatter || spec.tuples) Calls::Refuse(GE_WHY_OP, "no operator");
  const Operand x = c->In(u.in[0]);
  const int64_t size = x.form.dims[static_cast<size_t>(spec.axis)];
  c->Add(c->op().Gather, x, spec.axis, Forward(u.in[1], size, true, c), c->Out(u.out[0]));
}

void RecordOneHot(const Unit& u, Calls* c) {
  const auto axis = As<OneHotSpec>(u)->axis;
  const int64_t classes = u.dims[static_cast<size_t>(axis)];
  if (!c->parser().constant(u.in[1])) Calls::Refuse(GE_WHY_DYNAMIC, "the depth is not constant");
  Dims known;
  if (!c->parser().Integers(u.in[0], &known)) {
    Calls::Refuse(GE_WHY_DYNAMIC, "indices that may be out of range");
  }
  Operand off = c->In(u.in[2], c->DenseOf(u.in[2], {1})), on = off;
  off.form.storage = on.form.storage = {2};
  on.form.offset = 1;
  c->Add(c->op().OneHot, Forward(u.in[0], classes, true, c), classes, on, off, axis,
         c->Out(u.out[0]));
}

// The rows take the places from the cache's length on, which the device knows alone.
void RecordAppend(const Unit& u, Calls* c) {
  const auto axis = As<AppendSpec>(u)->axis;
  const Operand rows = c->In(u.in[2]), y = c->Out(u.out[0]);
  const int64_t count = rows.form.dims[static_cast<size_t>(axis)];
  const Operand at = c->Between(Form::Dense({count}, acl::kI64));
  c->Add(c->op().Arange, Whole(0), Whole(count), Whole(1), at);
  c->Add(c->op().Add, at, c->In(u.in[1], Form::Dense({1}, acl::kI64)), Whole(1), at);
  c->Add(c->op().InplaceCopy, y, c->In(u.in[0]));
  c->Add(c->op().InplaceIndexCopy, Changed(y), axis, at, rows);
}

constexpr AscendKind kIndices[] = {
    {&GatherSpec::kKind, RecordGather, false},
    {&IndexSpec::kKind, RecordPick, false},
    {&OneHotSpec::kKind, RecordOneHot, false},
    {&AppendSpec::kKind, RecordAppend, false},
};

}  // namespace

std::span<const AscendKind> IndexKinds() { return kIndices; }

}  // namespace ge_engines::ascend
