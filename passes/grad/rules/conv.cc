// Conv and ConvTranspose: each is the way back through the other. The weight's gradient is a
// convolution, too: of channels over the batch, by the cotangent for a kernel.
#include <algorithm>

#include "passes/grad/window.h"

namespace ge::grad {
namespace {

Attrs Geometry(const Windows& w, int64_t group) {
  return Attrs().Ints("strides", w.strides).Ints("dilations", w.dilations).Int("group", group);
}

bool AllZeroOrMore(const std::vector<int64_t>& v) {
  return std::all_of(v.begin(), v.end(), [](int64_t n) { return n >= 0; });
}

// Puts (cuts, below 0) elements before and behind the spatial axes.
Val PadSpatial(Val v, const std::vector<Val>& before, const std::vector<Val>& behind) {
  Fn& fn = *v.fn;
  std::vector<Val> pads = before;
  pads.insert(pads.end(), behind.begin(), behind.end());
  return fn.Op("Pad", {v, Joined(pads), Val{}, fn.Ints(AxesFrom(2, fn.TypeOf(v).rank))});
}

// The weight [small channels, big channels / group, kernel] that reads `ct` from `big`.
Val WeightBack(Val big, Val ct, const Windows& w, int64_t group) {
  Fn& fn = *big.fn;
  const int64_t rank = fn.TypeOf(big).rank;
  std::vector<int64_t> swap = AxesFrom(0, rank), pads = w.known;
  std::swap(swap[0], swap[1]);
  if (pads.empty() || !AllZeroOrMore(pads)) {
    big = PadSpatial(big, w.before, w.exact);
    pads.assign(2 * w.kernel.size(), 0);
  }
  Val from = Transpose(big, swap);
  if (group != 1) {
    // Channels [group, each]: each is the batch now, and a group's are those of the old batch.
    const Type t = fn.TypeOf(big);
    const Val each = t.dims[1].value >= 0 ? fn.Ints({t.dims[1].value / group})
                                          : SizeOf(big, 1) / static_cast<double>(group);
    std::vector<Val> parts = {fn.Ints({group}), each, SizeOf(big, 0)}, merged = {each};
    merged.push_back(t.dims[0].value >= 0 ? fn.Ints({t.dims[0].value * group})
                                          : SizeOf(big, 0) * static_cast<double>(group));
    for (int64_t i = 2; i < rank; ++i) {
      parts.push_back(SizeOf(big, i));
      merged.push_back(SizeOf(big, i));
    }
    std::vector<int64_t> perm = {1, 0, 2};
    for (int64_t i = 3; i <= rank; ++i) perm.push_back(i);
    from = ReshapeTo(Transpose(ReshapeTo(from, parts), perm), merged);
  }
  const Attrs turned = Attrs()
                           .Ints("strides", w.dilations)
                           .Ints("dilations", w.strides)
                           .Ints("pads", pads)
                           .Int("group", group);
  return Transpose(fn.Op("Conv", {from, Transpose(ct, swap)}, turned), swap);
}

Val BiasBack(Val ct) {
  std::vector<int64_t> axes = AxesFrom(1, ct.fn->TypeOf(ct).rank);
  axes[0] = 0;
  return ReduceSum(ct, axes, false);
}

// How an image and a weight change a convolution, each as one node: engines have kernels for them.
Val InputGrad(Val ct, Val weight, Val image, const Attrs& attrs) {
  return ct.fn->Node("ge", "ConvGradInput", {ct, weight, ct.fn->ShapeOf(image)}, attrs, 1)[0];
}
Val WeightGrad(Val image, Val ct, Val weight, const Attrs& attrs) {
  return ct.fn->Node("ge", "ConvGradWeight", {image, ct, ct.fn->ShapeOf(weight)}, attrs, 1)[0];
}

Attrs AttrsOf(const Back& b) {
  Attrs attrs;
  for (uint32_t i = 0; i < b.node().n_attr; ++i) attrs.Add(b.node().attr[i]);
  return attrs;
}

void ConvBack(Back& b) {
  const Val x = b.x(0), ct = b.ct();
  if (b.rank(ct) < 3) return b.Fail("an input's rank is not known");
  if (b.wants(0)) b.Give(0, InputGrad(ct, b.x(1), x, AttrsOf(b)));
  if (b.wants(1)) b.Give(1, WeightGrad(x, ct, b.x(1), AttrsOf(b)));
  if (b.wants(2)) b.Give(2, BiasBack(ct));
}

// Both gradients are bilinear; a cotangent of one is an image, of the other a weight.
void ConvGradInputBack(Back& b) {
  const Val image = b.ct();
  if (b.wants(0)) b.Give(0, b.fn().Op("Conv", {image, b.x(1)}, AttrsOf(b)));
  if (b.wants(1)) b.Give(1, WeightGrad(image, b.x(0), b.x(1), AttrsOf(b)));
}

void ConvGradWeightBack(Back& b) {
  const Val weight = b.ct();
  if (b.wants(0)) b.Give(0, InputGrad(b.x(1), weight, b.x(0), AttrsOf(b)));
  if (b.wants(1)) b.Give(1, b.fn().Op("Conv", {b.x(0), weight}, AttrsOf(b)));
}

// Pads that follow from a stated output shape.
void StatedPads(Back& b, Windows* w) {
  const Type x = b.type(b.x(0)), y = b.type(b.y());
  std::vector<int64_t> extra = b.Ints("output_padding");
  const size_t axes = w->kernel.size();
  extra.resize(axes, 0);
  const bool upper = b.Text("auto_pad", "NOTSET") == "SAME_UPPER";
  w->known.assign(2 * axes, 0);
  for (size_t i = 0; i < axes; ++i) {
    const int64_t n = x.dims[2 + i].value, size = y.dims[2 + i].value;
    if (n < 0 || size < 0 || w->kernel[i] < 0)
      return b.Fail("spatial sizes are not known, and pads follow from them");
    const int64_t reach = (n - 1) * w->strides[i] + (w->kernel[i] - 1) * w->dilations[i] + 1;
    const int64_t total = std::max<int64_t>(0, reach + extra[i] - size);
    const int64_t front = upper ? total / 2 : total - total / 2;
    w->known[i] = front;
    w->known[axes + i] = reach - size - front;
    w->before[i] = b.fn().Ints({front});
    w->exact[i] = b.fn().Ints({w->known[axes + i]});
  }
}

void ConvTransposeBack(Back& b) {
  Fn& fn = b.fn();
  const int64_t group = b.Int("group", 1);
  const Val ct = b.ct();
  Windows w;
  if (!ReadWindows(b, ct, b.x(0), b.x(1), &w)) return;
  const std::string mode = b.Text("auto_pad", "NOTSET");
  if (!b.Ints("output_shape").empty() || mode == "SAME_UPPER" || mode == "SAME_LOWER") {
    StatedPads(b, &w);
    if (!b.failed().empty()) return;
  }
  if (b.wants(0)) {
    const bool direct = !w.known.empty() && AllZeroOrMore(w.known);
    const Val from = direct ? ct : PadSpatial(ct, w.before, w.exact);
    Attrs attrs = Geometry(w, group);
    if (direct) attrs.Ints("pads", w.known);
    b.Give(0, fn.Op("Conv", {from, b.x(1)}, attrs));
  }
  if (b.wants(1)) b.Give(1, WeightBack(ct, b.x(0), w, group));
  if (b.wants(2)) b.Give(2, BiasBack(ct));
}

}  // namespace

GE_GRAD(conv) {
  const std::vector<NoGradient> shape = {{2, "a shape"}};
  return {{"", "Conv", ConvBack},
          {"", "ConvTranspose", ConvTransposeBack},
          {"ge", "ConvGradInput", ConvGradInputBack, shape},
          {"ge", "ConvGradWeight", ConvGradWeightBack, shape}};
}

}  // namespace ge::grad
