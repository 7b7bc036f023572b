// Steps of our own loops, and views that need no step at all.
#include "plugins/cpu/native/emit.h"

namespace ge_engines::cpu::native {

void NativeBuilder::EmitSpec(const Unit& u, const ReduceSpec& spec) {
  Rep x = Main(u.in[0]);
  const bool over_channels = std::find(spec.axes.begin(), spec.axes.end(), 1) != spec.axes.end();
  const bool usual = x.layout == Layout::Like(x.layout.dims(), x.layout);
  if ((x.layout.cblock > 0 && over_channels) || !usual || !spec.keep_dims) x = GetDense(u.in[0]);
  Dims kept = x.layout.dims();
  for (int64_t a : spec.axes) kept[static_cast<size_t>(a)] = 1;
  const Layout inside = Layout::Like(kept, x.layout);
  const Layout shown = inside.dense() ? Layout::Dense(u.dims) : inside;
  const Rep y = NewResult(u.out[0], shown);
  AddStep("reduce " + Sizes(x.layout.dims()),
          ReduceLoop(simd_, spec.reduce, x.layout, spec.axes, inside), {y.place, x.place});
  AddRep(u.out[0], y);
}

void NativeBuilder::EmitSpec(const Unit& u, const SoftmaxSpec& spec) {
  const Rep x = GetDense(u.in[0]);
  const auto axis = static_cast<size_t>(spec.axis);
  int64_t outer = 1, inner = 1;
  for (size_t i = 0; i < axis; ++i) outer *= u.dims[i];
  for (size_t i = axis + 1; i < u.dims.size(); ++i) inner *= u.dims[i];
  const int64_t n = u.dims[axis];
  const bool leaves = leaves_.count(u.out[0]) > 0;
  const Rep y = !leaves && Dead(x.place, u) ? x : NewResult(u.out[0], Layout::Dense(u.dims));
  AddStep("softmax " + Sizes(u.dims), SoftmaxLoop(simd_, outer, n, inner), {y.place, x.place});
  AddRep(u.out[0], y);
}

void NativeBuilder::EmitSpec(const Unit& u, const LayerNormSpec& spec) {
  const Rep x = GetDense(u.in[0]);
  const int64_t n = u.dims.back();
  const Place gamma = u.in[1] != 0 ? GetDense(u.in[1]).place : x.place;
  const Place beta = u.in[2] != 0 ? GetDense(u.in[2]).place : x.place;
  const Rep y = NewResult(u.out[0], Layout::Dense(u.dims));
  AddStep((spec.centered ? "layer norm " : "RMS norm ") + Sizes(u.dims),
          LayerNormLoop(simd_, Product(u.dims) / n, n, spec, u.in[1] != 0, u.in[2] != 0),
          {y.place, x.place, gamma, beta});
  AddRep(u.out[0], y);
}

void NativeBuilder::EmitSpec(const Unit& u, const ConcatSpec& spec) {
  if (p_.size(u.out[0]) != 4) return EmitMove(u, spec);
  Layout target = Layout::Dense(u.dims);
  for (uint32_t v : u.in) {
    if (!p_.constant(v) && target.dense()) target = Layout::Like(u.dims, Main(v).layout);
  }
  std::vector<BoxCopy> boxes;
  std::vector<Place> places(1);
  Dims at(u.dims.size(), 0);
  for (uint32_t v : u.in) {
    const Rep x = target.cblock > 0 ? Get(v, Layout::Like(p_.dims(v), target)) : Unblocked(v);
    boxes.push_back({x.layout, target, Dims(u.dims.size(), 0), at, x.layout.dims()});
    places.push_back(x.place);
    at[static_cast<size_t>(spec.axis)] += x.layout.dim[spec.axis];
  }
  const Rep y = NewResult(u.out[0], target);
  places[0] = y.place;
  AddStep("concat " + Sizes(u.dims), CopyLoop(simd_, target, boxes), std::move(places));
  AddRep(u.out[0], y);
}

void NativeBuilder::EmitSpec(const Unit& u, const ResizeSpec& spec) {
  Rep x = Main(u.in[0]);
  const bool channels = spec.factors.size() > 1 && spec.factors[1] != 1;
  if (channels || !(x.layout == Layout::Like(x.layout.dims(), x.layout))) x = GetDense(u.in[0]);
  const Layout target = Layout::Like(u.dims, x.layout);
  const Rep y = NewResult(u.out[0], target);
  AddStep("resize " + Sizes(u.dims), RepeatLoop(simd_, x.layout, target, spec.factors),
          {y.place, x.place});
  AddRep(u.out[0], y);
}

void NativeBuilder::EmitSpec(const Unit& u, const ViewSpec&) {
  const uint32_t v = u.in[0];
  if (p_.dims(v) == u.dims && !p_.constant(v)) {
    for (const Rep& r : std::vector<Rep>(reps_[v])) AddRep(u.out[0], r);
    return;
  }
  // Axes of one element come and go in any plain layout.
  const Rep x = Unblocked(v);
  Layout l = Plain(u.out[0]);
  int from = 0;
  bool match = true;
  for (int i = 0; i < l.rank && match; ++i) {
    if (l.dim[i] == 1) continue;
    while (from < x.layout.rank && x.layout.dim[from] == 1) ++from;
    match = from < x.layout.rank && x.layout.dim[from] == l.dim[i];
    if (match) l.stride[i] = x.layout.stride[from++];
  }
  if (match) {
    AddRep(u.out[0], {l, x.place});
    return;
  }
  AddRep(u.out[0], {Plain(u.out[0]), GetDense(v).place});
}

// Repeats by a source that does not move along the axes of one element.
void NativeBuilder::EmitSpec(const Unit& u, const ExpandSpec& spec) {
  if (p_.size(u.out[0]) != 4) return EmitMove(u, spec);
  const Rep x = Unblocked(u.in[0]);
  const Layout target = Layout::Dense(u.dims);
  Layout from = target;
  const int lead = target.rank - x.layout.rank;
  for (int i = 0; i < target.rank; ++i) {
    from.stride[i] = i < lead || x.layout.dim[i - lead] == 1 ? 0 : x.layout.stride[i - lead];
  }
  const Rep y = NewResult(u.out[0], target);
  const Dims zero(u.dims.size(), 0);
  AddStep("expand " + Sizes(u.dims), CopyLoop(simd_, target, {{from, target, zero, zero, u.dims}}),
          {y.place, x.place});
  AddRep(u.out[0], y);
}

void NativeBuilder::EmitSpec(const Unit& u, const TransposeSpec& spec) {
  if (p_.size(u.out[0]) != 4) return EmitMove(u, spec);
  const uint32_t v = u.in[0];
  const Rep main = Main(v);
  Layout l = Layout::Dense(u.dims);
  if (main.layout.cblock > 0) {
    // Straight into the order of the result.
    Layout order = Layout::Dense(p_.dims(v));
    for (size_t i = 0; i < spec.perm.size(); ++i) {
      order.stride[spec.perm[i]] = l.stride[static_cast<int>(i)];
    }
    const Rep x = Get(v, order);
    AddRep(u.out[0], {l, x.place});
    return;
  }
  for (size_t i = 0; i < spec.perm.size(); ++i) {
    l.stride[static_cast<int>(i)] = main.layout.stride[spec.perm[i]];
  }
  AddRep(u.out[0], {l, main.place});
}

void NativeBuilder::EmitSpec(const Unit& u, const SliceSpec& spec) {
  if (p_.size(u.out[0]) != 4 || GoesBack(spec)) return EmitMove(u, spec);
  const Rep x = Main(u.in[0]);
  for (size_t k = 0; k < u.out.size(); ++k) {
    const Box& box = spec.boxes[k];
    const Dims d = p_.dims(u.out[k]);
    const bool strided =
        std::any_of(box.step.begin(), box.step.end(), [](int64_t s) { return s != 1; });
    if (x.layout.cblock > 0 && !strided) {
      const Layout target = Layout::Blocked(d, x.layout.cblock);
      const Rep y = NewResult(u.out[k], target);
      AddStep("slice " + Sizes(d),
              CopyLoop(simd_, target, {{x.layout, target, box.start, Dims(d.size(), 0), d}}),
              {y.place, x.place});
      AddRep(u.out[k], y);
      continue;
    }
    const Rep plain = Unblocked(u.in[0]);
    Layout l = Layout::Dense(d);
    uint64_t offset = plain.place.offset;
    for (int i = 0; i < l.rank; ++i) {
      const auto at = static_cast<size_t>(i);
      l.stride[i] = plain.layout.stride[i] * box.step[at];
      offset += static_cast<uint64_t>(plain.layout.stride[i] * box.start[at]) * sizeof(float);
    }
    AddRep(u.out[k], {l, {plain.place.storage, offset}});
  }
}

}  // namespace ge_engines::cpu::native
