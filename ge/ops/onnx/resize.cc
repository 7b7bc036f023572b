#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ge/ops/infer_shapes.h"
#include "ge/ops/known_ints.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status CheckChoice(const Node& n, const char* attr,
                   std::initializer_list<std::string_view> choices) {
  const std::string_view found = AttrString(n, attr);
  std::string all;
  for (std::string_view choice : choices) {
    if (choice == found) return {};
    all += fmt::format("{}{}", all.empty() ? "" : ", ", choice);
  }
  return Bad(n, fmt::format("attribute '{}' is '{:.64}', wanted one of {}", attr, found, all));
}

Status CheckAttrs(const Node& n) {
  GE_RETURN_IF_ERROR(CheckChoice(n, "mode", {"nearest", "linear", "cubic"}));
  GE_RETURN_IF_ERROR(CheckChoice(n, "coordinate_transformation_mode",
                                 {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",
                                  "align_corners", "asymmetric", "tf_crop_and_resize"}));
  GE_RETURN_IF_ERROR(
      CheckChoice(n, "nearest_mode", {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}));
  GE_RETURN_IF_ERROR(
      CheckChoice(n, "keep_aspect_ratio_policy", {"stretch", "not_larger", "not_smaller"}));
  if (!std::isfinite(AttrFloat(n, "cubic_coeff_a"))) {
    return Bad(n, "attribute 'cubic_coeff_a' is not finite, wanted a finite number");
  }
  return {};
}

bool IsGiven(const InferContext& c, size_t i) {
  if (i >= c.input_count() || !c.has_input(i)) return false;
  // Older exporters write an empty tensor for an input that is not used.
  return ElementCount(c.input_type(i)) != 0;
}

Status CheckCountResize(InferContext& c, const char* name, size_t found, size_t wanted) {
  if (found == wanted) return {};
  return Bad(c.node(), fmt::format("input '{}' has {} entries, wanted {}: one for each resized "
                                   "axis",
                                   name, found, wanted));
}

// floor(size * scale) in single precision, as the exporters compute it.
Result<Dim> Scaled(InferContext& c, Dim size, double scale) {
  if (!(scale > 0) || !std::isfinite(scale)) {
    return Bad(c.node(),
               fmt::format("input 'scales' holds {}, wanted finite scales above 0", scale));
  }
  if (size.known()) {
    const float out = std::floor(static_cast<float>(size.value) * static_cast<float>(scale));
    if (!(out < 9e18f)) {
      return Bad(c.node(),
                 fmt::format("size {} times scale {} overflows 64 bits", size.value, scale));
    }
    return KnownDim(static_cast<int64_t>(out));
  }
  // A scale that is a fraction of small powers of two is exact; others round by the size.
  double up = scale;
  int64_t down = 1;
  while (up != std::floor(up) && down < 1024) {
    up *= 2;
    down *= 2;
  }
  if (up != std::floor(up) || up > 1e6) return c.FreshDim("resize", false);
  auto out = c.dims().Mul(size, KnownDim(static_cast<int64_t>(up)));
  if (out) out = c.dims().FloorDiv(*out, KnownDim(down));
  return Checked(c.node(), out, "a resized size");
}

// Extent of the region of interest of the k-th of n axes; 1 unless the mode crops.
std::optional<double> Crop(const InferContext& c, size_t k, size_t n) {
  if (AttrString(c.node(), "coordinate_transformation_mode") != "tf_crop_and_resize") return 1;
  const auto roi = ConstFloats(c, 1);
  if (!roi || roi->size() != 2 * n) return std::nullopt;
  return (*roi)[n + k] - (*roi)[k];
}

Status ByScales(InferContext& c, std::span<const int64_t> axes, std::vector<Dim>* dims) {
  const auto scales = ConstFloats(c, 2);
  if (scales) GE_RETURN_IF_ERROR(CheckCountResize(c, "scales", scales->size(), axes.size()));
  for (size_t k = 0; k < axes.size(); ++k) {
    Dim& size = (*dims)[static_cast<size_t>(axes[k])];
    const auto crop = Crop(c, k, axes.size());
    if (!scales || !crop) {
      size = c.FreshDim("resize", true);
      continue;
    }
    GE_ASSIGN_OR_RETURN(size, Scaled(c, size, (*scales)[k] * *crop));
  }
  return {};
}

