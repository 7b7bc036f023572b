// Resize is one matrix an axis, whatever its mode: the way back is their transposes. Each is made
// by resizing the identity along that axis alone.
#include "passes/grad/shape_values.h"

namespace ge::grad {
namespace {

struct Resized {
  std::vector<int64_t> axes;
  Val roi, scales, sizes;
};

bool KeepsRatio(const Back& b, const Resized& r) {
  return r.sizes && b.Text("keep_aspect_ratio_policy", "stretch") != "stretch";
}

// [in, out] of the i-th axis that is resized. Where several axes keep one ratio, all are there and
// what varies along this one alone is read at the first places of the others.
Val AxisMatrix(Back& b, const Resized& r, size_t i) {
  Fn& fn = b.fn();
  const bool kept = KeepsRatio(b, r);
  Attrs attrs;
  for (uint32_t k = 0; k < b.node().n_attr; ++k) {
    const ge_str name = b.node().attr[k].name;
    const bool ours = ge_is(name, "axes") || ge_is(name, "extrapolation_value") ||
                      (!kept && ge_is(name, "keep_aspect_ratio_policy"));
    if (!ours) attrs.Add(b.node().attr[k]);
  }
  const auto at = static_cast<int64_t>(i), n = static_cast<int64_t>(r.axes.size());
  const Val eye = Eye(SizeOf(b.x(), r.axes[i]), b.type(b.x()).dtype);
  if (kept) {
    std::vector<int64_t> others, axes = AxesFrom(1, n + 1);
    std::vector<Val> sizes = {SizeOf(eye, 0)};
    for (int64_t k = 0; k < n; ++k) {
      sizes.push_back(SizeOf(b.x(), r.axes[static_cast<size_t>(k)]));
      if (k != at) others.push_back(k + 1);
    }
    Val whole = others.empty() ? eye : Unsqueeze(eye, others);
    whole = fn.Op("Resize", {fn.Op("Expand", {whole, Joined(sizes)}), Val{}, Val{}, r.sizes},
                  attrs.Ints("axes", axes));
    const std::vector<int64_t> zeros(others.size(), 0), ones(others.size(), 1);
    return others.empty() ? whole : Squeeze(Slice(whole, zeros, ones, others), others);
  }
  attrs.Ints("axes", {1}).Float("extrapolation_value", 0);
  const auto pick = [&](Val v, std::vector<int64_t> which) {
    return v ? Gather(v, fn.Ints(which), 0) : Val{};
  };
  const bool crop = b.Text("coordinate_transformation_mode") == "tf_crop_and_resize";
  return fn.Op(
      "Resize",
      {eye, crop ? pick(r.roi, {at, n + at}) : Val{}, pick(r.scales, {at}), pick(r.sizes, {at})},
      attrs);
}

void ResizeBack(Back& b) {
  const int32_t rank = b.rank(b.x());
  if (rank < 0) return b.Fail("an input's rank is not known");
  Resized r{b.Ints("axes"), b.x(1), b.x(2), b.x(3)};
  for (int64_t& a : r.axes) a = a < 0 ? a + rank : a;
  if (!b.Has("axes")) r.axes = AxesFrom(0, rank);
  // An input of no elements counts as absent.
  if (r.scales && r.sizes) {
    const Type t = b.type(r.scales);
    (t.known() && t.elements() == 0 ? r.scales : r.sizes) = {};
  }
  Val back = b.ct();
  const Type from = b.type(b.x()), to = b.type(b.y());
  const bool crop = b.Text("coordinate_transformation_mode") == "tf_crop_and_resize";
  if (crop && KeepsRatio(b, r)) return b.Fail("its region and a kept ratio together are not built");
  for (size_t i = 0; i < r.axes.size(); ++i) {
    const auto a = static_cast<size_t>(r.axes[i]);
    const bool same = from.dims[a].value >= 0 && from.dims[a].value == to.dims[a].value;
    // One that keeps its size is the identity, but for a scale that is not quite one.
    if (same && !crop && r.sizes && !KeepsRatio(b, r)) continue;
    back = Along(back, SwapLast(AxisMatrix(b, r, i)), r.axes[i]);
  }
  b.Give(0, back);
}

}  // namespace

GE_GRAD(resize) {
  return {{"", "Resize", ResizeBack, {{1, "a region"}, {2, "scales"}, {3, "sizes"}}}};
}

}  // namespace ge::grad
