// Shared by the optimizers of ai.onnx.preview.training: a rate, a step count and, after them, lists
// of equal length: the tensors, their gradients, and the slots kept between steps. All are
// decompositions into elementwise operators. Any thread may call.
#pragma once

#include <vector>

#include "ge/ops/decompose.h"
#include "ge/ops/infer_shapes.h"

namespace ge {

// `kept`: the number of lists kept between steps; inputs are 2 + n * (2 + kept), outputs n * (1 +
// kept), each of the type of its input.
Status InferOptimizer(InferContext& context, size_t kept);
OpDef OptimizerRecord(const char* name, std::vector<AttrDef> attrs);

class OptimizerParts {
 public:
  OptimizerParts(Transaction* transaction, FunctionId fn, const Node& node, size_t kept)
      : p_(transaction, fn, node), node_(node), n_((node.inputs.size() - 2) / (2 + kept)) {
    type_ = p_.TypeOf(node.inputs[2]);
  }
  size_t n() const { return n_; }
  // Element i of list k: 0 the tensors, 1 the gradients, 2 and on the slots. Later steps are of its
  // type.
  ValueId In(size_t k, size_t i) {
    const ValueId v = node_.inputs[2 + k * n_ + i];
    type_ = p_.TypeOf(v);
    return v;
  }
  double Attr(const char* name) const { return AttrFloat(node_, name); }
  ValueId Number(double value) { return p_.Scalar(type_.dtype, value); }
  ValueId Do(const char* op, ValueId left, ValueId right) {
    return p_.Add(op, {left, right}, type_);
  }
  ValueId Root(ValueId value) { return p_.Add("Sqrt", {value}, type_); }
  // The regularised gradient: norm_coefficient * X + G.
  ValueId Gradient(size_t i) {
    const ValueId x = In(0, i);
    return Do("Add", Do("Mul", x, Number(Attr("norm_coefficient"))), In(1, i));
  }
  // Scalars of the tensors' type: the rate, and the number of steps so far.
  ValueId Rate() { return p_.Cast(node_.inputs[0], type_.dtype); }
  ValueId Step() { return p_.Cast(node_.inputs[1], type_.dtype); }
  ValueId DoScalar(const char* op, ValueId left, ValueId right) {
    return p_.Add(op, {left, right}, Scalar());
  }
  ValueId RootScalar(ValueId value) { return p_.Add("Sqrt", {value}, Scalar()); }
  // `later` from the second step on, `first` at step 0.
  ValueId ByStep(ValueId later, ValueId first) {
    const ValueId zero = Number(0);
    const Type truth = TensorType(DType::kBool, std::vector<int64_t>{});
    return p_.Add("Where", {p_.Add("Greater", {Step(), zero}, truth), later, first}, Scalar());
  }

 private:
  Type Scalar() const { return TensorType(type_.dtype, std::vector<int64_t>{}); }
  Parts p_;
  const Node& node_;
  size_t n_;
  Type type_;
};

}  // namespace ge
