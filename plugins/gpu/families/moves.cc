// Moves of elements: transposes, slices, concatenation, expansion, tiles, pads.
#include "plugins/gpu/kernels/moves.h"

#include <algorithm>

#include "plugins/gpu/families/family.h"
#include "plugins/gpu/kernel_call.h"
#include "plugins/gpu/numbers_of.h"
#include "plugins/gpu/strides.h"
#include "plugins/units/movement/concat.h"
#include "plugins/units/movement/depth_to_space.h"
#include "plugins/units/movement/expand.h"
#include "plugins/units/movement/pad.h"
#include "plugins/units/movement/reshape.h"
#include "plugins/units/movement/slice.h"
#include "plugins/units/movement/tile.h"
#include "plugins/units/movement/transpose.h"
#include "plugins/units/resample/resize.h"

namespace ge_engines::gpu {
namespace {

using device::Reads;
using device::Recorder;
using device::Ref;
using device::Writes;

bool TakesMove(const Unit& u, const Parser& p, Why* why) {
  const int bytes = p.size(u.in[0]);
  return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 ||
         why->Say(GE_WHY_DTYPE, "elements of " + std::to_string(bytes) + " bytes");
}

// Elements along `dims` from x to y, with these strides.
struct Move {
  Dims dims, to, from;
  int64_t to_first = 0, from_first = 0;
};

// Neighbours that stay neighbours move as one element of up to 16 bytes, where all begin at
// multiples of that.
int Widened(int bytes, Move* move) {
  const auto even = [](int64_t n) { return n % 2 == 0; };
  while (bytes < 16 && !move->dims.empty() && move->to.back() == 1 && move->from.back() == 1 &&
         even(move->dims.back()) && even(move->to_first) && even(move->from_first) &&
         std::all_of(move->to.begin(), move->to.end() - 1, even) &&
         std::all_of(move->from.begin(), move->from.end() - 1, even)) {
    bytes *= 2;
    move->dims.back() /= 2;
    move->to_first /= 2;
    move->from_first /= 2;
    for (Dims* strides : {&move->to, &move->from}) {
      for (size_t k = 0; k + 1 < strides->size(); ++k) (*strides)[k] /= 2;
    }
  }
  return bytes;
}

void RecordMove(const Move& move, int bytes, const Ref& y, const Ref& x, Recorder* r) {
  std::vector<Dims> strides = {move.to, move.from};
  Move wide = move;
  MergeAxes(&wide.dims, &strides);
  wide.to = strides[0];
  wide.from = strides[1];
  bytes = Widened(bytes, &wide);
  MoveArgs args;
  args.axes = AxesOf(wide.dims);
  args.to = StridesFor(wide.to);
  args.from = StridesFor(wide.from);
  args.to_first = wide.to_first;
  args.from_first = wide.from_first;
  AddKernel(BySize(KernelId::move_1, bytes), args, Product(wide.dims), {Writes(y), Reads(x)}, r);
}

void RecordOnly(const Unit& u, const Move& move, Recorder* r) {
  const Ref x = r->Read(u.in[0]);
  RecordMove(move, r->parser().size(u.in[0]), r->Write(u.out[0]), x, r);
}

void RecordTranspose(const Unit& u, Recorder* r) {
  const Dims x = StridesOf(r->parser().dims(u.in[0]));
  Move move{u.dims, StridesOf(u.dims), Dims(u.dims.size(), 0)};
  for (size_t k = 0; k < u.dims.size(); ++k) {
    move.from[k] = x[static_cast<size_t>(As<TransposeSpec>(u)->perm[k])];
  }
  RecordOnly(u, move, r);
}

void RecordExpand(const Unit& u, Recorder* r) {
  RecordOnly(u, {u.dims, StridesOf(u.dims), BroadcastStrides(r->parser().dims(u.in[0]), u.dims)},
             r);
}

void RecordTile(const Unit& u, Recorder* r) {
  const Dims x = r->parser().dims(u.in[0]), from = StridesOf(x), to = StridesOf(u.dims);
  Move move;
  for (size_t k = 0; k < x.size(); ++k) {  // the copies, then their elements
    for (const bool copies : {true, false}) {
      move.dims.push_back(copies ? u.dims[k] / x[k] : x[k]);
      move.to.push_back(copies ? to[k] * x[k] : to[k]);
      move.from.push_back(copies ? 0 : from[k]);
    }
  }
  RecordOnly(u, move, r);
}

bool TakesTile(const Unit& u, const Parser& p, Why* why) {
  if (!TakesMove(u, p, why)) return false;
  return 2 * u.dims.size() <= kMostAxes || why->Say(GE_WHY_SHAPE, "more than four axes");
}

// An axis that is repeated becomes two, of which the second stands still.
void RecordResize(const Unit& u, Recorder* r) {
  const Dims x = r->parser().dims(u.in[0]), from = StridesOf(x), to = StridesOf(u.dims);
  const Dims& factors = As<ResizeSpec>(u)->factors;
  Move move;
  for (size_t k = 0; k < x.size(); ++k) {
    const int64_t factor = factors[k];
    move.dims.push_back(x[k]);
    move.dims.push_back(factor);
    move.to.push_back(to[k] * factor);
    move.to.push_back(to[k]);
    move.from.push_back(from[k]);
    move.from.push_back(0);
  }
  RecordOnly(u, move, r);
}

void RecordDepthToSpace(const Unit& u, Recorder* r) {
  const Dims x = StridesOf(r->parser().dims(u.in[0]));
  Move move;
  for (const MoveSpec::Axis& axis : As<MoveSpec>(u)->axes) {
    move.dims.push_back(axis.size);
    move.to.push_back(axis.to);
    move.from.push_back(x[static_cast<size_t>(axis.x)] * axis.times);
  }
  RecordOnly(u, move, r);
}

void RecordSlice(const Unit& u, Recorder* r) {
  const Parser& p = r->parser();
  const Dims x = StridesOf(p.dims(u.in[0]));
  const Ref from = r->Read(u.in[0]);
  const auto& boxes = As<SliceSpec>(u)->boxes;
  for (size_t k = 0; k < boxes.size(); ++k) {
    const Dims y = p.dims(u.out[k]);
    Move move{y, StridesOf(y), Dims(y.size(), 0)};
    for (size_t a = 0; a < y.size(); ++a) {
      move.from[a] = x[a] * boxes[k].step[a];
      move.from_first += x[a] * boxes[k].start[a];
    }
    RecordMove(move, p.size(u.in[0]), r->Write(u.out[k]), from, r);
  }
}

void RecordConcat(const Unit& u, Recorder* r) {
  const Parser& p = r->parser();
  const auto axis = static_cast<size_t>(As<ConcatSpec>(u)->axis);
  const Dims to = StridesOf(u.dims);
  std::vector<Ref> from;
  for (const uint32_t v : u.in) from.push_back(r->Read(v));
  const Ref y = r->Write(u.out[0]);
  int64_t at = 0;
  for (size_t k = 0; k < u.in.size(); ++k) {
    const Dims x = p.dims(u.in[k]);
    RecordMove({x, to, StridesOf(x), at * to[axis]}, p.size(u.in[k]), y, from[k], r);
    at += x[axis];
  }
}

bool ReadsPart(const Unit&) { return true; }

uint32_t SliceKernels(const Unit& u) {
  return static_cast<uint32_t>(As<SliceSpec>(u)->boxes.size());
}
uint32_t ConcatKernels(const Unit& u) { return static_cast<uint32_t>(u.in.size()); }

void RecordPad(const Unit& u, Recorder* r) {
  const auto& spec = *As<FillPadSpec>(u);
  PadArgs args;
  args.axes = AxesOf(spec.y);
  args.from = StridesFor(StridesOf(spec.x));
  for (size_t k = 0; k < spec.x.size(); ++k) {
    args.before[k] = spec.before[k];
    args.size[k] = spec.x[k];
  }
  std::vector<device::Use> uses(1);
  for (const uint32_t v : u.in) uses.push_back(Reads(r->Read(v)));
  uses[0] = Writes(r->Write(u.out[0]));
  args.filled = u.in.size() > 1;
  AddKernel(BySize(KernelId::pad_1, r->parser().size(u.in[0])), args, Product(u.dims),
            std::move(uses), r);
}

// plugins/device makes views itself, but for those with post-ops, which there are none of.
void RecordView(const Unit& u, Recorder* r) { r->View(u.out[0], u.in[0]); }

constexpr GpuKind kMoves[] = {
    {&ViewSpec::kKind, nullptr, RecordView, nullptr},
    {&TransposeSpec::kKind, TakesMove, RecordTranspose, nullptr},
    {&ExpandSpec::kKind, TakesMove, RecordExpand, nullptr},
    {&TileSpec::kKind, TakesTile, RecordTile, nullptr},
    {&ResizeSpec::kKind, TakesTile, RecordResize, nullptr},
    {&MoveSpec::kKind, TakesMove, RecordDepthToSpace, nullptr},
    {&SliceSpec::kKind, TakesMove, RecordSlice, SliceKernels, nullptr, ReadsPart},
    {&ConcatSpec::kKind, TakesMove, RecordConcat, ConcatKernels},
    {&FillPadSpec::kKind, TakesMove, RecordPad, nullptr},
};

}  // namespace

std::span<const GpuKind> MoveKinds() { return kMoves; }

}  // namespace ge_engines::gpu
