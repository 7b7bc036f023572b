// The experimental operators of ONNX 1.2 to 1.4, which converters from Core ML wrote for models up
// to opset 9: Affine, Crop, ImageScaler, ParametricSoftplus, Scale, ScaledTanh. They become the
// operators that they are made of, since later opsets have none of them.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "frontend/onnx/upgrade.h"

namespace ge {
namespace {

// Before the attributes are taken: the version, the ports, the element type.
Status WantExperimental(const NodeUpgrade& u) {
  if (u.opset >= 10) return u.Invalid("opset 10 removed it, wanted the operators it is made of");
  if (u.node.inputs.size() != 1 || !u.has_input(0) || u.node.outputs.size() != 1) {
    return u.Invalid(fmt::format("it has {} inputs and {} outputs, wanted one of each",
                                 u.node.inputs.size(), u.node.outputs.size()));
  }
  const DType dtype = u.input_hint(0).dtype;
  if (dtype == DType::kUndefined || (IsPlainFloat(dtype) && dtype != DType::kBfloat16)) return {};
  return u.Invalid(fmt::format("its input is {}, wanted f16, f32 or f64", DTypeName(dtype)));
}

// After they are taken: what is left is of another kind, or is none of the operator's.
Status WantNoMore(const NodeUpgrade& u) {
  if (u.node.attrs.empty()) return {};
  return u.Invalid(fmt::format("attribute '{:.64}' is not known, or of another kind",
                               u.node.attrs.front().name));
}

Status NoAttribute(const NodeUpgrade& u, const char* name) {
  return u.Invalid(fmt::format("attribute '{}' is absent, wanted a number", name));
}

// A scalar of the input's element type, which is a float's.
ValueId NumberLike(NodeUpgrade& u, double value) {
  const DType dtype = u.input_hint(0).dtype;
  if (IsPlainFloat(dtype)) return u.FloatScalar(dtype, value);
  return u.Before("CastLike", {u.FloatScalar(DType::kFloat, value), u.node.inputs[0]});
}

void Become(NodeUpgrade& u, std::string op, std::vector<ValueId> inputs) {
  u.node.op = std::move(op);
  u.node.inputs = std::move(inputs);
}

// The node's input times a number; the input itself where that is 1.
ValueId Scaled(NodeUpgrade& u, double factor) {
  const ValueId x = u.node.inputs[0];
  return factor == 1 ? x : u.Before("Mul", {x, NumberLike(u, factor)});
}

// alpha * call(beta * x); neither number has a default.
Status UpgradeCurve(NodeUpgrade& u, const char* call) {
  GE_RETURN_IF_ERROR(WantExperimental(u));
  const auto alpha = u.TakeFloat("alpha"), beta = u.TakeFloat("beta");
  GE_RETURN_IF_ERROR(WantNoMore(u));
  if (!alpha) return NoAttribute(u, "alpha");
  if (!beta) return NoAttribute(u, "beta");
  const ValueId factor = NumberLike(u, *alpha);
  Become(u, "Mul", {u.Before(call, {Scaled(u, *beta)}), factor});
  return {};
}

// ONNX Runtime takes images of 4 axes alone.
Status WantImages(const NodeUpgrade& u) {
  const int rank = u.input_hint(0).rank;
  if (rank < 0 || rank == 4) return {};
  return u.Invalid(fmt::format("its input has {} axes, wanted 4: [N,C,H,W]", rank));
}

// Where an axis of the declared input ends; nullopt when that is not declared.
std::optional<int64_t> SizeOfAxis(const NodeUpgrade& u, size_t axis) {
  const Type& x = u.input_type(0);
  if (!x.is_tensor() || !x.ranked || x.rank() <= axis || !x.dims[axis].known()) return {};
  return x.dims[axis].value;
}

Status WantNotNegatives(const NodeUpgrade& u, const char* name, const std::vector<int64_t>& values,
                        size_t count) {
  const bool fits = values.size() == count &&
                    std::all_of(values.begin(), values.end(), [](int64_t v) { return v >= 0; });
  if (fits) return {};
  return u.Invalid(fmt::format("attribute '{}' is [{}], wanted {} numbers that are not negative",
                               name, fmt::join(values, ","), count));
}

// An axis of which `first` elements are left out and, when `size` is given, so many kept, else
// `last` left out at its end.
struct CropAxis {
  const char* name;
  size_t axis;
  int64_t first, last;
  std::optional<int64_t> size;
};

Status WantRoom(const NodeUpgrade& u, const CropAxis& a) {
  const auto whole = SizeOfAxis(u, a.axis);
  const int64_t more = a.size.value_or(a.last);
  if (!whole || (a.first <= *whole && more <= *whole - a.first)) return {};
  return u.Invalid(
      fmt::format("attributes 'border' and 'scale' want {} + {} of its input's {}, "
                  "which is {}",
                  a.first, more, a.name, *whole));
}

int64_t EndOfCrop(const CropAxis& a) {
  constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();
  if (a.size) return *a.size > kEnd - a.first ? kEnd : a.first + *a.size;
  return a.last == 0 ? kEnd : -a.last;
}

}  // namespace

Status UpgradeAffine(NodeUpgrade& upgrade) {
  GE_RETURN_IF_ERROR(WantExperimental(upgrade));
  const double alpha = upgrade.TakeFloat("alpha").value_or(1);
  const double beta = upgrade.TakeFloat("beta").value_or(0);
  GE_RETURN_IF_ERROR(WantNoMore(upgrade));
  const ValueId more = NumberLike(upgrade, beta);
  Become(upgrade, "Add", {Scaled(upgrade, alpha), more});
  return {};
}

Status UpgradeScale(NodeUpgrade& upgrade) {
  GE_RETURN_IF_ERROR(WantExperimental(upgrade));
  const double scale = upgrade.TakeFloat("scale").value_or(1);
  GE_RETURN_IF_ERROR(WantNoMore(upgrade));
  Become(upgrade, "Mul", {upgrade.node.inputs[0], NumberLike(upgrade, scale)});
  return {};
}

Status UpgradeScaledTanh(NodeUpgrade& upgrade) { return UpgradeCurve(upgrade, "Tanh"); }

Status UpgradeParametricSoftplus(NodeUpgrade& upgrade) { return UpgradeCurve(upgrade, "Softplus"); }

// A BatchNormalization of mean 0 and variance 1: engines fold it into a convolution, and its rule
// refuses a list of another length than the channels.
Status UpgradeImageScaler(NodeUpgrade& upgrade) {
  GE_RETURN_IF_ERROR(WantExperimental(upgrade));
  GE_RETURN_IF_ERROR(WantImages(upgrade));
  const double scale = upgrade.TakeFloat("scale").value_or(1);
  const auto bias = upgrade.TakeFloats("bias");
  GE_RETURN_IF_ERROR(WantNoMore(upgrade));
  if (!bias) return upgrade.Invalid("attribute 'bias' is absent, wanted a number a channel");
  const auto channels = SizeOfAxis(upgrade, 1);
  if (channels && *channels != static_cast<int64_t>(bias->size())) {
    return upgrade.Invalid(fmt::format("attribute 'bias' has {} numbers, wanted {}, one a channel",
                                       bias->size(), *channels));
  }
  const auto each = [&](double value) {
    return upgrade.FloatsConst(std::vector<float>(bias->size(), static_cast<float>(value)));
  };
  const ValueId scales = each(scale), zeros = each(0), ones = each(1);
  const ValueId moved = upgrade.FloatsConst(std::vector<float>(bias->begin(), bias->end()));
  Become(upgrade, "BatchNormalization", {upgrade.node.inputs[0], scales, moved, zeros, ones});
  upgrade.SetAttr("epsilon", 0.0);
  return {};
}

// border: left, top, right, bottom. scale: the height and width to keep from there on; the right
// and bottom borders then mean nothing. Sizes that are not declared are not checked: of a crop that
// is too large there is what the image has.
Status UpgradeCrop(NodeUpgrade& upgrade) {
  GE_RETURN_IF_ERROR(WantExperimental(upgrade));
  GE_RETURN_IF_ERROR(WantImages(upgrade));
  const auto border = upgrade.TakeInts("border"), scale = upgrade.TakeInts("scale");
  GE_RETURN_IF_ERROR(WantNoMore(upgrade));
  const std::vector<int64_t> none;
  GE_RETURN_IF_ERROR(WantNotNegatives(upgrade, "border", border ? *border : none, 4));
  const bool sized = scale && !scale->empty();
  if (sized) GE_RETURN_IF_ERROR(WantNotNegatives(upgrade, "scale", *scale, 2));
  std::vector<int64_t> begins, ends;
  for (const bool wide : {false, true}) {
    CropAxis a{wide ? "width" : "height", size_t{wide ? 3U : 2U}, (*border)[wide ? 0 : 1],
               (*border)[wide ? 2 : 3],
               sized ? std::optional<int64_t>((*scale)[wide ? 1 : 0]) : std::nullopt};
    GE_RETURN_IF_ERROR(WantRoom(upgrade, a));
    begins.push_back(a.first);
    ends.push_back(EndOfCrop(a));
  }
  const ValueId from = upgrade.IntsConst(begins), to = upgrade.IntsConst(ends);
  Become(upgrade, "Slice", {upgrade.node.inputs[0], from, to, upgrade.IntsConst({2, 3})});
  return {};
}

}  // namespace ge
