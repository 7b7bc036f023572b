// Resizes, pads that repeat elements, rotary embeddings.
#include "plugins/gpu/kernels/resample.h"

#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "plugins/gpu/families/family.h"
#include "plugins/gpu/kernel_call.h"
#include "plugins/gpu/numbers_of.h"
#include "plugins/units/attention/rotary_embedding.h"
#include "plugins/units/resample/resize.h"

namespace ge_engines::gpu {
namespace {

using device::Reads;
using device::Recorder;
using device::Ref;
using device::Writes;

// The table of one axis, as kernels/resample.h reads it.
struct Table {
  Blend blend = Blend::kOne;
  std::vector<unsigned char> bytes;  // none: the axis stays

  template <class T>
  void Put(const std::vector<T>& numbers) {
    const auto* from = reinterpret_cast<const unsigned char*>(numbers.data());
    bytes.insert(bytes.end(), from, from + numbers.size() * sizeof(T));
  }
};

std::vector<Table> TablesOf(const Unit& u) {
  std::vector<Table> tables;
  if (const auto* spec = As<ResampleSpec>(u)) {
    for (const Taps& taps : spec->taps) {
      Table& t = tables.emplace_back();
      t.blend = taps.next.empty() ? Blend::kOne : Blend::kTwo;
      t.Put(taps.at);
      t.Put(taps.next);
      t.Put(taps.w);
    }
    return tables;
  }
  for (const WeighedAxis& axis : As<WeighSpec>(u)->axes) {
    Table& t = tables.emplace_back();
    t.blend = Blend::kWeigh;
    t.Put(axis.from);
    t.Put(axis.first);
    t.Put(axis.w);
  }
  return tables;
}

// A constant that the node reads: the host keeps packs by what they are made of.
uint32_t ConstantOf(const Unit& u, const Parser& p) {
  const ge_node& node = p.node(u.root);
  for (uint32_t k = 1; k < node.n_in; ++k) {
    if (p.constant(node.in[k])) return node.in[k];
  }
  return 0;
}

bool TakesTables(const Unit& u, const Parser& p, Why* why) {
  return ConstantOf(u, p) != 0 || why->Say(GE_WHY_DYNAMIC, "sizes are not constant");
}

Ref TablePack(const Unit& u, const Table& table, Recorder* r) {
  const std::vector<unsigned char> bytes = table.bytes;
  std::string key = "table ";
  for (const unsigned char byte : bytes) {
    constexpr char kDigits[] = "0123456789abcdef";
    key += kDigits[byte >> 4];
    key += kDigits[byte & 15];
  }
  const auto fill = [bytes](const void* const*, void* to) {
    std::memcpy(to, bytes.data(), bytes.size());
  };
  return r->Pack({ConstantOf(u, r->parser())}, key, bytes.size(), fill, 0, true);
}

// Axis after axis, float32 between.
void RecordResample(const Unit& u, Recorder* r) {
  const Parser& p = r->parser();
  const std::vector<Table> tables = TablesOf(u);
  size_t last = 0;
  for (size_t k = 0; k < tables.size(); ++k) {
    if (!tables[k].bytes.empty()) last = k;
  }
  Ref from = r->Read(u.in[0]);
  if (tables[last].bytes.empty()) return AddCopy(r->Write(u.out[0]), from, r);
  Number of = NumberOf(p.dtype(u.in[0]));
  Dims dims = p.dims(u.in[0]);
  for (size_t k = 0; k <= last; ++k) {
    if (tables[k].bytes.empty()) continue;
    ResampleArgs args;
    args.x_size = dims[k];
    dims[k] = u.dims[k];
    const int64_t n = Product(dims);
    args.size = Divider::By(static_cast<uint64_t>(dims[k]));
    args.inner = Divider::By(static_cast<uint64_t>(
        Product(Dims(dims.begin() + static_cast<int64_t>(k) + 1, dims.end()))));
    args.blend = tables[k].blend;
    args.of[1] = of;
    of = k == last ? NumberOf(p.dtype(u.out[0])) : Number::kF32;
    args.of[0] = of;
    const Ref table = TablePack(u, tables[k], r);
    const Ref to = k == last ? r->Write(u.out[0]) : r->Between(4 * static_cast<uint64_t>(n));
    AddKernel(KernelId::resample, args, n, {Writes(to), Reads(from), Reads(table)}, r);
    from = to;
  }
}

uint32_t ResampleKernels(const Unit& u) {
  uint32_t kernels = 0;
  for (const Table& table : TablesOf(u)) kernels += !table.bytes.empty();
  return kernels == 0 ? 1 : kernels;
}

void RecordRotary(const Unit& u, Recorder* r) {
  const auto& spec = *As<RotarySpec>(u);
  RotaryArgs args;
  SetNumbers(r->parser(), {u.out[0], u.in[0], u.in[1], u.in[2]}, &args);
  const int64_t slots = spec.size - spec.half;
  args.slots = Divider::By(static_cast<uint64_t>(slots));
  args.steps = Divider::By(static_cast<uint64_t>(spec.steps));
  args.heads = Divider::By(static_cast<uint64_t>(spec.heads));
  args.batch_at = spec.batch_at;
  args.head_at = spec.head_at;
  args.step_at = spec.step_at;
  args.half = spec.half;
  args.positions = spec.positions;
  args.interleaved = spec.interleaved;
  args.ids = spec.ids;
  std::vector<device::Use> uses(1);
  for (const uint32_t v : u.in) uses.push_back(Reads(r->Read(v)));
  uses[0] = Writes(r->Write(u.out[0]));
  AddKernel(KernelId::rotary, args, spec.batch * spec.heads * spec.steps * slots, std::move(uses),
            r);
}

constexpr GpuKind kResample[] = {
    {&ResampleSpec::kKind, TakesTables, RecordResample, ResampleKernels},
    {&WeighSpec::kKind, TakesTables, RecordResample, ResampleKernels},
    {&RotarySpec::kKind, nullptr, RecordRotary, nullptr},
};

}  // namespace

std::span<const GpuKind> ResampleKinds() { return kResample; }

}  // namespace ge_engines::gpu
