#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/shapes.h"

namespace ge::test {
namespace {

void CenterCropPadCase(CaseMaker& m) {
  const Dims dims = m.Shape(1, 4);
  std::vector<int64_t> axes = SomeAxes(m, Rank(dims), 0.6);
  const bool named = !axes.empty() && m.r.Chance(0.6);
  if (named) {
    Shuffle(m, &axes);
    m.Set("axes", axes);
  } else {
    axes = dims;  // only their number counts
  }
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < axes.size(); ++i) sizes.push_back(m.r.Chance(0.05) ? 0 : m.r.Int(1, 9));
  m.Add(Anything(m, dims));
  m.AddConstant(m.Ints(m.r.Chance(0.5) ? DType::kInt64 : DType::kInt32, {Rank(axes)}, sizes));
}

// What is not copied stays zero, as `out` was made.
bool PlainCenterCropPad(const RandomCase& c, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  const Dims sizes = Values(*c.inputs[1].tensor), axes = IntsOr(c, "axes", {});
  Dims wanted = x.dims;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const int64_t axis = axes.empty() ? static_cast<int64_t>(i) : axes[i];
    wanted[static_cast<size_t>(axis < 0 ? axis + Rank(x.dims) : axis)] = sizes[i];
  }
  if (wanted != out->dims) return false;
  Index at(out->dims);
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    Dims from = at.at;
    bool inside = true;
    for (size_t d = 0; d < from.size(); ++d) {
      const int64_t more = out->dims[d] - x.dims[d];
      from[d] += more > 0 ? -(more / 2) : -more / 2;
      inside = inside && from[d] >= 0 && from[d] < x.dims[d];
    }
    if (inside) Copy(x, Flat(x.dims, from), out, i);
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(center_crop_pad) = {"CenterCropPad", CenterCropPadCase, 0, Error::kOfElement,
                                 PlainCenterCropPad};

}  // namespace ge::test
