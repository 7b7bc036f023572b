// Elements that integers name: look-ups, one-hot rows, appends to caches.
#include <algorithm>

#include "plugins/ascend/families/steps.h"
#include "plugins/units/attention/kv_append.h"
#include "plugins/units/index/gather.h"
#include "plugins/units/index/gather_scatter.h"
#include "plugins/units/index/one_hot.h"

namespace ge_engines::ascend {
namespace {

using device::Ref;

// Whether indices are known, and none counts from the end.
bool KnownForward(const Parser& p, uint32_t indices) {
  Dims known;
  return p.Integers(indices, &known) &&
         std::all_of(known.begin(), known.end(), [](int64_t k) { return k >= 0; });
}

bool TakesIndices(const Unit& u, const Parser& p, int64_t size, const acl::Operators& op,
                  Why* why) {
  const int32_t dtype = p.dtype(u.in[1]);
  if (dtype != GE_I64 && dtype != GE_I32) return why->Say(GE_WHY_DTYPE, "indices of this dtype");
  Dims known;
  if (p.Integers(u.in[1], &known)) {
    const bool inside =
        std::all_of(known.begin(), known.end(), [&](int64_t k) { return k >= -size && k < size; });
    if (!inside) return why->Say(GE_WHY_SHAPE, "an index is out of range");
  }
  return Has(op.Adds, "Adds", why) && Has(op.LtTensor, "LtTensor", why) &&
         Has(op.SWhere, "SWhere", why);
}

// Indices that count from the front: those below zero have `size` added.
TensorAt Forward(uint32_t indices, int64_t size, bool backwards, Calls* c) {
  const Form form = c->FormOf(indices);
  const Ref given = c->recorder().Read(indices);
  if (!backwards || KnownForward(c->parser(), indices)) return c->In(given, form);
  const auto n = static_cast<uint64_t>(Product(form.dims));
  Form flags = form;
  flags.type = acl::kBool;
  const Ref below = c->recorder().Between(n), added = c->recorder().Between(given.bytes),
            made = c->recorder().Between(given.bytes);
  const Ref zero = c->recorder().Between(8);
  const Form one = Form::Dense({1}, form.type);
  TensorAt x = c->In(given, form);
  c->Add(c->op().InplaceFillScalar, c->Out(zero, one), ScalarOf{0, form.type});
  x = c->In(given, form);
  TensorAt z = c->In(zero, one);
  c->Add(c->op().LtTensor, x, z, c->Out(below, flags));
  x = c->In(given, form);
  c->Add(c->op().Adds, x, ScalarOf{static_cast<double>(size), form.type}, ScalarOf{1, form.type},
         c->Out(added, form));
  const TensorAt condition = c->In(below, flags), shifted = c->In(added, form);
  x = c->In(given, form);
  c->Add(c->op().SWhere, condition, shifted, x, c->Out(made, form));
  return c->In(made, form);
}

bool TakesGather(const Unit& u, const Parser& p, const acl::Operators& op, Why* why) {
  const auto& spec = *As<GatherSpec>(u);
  return Has(op.GatherV2, "GatherV2", why) &&
         TakesIndices(u, p, p.dims(u.in[0])[static_cast<size_t>(spec.axis)], op, why);
}

void RecordGather(const Unit& u, Calls* c) {
  const auto& spec = *As<GatherSpec>(u);
  const int64_t size = c->parser().dims(u.in[0])[static_cast<size_t>(spec.axis)];
  const Ref data = c->recorder().Read(u.in[0]);
  const TensorAt index = Forward(u.in[1], size, spec.backwards, c);
  const TensorAt x = c->In(data, c->FormOf(u.in[0])), y = c->Out(u.out[0]);
  c->Add(c->op().GatherV2, x, int64_t{spec.axis}, index, y);
}
uint32_t GatherOperators(const Unit& u) { return As<GatherSpec>(u)->backwards ? 5 : 1; }

bool TakesPick(const Unit& u, const Parser& p, const acl::Operators& op, Why* why) {
  const auto& spec = *As<IndexSpec>(u);
  if (spec.scatter || spec.tuples) return why->Say(GE_WHY_OP, "no operator");
  return Has(op.Gather, "Gather", why) &&
         TakesIndices(u, p, p.dims(u.in[0])[static_cast<size_t>(spec.axis)], op, why);
}

void RecordPick(const Unit& u, Calls* c) {
  const auto& spec = *As<IndexSpec>(u);
  const int64_t size = c->parser().dims(u.in[0])[static_cast<size_t>(spec.axis)];
  const Ref data = c->recorder().Read(u.in[0]);
  const TensorAt index = Forward(u.in[1], size, true, c);
  const TensorAt x = c->In(data, c->FormOf(u.in[0])), y = c->Out(u.out[0]);
  c->Add(c->op().Gather, x, int64_t{spec.axis}, index, y);
}
uint32_t PickOperators(const Unit&) { return 5; }

bool TakesOneHot(const Unit& u, const Parser& p, const acl::Operators& op, Why* why) {
  if (!p.constant(u.in[1])) return why->Say(GE_WHY_DYNAMIC, "the depth is not constant");
  if (p.dtype(u.in[0]) != GE_I64 && p.dtype(u.in[0]) != GE_I32) {
    return why->Say(GE_WHY_DTYPE, "indices of this dtype");
  }
  if (!KnownForward(p, u.in[0])) return why->Say(GE_WHY_DYNAMIC, "indices that may be below zero");
  return Has(op.OneHot, "OneHot", why);
}

void RecordOneHot(const Unit& u, Calls* c) {
  const auto axis = As<OneHotSpec>(u)->axis;
  const Ref values = c->recorder().Read(u.in[2]);
  Form off = Form::Dense({1}, c->FormOf(u.in[2]).type), on = off;
  off.storage = on.storage = {2};
  on.offset = 1;
  const TensorAt x = c->In(u.in[0]);
  const TensorAt on_value = c->In(values, on), off_value = c->In(values, off);
  c->Add(c->op().OneHot, x, u.dims[static_cast<size_t>(axis)], on_value, off_value, int64_t{axis},
         c->Out(u.out[0]));
}

constexpr AscendKind kIndices[] = {
    {&GatherSpec::kKind, TakesGather, RecordGather, GatherOperators},
    {&IndexSpec::kKind, TakesPick, RecordPick, PickOperators},
    {&OneHotSpec::kKind, TakesOneHot, RecordOneHot, nullptr},
};

}  // namespace

std::span<const AscendKind> IndexKinds() { return kIndices; }

}  // namespace ge_engines::ascend
