// Works by index, by order and between elements as steps of a program.
#include "plugins/cpu/native/code_loops.h"
#include "plugins/cpu/native/emit.h"
#include "plugins/cpu/native/index_loops.h"
#include "plugins/cpu/native/numbers.h"
#include "plugins/cpu/native/sample_loops.h"

namespace ge_engines::cpu::native {

void NativeBuilder::EmitSpec(const Unit& u, const IndexSpec& spec) {
  IndexPlan plan;
  plan.spec = spec;
  plan.x = p_.dims(u.in[0]);
  plan.index = p_.dims(u.in[1]);
  plan.bytes = p_.size(u.in[0]);
  plan.wide = p_.dtype(u.in[1]) == GE_I64;
  std::vector<Place> reads;
  for (uint32_t v : u.in) reads.push_back(GetDense(v).place);
  AddPlain(u, spec.scatter ? "scatter" : "gather by index", IndexWork(plan), std::move(reads));
}

void NativeBuilder::EmitSpec(const Unit& u, const CumSumSpec& spec) {
  AddPlain(u, "running sum", CumSumLoop(p_.dtype(u.in[0]), AxisCut(u.dims, spec.axis), spec),
           {GetDense(u.in[0]).place});
}

void NativeBuilder::EmitSpec(const Unit& u, const ArgSpec& spec) {
  AddPlain(u, "place of extreme",
           ArgLoop(p_.dtype(u.in[0]), AxisCut(p_.dims(u.in[0]), spec.axis), spec),
           {GetDense(u.in[0]).place});
}

void NativeBuilder::EmitSpec(const Unit& u, const TopKSpec& spec) {
  const AxisCut cut(p_.dims(u.in[0]), spec.axis);
  TopKPlan plan;
  plan.taken = u.dims[static_cast<size_t>(spec.axis)];
  plan.largest = spec.largest;
  plan.places = u.out[1] != 0;
  plan.threads = cut.outer * cut.inner > 1 ? machine_.threads : 1;
  const uint64_t room = TopKFloats(cut) * sizeof(float) * static_cast<uint64_t>(plan.threads);
  out_.workspace = std::max(out_.workspace, room);
  const Place x = GetDense(u.in[0]).place, k = GetDense(u.in[1]).place;
  const Rep values = NewResult(u.out[0], Plain(u.out[0]));
  Place places = x;
  if (plan.places) {
    const Rep rep = NewResult(u.out[1], Plain(u.out[1]));
    places = rep.place;
    AddRep(u.out[1], rep);
  }
  AddRep(u.out[0], values);
  AddStep("top " + Sizes(u.dims), TopKWork(p_.dtype(u.in[0]), cut, plan),
          {values.place, places, x, k, {workspace_, 0}});
}

void NativeBuilder::EmitSpec(const Unit& u, const FillPadSpec& spec) {
  const bool filled = u.in.size() > 1;
  const Place x = GetDense(u.in[0]).place;
  AddPlain(u, "pad", FillPadLoop(spec.y, spec.x, spec.before, p_.size(u.in[0]), filled),
           {x, filled ? GetDense(u.in[1]).place : x});
}

void NativeBuilder::EmitSpec(const Unit& u, const TileSpec&) {
  AddPlain(u, "tile", TileLoop(u.dims, p_.dims(u.in[0]), p_.size(u.in[0])),
           {GetDense(u.in[0]).place});
}

void NativeBuilder::EmitSpec(const Unit& u, const WeighSpec& spec) {
  WeighPlan plan(p_.dims(u.in[0]), spec);
  const Place x = GetDense(u.in[0]).place;
  const uint64_t room = plan.room_floats() * sizeof(float);
  const Place between = room == 0 ? x : NewInternal(0, room);
  AddPlain(u, "weigh", WeighLoop(simd_, std::move(plan)), {x, between});
}

void NativeBuilder::EmitSpec(const Unit& u, const GridSpec& spec) {
  AddPlain(u, "grid sample", GridLoop(spec, p_.dims(u.in[0]), u.dims),
           {GetDense(u.in[0]).place, GetDense(u.in[1]).place});
}

void NativeBuilder::EmitSpec(const Unit& u, const CodePoolSpec& spec) {
  const Layout layout = CodeLayout(u);
  if (!layout.dense()) {
    const Rep x = Get(u.in[0], Layout::ChannelsLast(p_.dims(u.in[0]), 1));
    AddCodes(u, "pool of codes", layout,
             CodePoolLastLoop(simd_, spec.pool, p_.dtype(u.in[0]) == GE_I8), {x.place});
    return;
  }
  AddPlain(u, "pool of codes", CodePoolLoop(spec.pool, p_.dtype(u.in[0]) == GE_I8),
           {GetDense(u.in[0]).place});
}

void NativeBuilder::EmitSpec(const Unit& u, const PReluSpec&) {
  AddPlain(u, "prelu", PReluLoop(simd_, u.dims, p_.dims(u.in[1])),
           {GetDense(u.in[0]).place, GetDense(u.in[1]).place});
}

void NativeBuilder::EmitSpec(const Unit& u, const InstanceNormSpec& spec) {
  const int64_t rows = u.dims[0] * u.dims[1];
  AddPlain(u, "instance norm",
           InstanceNormLoop(simd_, rows, u.dims[1], Product(u.dims) / rows, spec.eps),
           {GetDense(u.in[0]).place, GetDense(u.in[1]).place, GetDense(u.in[2]).place});
}

void NativeBuilder::EmitSpec(const Unit& u, const SpectrumSpec& spec) {
  SpectrumPlan plan;
  plan.batch = u.dims[0];
  plan.frames = u.dims[1];
  plan.bins = u.dims[2];
  plan.samples = p_.dims(u.in[0])[1];
  plan.step = spec.step;
  plan.length = spec.length;
  plan.window = u.in.size() > 1;
  plan.threads = plan.batch * plan.frames > SpectrumPlan::kRows ? machine_.threads : 1;
  const uint64_t room = plan.room_floats() * sizeof(float) * static_cast<uint64_t>(plan.threads);
  out_.workspace = std::max(out_.workspace, room);
  const Place x = GetDense(u.in[0]).place;
  AddPlain(u, "spectrum", SpectrumLoop(simd_, plan),
           {x, plan.window ? GetDense(u.in[1]).place : x, {workspace_, 0}});
}

}  // namespace ge_engines::cpu::native
