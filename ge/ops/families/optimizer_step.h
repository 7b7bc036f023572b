// Shared by the operators of domain ge that take one step of an optimizer. Inputs: a weight, its
// slots and its gradient of one shape, then scalars, the last of which decides whether the step is
// taken at all. Not an operator. Any thread may call.
#pragma once

#include <vector>

#include "ge/ops/families/channel_moments.h"
#include "ge/ops/scalar_inputs.h"

namespace ge {

// Inputs: weight, `slots` of them, gradient, then `scalars` numbers, then maybe "when"; outputs:
// weight and slots.
inline Status InferOptimizerStep(InferContext& context, size_t slots,
                                 std::initializer_list<const char*> scalars) {
  const Type& weight = context.input_type(0);
  for (size_t i = 1; weight.ranked && i < slots + 2; ++i) {
    GE_RETURN_IF_ERROR(WantShape(context, i, i <= slots ? "slot" : "gradient", weight.dims));
  }
  size_t at = slots + 2;
  for (const char* name : scalars) GE_RETURN_IF_ERROR(WantScalar(context, at++, name));
  if (at < context.input_count() && context.has_input(at))
    GE_RETURN_IF_ERROR(WantScalar(context, at, "when"));
  for (size_t i = 0; i <= slots; ++i) {
    if (context.has_output(i)) context.SetOutput(i, weight);
  }
  return {};
}

// Steps of decompositions on tensors of the weight's type.
class StepParts {
 public:
  StepParts(Transaction* transaction, FunctionId fn, const Node& node)
      : p_(transaction, fn, node), node_(node), type_(p_.TypeOf(node.inputs[0])) {}

  ValueId in(size_t i) const { return node_.inputs[i]; }
  double attr(const char* name) const { return AttrFloat(node_, name); }
  ValueId Op(const char* op, ValueId left, ValueId right) {
    return p_.Add(op, {left, right}, type_);
  }
  ValueId Number(double value) { return p_.Scalar(type_.dtype, value); }
  ValueId Times(ValueId value, double by) { return Op("Mul", value, Number(by)); }
  ValueId Root(ValueId value) { return p_.Add("Sqrt", {value}, type_); }
  ValueId Sign(ValueId value) { return p_.Add("Sign", {value}, type_); }
  // by * slot + (1 - by) * value.
  ValueId Average(ValueId slot, double by, ValueId value) {
    return Op("Add", Times(slot, by), Times(value, 1 - by));
  }
  // The gradient with the weight's decay.
  ValueId Decayed(ValueId gradient, double decay) {
    return decay == 0 ? gradient : Op("Add", gradient, Times(in(0), decay));
  }
  // The weight less `rate * decay` of itself.
  ValueId Less(ValueId rate, double decay) {
    if (decay == 0) return in(0);
    return Op("Mul", in(0), OfScalars("Sub", Number(1), OfScalars("Mul", rate, Number(decay))));
  }
  // The root of the sum of squares, a scalar.
  ValueId Norm(ValueId value) {
    Type scalar = type_;
    scalar.dims.clear();
    scalar.ranked = true;
    const ValueId sum = p_.Add("ReduceSumSquare", {value}, scalar, {{"keepdims", int64_t{0}}});
    return p_.Add("Sqrt", {sum}, scalar);
  }
  // left / right of scalars where both are above zero, else 1.
  ValueId Ratio(ValueId left, ValueId right) {
    Type flag = p_.TypeOf(left);
    flag.dtype = DType::kBool;
    const auto above = [&](ValueId v) { return p_.Add("Greater", {v, Number(0)}, flag); };
    const ValueId both = p_.Add("And", {above(left), above(right)}, flag);
    const auto where = [&](ValueId v) {
      return p_.Add("Where", {both, v, Number(1)}, p_.TypeOf(left));
    };
    return where(OfScalars("Div", left, where(right)));
  }
  // The operator on scalars.
  ValueId OfScalars(const char* op, ValueId left, ValueId right) {
    return p_.Add(op, {left, right}, p_.TypeOf(left));
  }
  // Each slot unchanged where input `when` is there and false, else as made.
  std::vector<ValueId> Results(std::vector<ValueId> made, size_t when) {
    for (size_t i = 0; i < made.size(); ++i) {
      if (i >= node_.outputs.size() || node_.outputs[i] == 0) {
        made[i] = 0;
      } else if (when < node_.inputs.size() && node_.inputs[when] != 0) {
        made[i] = p_.Add("Where", {in(when), made[i], in(i)}, type_);
      }
    }
    made.resize(node_.outputs.size());
    return made;
  }

 private:
  Parts p_;
  const Node& node_;
  Type type_;
};

inline OpDef OptimizerStepRecord(const char* name, std::vector<const char*> slots,
                                 std::vector<const char*> scalars) {
  OpDef op{"ge", name, 1, {}, {}, {}};
  op.inputs = {{"weight", kMomentTypes, "T"}};
  op.outputs = {{"new_weight", kMomentTypes, "T"}};
  for (const char* slot : slots) {
    op.inputs.push_back({slot, kMomentTypes, "T"});
    op.outputs.push_back({slot, kMomentTypes, "T"});
  }
  op.inputs.push_back({"gradient", kMomentTypes, "T"});
  for (const char* scalar : scalars) op.inputs.push_back({scalar, kMomentTypes, "T"});
  op.inputs.push_back({"when", Bit(DType::kBool), "", Arity::kOptional});
  return op;
}

}  // namespace ge
