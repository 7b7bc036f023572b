// Elements that are moved and not looked at: of any width where views and boxes of floats have
// none.
#include <algorithm>

#include "plugins/cpu/native/emit.h"

namespace ge_engines::cpu::native {

bool GoesBack(const SliceSpec& s) {
  return std::any_of(s.boxes.begin(), s.boxes.end(), [](const Box& b) {
    return std::any_of(b.step.begin(), b.step.end(), [](int64_t step) { return step < 0; });
  });
}

void NativeBuilder::EmitMove(const Unit& u, const ConcatSpec& spec) {
  const Dims to = StridesOf(u.dims);
  const auto axis = static_cast<size_t>(spec.axis);
  std::vector<MoveBox> boxes;
  std::vector<Place> reads;
  int64_t at = 0;
  for (uint32_t v : u.in) {
    const Dims d = p_.dims(v);
    reads.push_back(GetDense(v).place);
    boxes.push_back({static_cast<int>(reads.size()), 0, at * to[axis], d, StridesOf(d), to});
    at += d[axis];
  }
  AddPlain(u, "concat", MoveLoop(boxes, p_.size(u.out[0])), std::move(reads));
}

void NativeBuilder::EmitMove(const Unit& u, const ExpandSpec&) {
  const Dims x = p_.dims(u.in[0]), strides = StridesOf(x);
  Dims from(u.dims.size(), 0);
  const size_t lead = u.dims.size() - x.size();
  for (size_t k = 0; k < x.size(); ++k) from[k + lead] = x[k] == 1 ? 0 : strides[k];
  AddPlain(u, "expand", MoveLoop({{1, 0, 0, u.dims, from, StridesOf(u.dims)}}, p_.size(u.out[0])),
           {GetDense(u.in[0]).place});
}

void NativeBuilder::EmitMove(const Unit& u, const TransposeSpec& spec) {
  const Dims strides = StridesOf(p_.dims(u.in[0]));
  Dims from;
  for (const int64_t axis : spec.perm) from.push_back(strides[static_cast<size_t>(axis)]);
  AddPlain(u, "transpose",
           MoveLoop({{1, 0, 0, u.dims, from, StridesOf(u.dims)}}, p_.size(u.out[0])),
           {GetDense(u.in[0]).place});
}

void NativeBuilder::EmitMove(const Unit& u, const SliceSpec& spec) {
  const Dims strides = StridesOf(p_.dims(u.in[0]));
  for (size_t k = 0; k < u.out.size(); ++k) {
    const Dims d = p_.dims(u.out[k]);
    MoveBox box{1, 0, 0, d, strides, StridesOf(d)};
    for (size_t i = 0; i < d.size(); ++i) {
      box.from += strides[i] * spec.boxes[k].start[i];
      box.src[i] *= spec.boxes[k].step[i];
    }
    const Rep y = NewResult(u.out[k], Plain(u.out[k]));
    AddStep("slice " + Sizes(d), MoveLoop({box}, p_.size(u.out[0])),
            {y.place, GetDense(u.in[0]).place});
    AddRep(u.out[k], y);
  }
}

// As the input lies, if that is an order of single channels.
void NativeBuilder::EmitSpec(const Unit& u, const MoveSpec& spec) {
  const bool words = p_.size(u.in[0]) == 4;
  const Rep x = words ? Unblocked(u.in[0]) : GetDense(u.in[0]);
  MoveBox box;
  for (const MoveSpec::Axis& a : spec.axes) {
    box.size.push_back(a.size), box.dst.push_back(a.to);
    box.src.push_back(a.times * x.layout.stride[a.x]);
  }
  AddPlain(u, "move", MoveLoop({box}, p_.size(u.out[0])), {x.place});
}

void NativeBuilder::EmitSpec(const Unit& u, const FillSpec& spec) {
  AddPlain(u, "fill", FillLoop(Product(u.dims), p_.size(u.out[0]), spec.element), {});
}

void NativeBuilder::EmitSpec(const Unit& u, const TriangleSpec& spec) {
  AddPlain(u, "triangle", TriangleLoop(u.dims, spec, p_.size(u.out[0])), {GetDense(u.in[0]).place});
}

}  // namespace ge_engines::cpu::native
