// Elements that integers name: look-ups, updates, one-hot rows, appends to caches.
#include "plugins/gpu/kernels/indices.h"

#include <algorithm>

#include "plugins/gpu/families/family.h"
#include "plugins/gpu/kernel_call.h"
#include "plugins/gpu/numbers_of.h"
#include "plugins/gpu/strides.h"
#include "plugins/units/attention/kv_append.h"
#include "plugins/units/index/gather.h"
#include "plugins/units/index/gather_scatter.h"
#include "plugins/units/index/one_hot.h"
#include "plugins/units/training/add_rows.h"

namespace ge_engines::gpu {
namespace {

using device::Reads;
using device::Recorder;
using device::Ref;
using device::Use;
using device::Writes;

Use Changes(const Ref& ref) { return {ref, true, true}; }
Divider DividerOf(int64_t n) { return Divider::By(static_cast<uint64_t>(n)); }
int64_t Inner(const Dims& x, int64_t axis) { return Product(Dims(x.begin() + axis + 1, x.end())); }

bool TakesElements(const Unit& u, const Parser& p, Why* why) {
  const int bytes = p.size(u.in[0]);
  return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 ||
         why->Say(GE_WHY_DTYPE, "elements of " + std::to_string(bytes) + " bytes");
}

// Indices that are known are looked at here: what a device refuses ends its context.
bool Within(const Parser& p, uint32_t indices, int64_t size, bool backwards, Why* why) {
  Dims known;
  if (!p.Integers(indices, &known)) return true;
  const int64_t least = backwards ? -size : 0;
  return std::all_of(known.begin(), known.end(),
                     [&](int64_t k) { return k >= least && k < size; }) ||
         why->Say(GE_WHY_SHAPE, "an index is out of range");
}

bool TakesGather(const Unit& u, const Parser& p, Why* why) {
  const auto& spec = *As<GatherSpec>(u);
  return TakesElements(u, p, why) &&
         Within(p, u.in[1], p.dims(u.in[0])[static_cast<size_t>(spec.axis)], spec.backwards, why);
}

void RecordGather(const Unit& u, Recorder* r) {
  const Parser& p = r->parser();
  const Dims x = p.dims(u.in[0]);
  const auto& spec = *As<GatherSpec>(u);
  GatherArgs args;
  SetNumbers(p, {0, 0, u.in[1]}, &args);
  args.index_count = DividerOf(Product(p.dims(u.in[1])));
  int64_t inner = Inner(x, spec.axis), count = Product(u.dims);
  int bytes = p.size(u.in[0]);
  for (; bytes < 16 && inner % 2 == 0; bytes *= 2, inner /= 2) count /= 2;  // slices are whole
  args.inner = DividerOf(inner);
  args.size = x[static_cast<size_t>(spec.axis)];
  args.backwards = spec.backwards;
  const Ref data = r->Read(u.in[0]), indices = r->Read(u.in[1]);
  AddKernel(BySize(KernelId::gather_1, bytes), args, count,
            {Writes(r->Write(u.out[0])), Reads(data), Reads(indices)}, r);
}

// ---- GatherElements, GatherND, ScatterElements, ScatterND ---------------------------------------

bool TakesIndex(const Unit& u, const Parser& p, Why* why) {
  const auto& spec = *As<IndexSpec>(u);
  if (!TakesElements(u, p, why)) return false;
  if (spec.update != Update::kReplace && !HasNumber(p.dtype(u.in[0]), why)) return false;
  if (!spec.tuples) {
    return Within(p, u.in[1], p.dims(u.in[0])[static_cast<size_t>(spec.axis)], true, why);
  }
  Dims known;  // each of a tuple has an axis of its own
  if (!p.Integers(u.in[1], &known)) return true;
  const Dims x = p.dims(u.in[0]);
  const auto width = static_cast<size_t>(p.dims(u.in[1]).back());
  for (size_t k = 0; k < known.size(); ++k) {
    const int64_t size = x[static_cast<size_t>(spec.axis) + k % width];
    if (known[k] < -size || known[k] >= size) {
      return why->Say(GE_WHY_SHAPE, "an index is out of range");
    }
  }
  return true;
}

// Axes of the tuples' indices, from `first` on.
Tuples TuplesOf(const Dims& x, size_t first, int64_t width) {
  Tuples t;
  t.width = static_cast<int32_t>(width);
  const Dims strides = StridesOf(x);
  for (size_t k = 0; k < static_cast<size_t>(width); ++k) {
    t.size[k] = x[first + k];
    t.step[k] = strides[first + k];
  }
  return t;
}

void RecordPick(const Unit& u, Recorder* r) {
  const Parser& p = r->parser();
  const Dims x = p.dims(u.in[0]);
  const auto axis = static_cast<size_t>(As<IndexSpec>(u)->axis);
  PickArgs args;
  SetNumbers(p, {0, 0, u.in[1]}, &args);
  Dims from = StridesOf(x);
  args.step = from[axis];
  args.size = x[axis];
  args.bytes = p.size(u.in[0]);
  from[axis] = 0;
  args.axes = AxesOf(u.dims);
  args.from = StridesFor(from);
  const Ref data = r->Read(u.in[0]), indices = r->Read(u.in[1]);
  AddKernel(KernelId::pick, args, Product(u.dims),
            {Writes(r->Write(u.out[0])), Reads(data), Reads(indices)}, r);
}

void RecordPickSlices(const Unit& u, Recorder* r) {
  const Parser& p = r->parser();
  const Dims x = p.dims(u.in[0]), index = p.dims(u.in[1]);
  const auto batches = static_cast<size_t>(As<IndexSpec>(u)->axis);
  PickSliceArgs args;
  SetNumbers(p, {0, 0, u.in[1]}, &args);
  args.tuples = TuplesOf(x, batches, index.back());
  args.slice = DividerOf(Inner(x, static_cast<int64_t>(batches) + index.back() - 1));
  args.batch = Inner(x, static_cast<int64_t>(batches) - 1);
  args.tuples_of_batch = DividerOf(Inner(index, static_cast<int64_t>(batches) - 1) / index.back());
  args.bytes = p.size(u.in[0]);
  const Ref data = r->Read(u.in[0]), indices = r->Read(u.in[1]);
  AddKernel(KernelId::pick_slice, args, Product(u.dims),
            {Writes(r->Write(u.out[0])), Reads(data), Reads(indices)}, r);
}

void RecordScatter(const Unit& u, const Ref& y, const Ref& indices, const Ref& updates,
                   Recorder* r) {
  const Parser& p = r->parser();
  const auto& spec = *As<IndexSpec>(u);
  const auto axis = static_cast<size_t>(spec.axis);
  const Dims index = p.dims(u.in[1]);
  ScatterArgs args;
  SetNumbers(p, {u.out[0], u.in[1], u.in[2]}, &args);
  Dims lines = index, to = StridesOf(u.dims), from = StridesOf(index);
  args.size = u.dims[axis];
  args.length = index[axis];
  args.to_step = to[axis];
  args.from_step = from[axis];
  for (Dims* d : {&lines, &to, &from}) d->erase(d->begin() + spec.axis);
  args.axes = AxesOf(lines);
  args.to = StridesFor(to);
  args.from = StridesFor(from);
  args.update = spec.update;
  args.bytes = p.size(u.in[0]);
  AddKernel(KernelId::scatter, args, Product(lines), {Changes(y), Reads(indices), Reads(updates)},
            r);
}

void RecordScatterSlices(const Unit& u, const Ref& y, const Ref& indices, const Ref& updates,
                         Recorder* r) {
  const Parser& p = r->parser();
  const Dims index = p.dims(u.in[1]);
  ScatterSliceArgs args;
  SetNumbers(p, {u.out[0], u.in[1], u.in[2]}, &args);
  args.tuples = TuplesOf(u.dims, 0, index.back());
  args.slice = Inner(u.dims, index.back() - 1);
  args.count = Product(index) / index.back();
  args.update = As<IndexSpec>(u)->update;
  args.bytes = p.size(u.in[0]);
  AddKernel(KernelId::scatter_slice, args, args.slice, {Changes(y), Reads(indices), Reads(updates)},
            r);
}

void RecordIndex(const Unit& u, Recorder* r) {
  const auto& spec = *As<IndexSpec>(u);
  if (!spec.scatter) return spec.tuples ? RecordPickSlices(u, r) : RecordPick(u, r);
  const Ref data = r->Read(u.in[0]), indices = r->Read(u.in[1]), updates = r->Read(u.in[2]);
  const Ref y = r->Write(u.out[0]);
  AddCopy(y, data, r);
  (spec.tuples ? RecordScatterSlices : RecordScatter)(u, y, indices, updates, r);
}

uint32_t IndexKernels(const Unit& u) { return As<IndexSpec>(u)->scatter ? 2 : 1; }

// ---- rows that are added, marked, appended -----------------------------------------------------

void RecordAddRows(const Unit& u, Recorder* r) {
  const Parser& p = r->parser();
  AddRowsArgs args;
  SetNumbers(p, {u.out[0], u.in[1], u.in[2]}, &args);
  args.rows = u.dims[0];
  args.row = DividerOf(Product(u.dims) / args.rows);
  args.count = Product(p.dims(u.in[1]));
  const Ref data = r->Read(u.in[0]), indices = r->Read(u.in[1]), updates = r->Read(u.in[2]);
  const Ref y = r->Write(u.out[0]);
  AddCopy(y, data, r);
  AddKernel(KernelId::add_rows, args, Product(p.dims(u.in[2])),
            {Changes(y), Reads(indices), Reads(updates)}, r);
}

bool TakesOneHot(const Unit& u, const Parser& p, Why* why) {
  return p.constant(u.in[1]) || why->Say(GE_WHY_DYNAMIC, "the depth is not constant");
}

void RecordOneHot(const Unit& u, Recorder* r) {
  const Parser& p = r->parser();
  const auto axis = As<OneHotSpec>(u)->axis;
  OneHotArgs args;
  SetNumbers(p, {0, u.in[0], 0}, &args);
  args.inner = DividerOf(Inner(u.dims, axis));
  args.size = DividerOf(u.dims[static_cast<size_t>(axis)]);
  args.bytes = p.size(u.out[0]);
  const Ref indices = r->Read(u.in[0]), values = r->Read(u.in[2]);
  AddKernel(KernelId::one_hot, args, Product(u.dims),
            {Writes(r->Write(u.out[0])), Reads(indices), Reads(values)}, r);
}

void RecordAppend(const Unit& u, Recorder* r) {
  const Parser& p = r->parser();
  const auto axis = As<AppendSpec>(u)->axis;
  const Dims rows = p.dims(u.in[2]);
  AppendArgs args;
  args.row = DividerOf(Inner(rows, axis));
  args.rows = DividerOf(rows[static_cast<size_t>(axis)]);
  args.room = u.dims[static_cast<size_t>(axis)];
  args.bytes = p.size(u.in[0]);
  const Ref cache = r->Read(u.in[0]), used = r->Read(u.in[1]), fresh = r->Read(u.in[2]);
  const Ref y = r->Write(u.out[0]);
  AddCopy(y, cache, r);
  AddKernel(KernelId::append, args, Product(rows), {Changes(y), Reads(used), Reads(fresh)}, r);
}

// Updates of a line, or of a slice's element, come one after the other.
double IndexFlops(const Unit& u, const Parser& p) {
  const auto& spec = *As<IndexSpec>(u);
  if (!spec.scatter) return 0;
  const Dims index = p.dims(u.in[1]);
  return InARow(spec.tuples ? Product(index) / index.back()
                            : index[static_cast<size_t>(spec.axis)]);
}

// Each update looks through all indices.
double AddRowsFlops(const Unit& u, const Parser& p) {
  return 4 * static_cast<double>(Product(p.dims(u.in[1]))) *
         static_cast<double>(Product(p.dims(u.in[2])));
}

bool LooksUp(const Unit& u) { return Is<GatherSpec>(u) || !As<IndexSpec>(u)->scatter; }

uint32_t TwoKernels(const Unit&) { return 2; }

constexpr GpuKind kIndices[] = {
    {&GatherSpec::kKind, TakesGather, RecordGather, nullptr, nullptr, LooksUp},
    {&IndexSpec::kKind, TakesIndex, RecordIndex, IndexKernels, IndexFlops, LooksUp},
    {&AddRowsSpec::kKind, nullptr, RecordAddRows, TwoKernels, AddRowsFlops},
    {&OneHotSpec::kKind, TakesOneHot, RecordOneHot, nullptr},
    {&AppendSpec::kKind, TakesElements, RecordAppend, TwoKernels},
};

}  // namespace

std::span<const GpuKind> IndexKinds() { return kIndices; }

}  // namespace ge_engines::gpu