// One scale for all axes: the least or the greatest of wanted / present sizes.
Status KeepRatio(InferContext& c, std::span<const int64_t> axes, std::span<const Dim> sizes,
                 bool larger, std::vector<Dim>* dims) {
  double scale = larger ? 0 : HUGE_VAL;
  bool open = false;
  for (size_t k = 0; k < axes.size(); ++k) {
    const Dim size = (*dims)[static_cast<size_t>(axes[k])];
    open = open || !size.known() || !sizes[k].known();
    if (open) continue;
    const double ratio = static_cast<double>(sizes[k].value) / static_cast<double>(size.value);
    scale = larger ? std::max(scale, ratio) : std::min(scale, ratio);
  }
  for (int64_t axis : axes) {
    Dim& size = (*dims)[static_cast<size_t>(axis)];
    if (open) {
      size = c.FreshDim("resize", false);
      continue;
    }
    const double out = std::floor(scale * static_cast<double>(size.value) + 0.5);
    if (!(out < 9e18)) return Bad(c.node(), "a resized size is not finite: the input is empty");
    size = KnownDim(static_cast<int64_t>(out));
  }
  return {};
}

Status BySizes(InferContext& c, std::span<const int64_t> axes, std::vector<Dim>* dims) {
  const auto sizes = Content(c, 3);
  if (!sizes) {
    for (int64_t axis : axes) (*dims)[static_cast<size_t>(axis)] = c.FreshDim("resize", true);
    return {};
  }
  GE_RETURN_IF_ERROR(CheckCountResize(c, "sizes", sizes->size(), axes.size()));
  const std::string_view policy = AttrString(c.node(), "keep_aspect_ratio_policy");
  if (policy != "stretch") return KeepRatio(c, axes, *sizes, policy == "not_smaller", dims);
  for (size_t k = 0; k < axes.size(); ++k) (*dims)[static_cast<size_t>(axes[k])] = (*sizes)[k];
  return {};
}

Status InferResize(InferContext& c) {
  const Type& x = c.input_type(0);
  GE_RETURN_IF_ERROR(CheckAttrs(c.node()));
  const bool by_scales = IsGiven(c, 2), by_sizes = IsGiven(c, 3);
  if (!x.ranked) {
    c.SetOutput(0, UnrankedTensor(x.dtype));
    return {};
  }
  std::vector<int64_t> axes = AttrInts(c.node(), "axes");
  for (size_t i = 0; axes.size() < x.rank() && !HasAttr(c.node(), "axes") && i < x.rank(); ++i) {
    axes.push_back(static_cast<int64_t>(i));
  }
  GE_ASSIGN_OR_RETURN(axes, NormalizeAxes(c.node(), axes, static_cast<int64_t>(x.rank())));
  if (by_scales == by_sizes && !axes.empty()) {
    return Bad(c.node(), by_scales ? "both inputs 'scales' and 'sizes' are given, wanted one"
                                   : "neither input 'scales' nor 'sizes' is given, wanted one");
  }
  std::vector<Dim> dims = x.dims;
  GE_RETURN_IF_ERROR(by_scales ? ByScales(c, axes, &dims) : BySizes(c, axes, &dims));
  for (size_t i = 0; i < dims.size(); ++i) {
    // A scale may leave nothing of an axis: floor(3 * 0.3) is no element.
    const bool stretch = AttrString(c.node(), "keep_aspect_ratio_policy") == "stretch";
    const int64_t least = by_sizes && stretch ? 1 : 0;
    if (dims[i].known() && dims[i].value < least && x.dims[i] != dims[i]) {
      return Bad(c.node(), fmt::format("shape {} would become {}, wanted sizes of at least {}",
                                       Show(c.dims(), x.dims), Show(c.dims(), dims), least));
    }
  }
  return SetTensor(c, 0, x.dtype, std::move(dims));
}

OpDef ResizeRecord() {
  OpDef op{"", "Resize", 19, {}, {{"Y", kClassic, "T1"}}, {}, InferResize, PerOutput<12>};
  const DTypeSet roi = kFloats & ~Bit(DType::kBfloat16);
  op.inputs = {{"X", kClassic, "T1"},
               {"roi", roi, "T2", Arity::kOptional},
               {"scales", Bit(DType::kFloat), "", Arity::kOptional},
               {"sizes", Bit(DType::kInt64), "", Arity::kOptional}};
  op.attrs = {{"antialias", AttrKind::kInt, 0},
              {"axes", AttrKind::kInts},
              {"coordinate_transformation_mode", AttrKind::kString, "half_pixel"},
              {"cubic_coeff_a", AttrKind::kFloat, -0.75f},
              {"exclude_outside", AttrKind::kInt, 0},
              {"extrapolation_value", AttrKind::kFloat, 0.0f},
              {"keep_aspect_ratio_policy", AttrKind::kString, "stretch"},
              {"mode", AttrKind::kString, "nearest"},
              {"nearest_mode", AttrKind::kString, "round_prefer_floor"}};
  return op;
}

}  // namespace

// Interpolation to scales or sizes; an axis becomes floor(size * extent of roi * scale).
GE_OP(resize) = ResizeRecord();

}  // namespace ge
