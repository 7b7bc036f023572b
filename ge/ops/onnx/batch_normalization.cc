#include <fmt/format.h>

#include <cmath>

#include "ge/ops/infer_shapes.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status InferBatchNormalization(InferContext& c) {
  const Type& x = c.input_type(0);
  const auto epsilon = static_cast<float>(AttrFloat(c.node(), "epsilon"));
  const auto momentum = static_cast<float>(AttrFloat(c.node(), "momentum"));
  if (!std::isfinite(epsilon) || epsilon < 0 || !std::isfinite(momentum)) {
    return Bad(c.node(), fmt::format("attributes 'epsilon' {} and 'momentum' {}: wanted finite "
                                     "numbers, epsilon not negative",
                                     epsilon, momentum));
  }
  const bool training = AttrInt(c.node(), "training_mode") != 0;
  for (size_t i = 1; i < c.output_count(); ++i) {
    if (!training && c.has_output(i)) {
      return Bad(c.node(), fmt::format("output {} is used, wanted training_mode=1 for running "
                                       "statistics",
                                       i));
    }
  }
  GE_RETURN_IF_ERROR(WantRank(x, 1, "BatchNormalization: input 'X'"));
  // A vector has one channel.
  Dim channels = !x.ranked ? c.FreshDim("channels", false) : x.rank() > 1 ? x.dims[1] : KnownDim(1);
  const char* names[] = {"X", "scale", "B", "input_mean", "input_var"};
  for (size_t i = 1; i < 5; ++i) {
    GE_RETURN_IF_ERROR(WantShape(c, i, names[i], {{channels}}));
    const Type& t = c.input_type(i);
    if (t.ranked && !channels.known()) channels = t.dims[0];
  }
  std::vector<Dim> dims = x.dims;
  if (x.rank() > 1) dims[1] = channels;
  if (x.ranked) {
    GE_RETURN_IF_ERROR(SetTensor(c, 0, x.dtype, std::move(dims)));
  } else {
    c.SetOutput(0, x);
  }
  for (size_t i = 1; i < c.output_count(); ++i) {
    if (c.has_output(i)) {
      GE_RETURN_IF_ERROR(SetTensor(c, i, c.input_type(3).dtype, {channels}));
    }
  }
  return {};
}

OpDef BatchNormalizationRecord() {
  OpDef op{"", "BatchNormalization", 15, {}, {}, {}, InferBatchNormalization, PerOutput<2>};
  op.inputs = {{"X", kFloats, "T"},
               {"scale", kFloats, "T1"},
               {"B", kFloats, "T1"},
               {"input_mean", kFloats, "T2"},
               {"input_var", kFloats, "T2"}};
  op.outputs = {{"Y", kFloats, "T"},
                {"running_mean", kFloats, "T2", Arity::kOptional},
                {"running_var", kFloats, "T2", Arity::kOptional}};
  op.attrs = {{"epsilon", AttrKind::kFloat, 1e-5f},
              {"momentum", AttrKind::kFloat, 0.9f},
              {"training_mode", AttrKind::kInt, 0}};
  return op;
}

}  // namespace

// (x - mean) / sqrt(var + epsilon) * scale + B per channel; batch statistics when training.
GE_OP(batch_normalization) = BatchNormalizationRecord();

}  // namespace ge
