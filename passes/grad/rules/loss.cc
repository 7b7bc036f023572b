// The losses, taken apart: the weights' gradients come with it.
#include "passes/grad/shape_values.h"

namespace ge::grad {
namespace {

// -w[t] x[n, t, ...]: classes are axis 1; what is to be ignored has no weight.
std::vector<Val> LikelihoodParts(Back& b) {
  Fn& fn = b.fn();
  const Val x = b.x(0), w = b.x(2);
  Val target = b.x(1), kept;
  const int32_t dtype = b.type(x).dtype;
  if (b.Has("ignore_index")) {
    const Val ignored = Compare("Equal", target, static_cast<double>(b.Int("ignore_index")));
    kept = Ones(Unary("Not", ignored), dtype);
    target = Where(ignored, fn.Scalar(b.type(target).dtype, 0), target);
  }
  Val weight = w ? Gather(w, target, 0) : Val{};
  if (weight && kept) weight = weight * kept;
  if (!weight) weight = kept;
  const Val picked = fn.Op("GatherElements", {x, Unsqueeze(target, {1})}, Attrs().Int("axis", 1));
  Val each = -Squeeze(picked, {1});
  if (weight) each = each * weight;
  const std::string how = b.Text("reduction", "mean");
  const Attrs whole = Attrs().Int("keepdims", 0);
  if (how == "none") return {each};
  if (how == "mean" && !weight) return {fn.Op("ReduceMean", {each}, whole)};
  const Val sum = fn.Op("ReduceSum", {each}, whole);
  return {how == "sum" ? sum : sum / fn.Op("ReduceSum", {weight}, whole)};
}

std::vector<Val> CrossEntropyParts(Back& b) {
  const Val log = b.fn().Op("LogSoftmax", {b.x(0)}, Attrs().Int("axis", 1));
  Attrs attrs = Attrs().Text("reduction", b.Text("reduction", "mean"));
  if (b.Has("ignore_index")) attrs.Int("ignore_index", b.Int("ignore_index"));
  const Val loss = b.fn().Op("NegativeLogLikelihoodLoss", {log, b.x(1), b.x(2)}, attrs);
  return {loss, log};
}

}  // namespace

GE_GRAD(loss) {
  const std::vector<NoGradient> target = {{1, "classes"}};
  return {{"", "NegativeLogLikelihoodLoss", nullptr, target, LikelihoodParts},
          {"", "SoftmaxCrossEntropyLoss", nullptr, target, CrossEntropyParts}};
}

}  // namespace ge::grad
