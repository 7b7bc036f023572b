// Parts: builds the nodes of decomposition rules (OpDef::decompose). It makes its constants itself
// and infers nothing: a rule states the type of every value. Not a pass; one thread.
#pragma once

#include "ge/ops/edit.h"
#include "ge/ops/op.h"

namespace ge {

class Parts {
 public:
  // New nodes stand before `node` and have it as their origin; `node` is a copy and outlives this.
  Parts(Transaction* transaction, FunctionId fn, const Node& node)
      : t_(*transaction), fn_(fn), node_(node) {}

  // A copy: adding a node moves the values.
  Type TypeOf(ValueId value) const { return t_.graph().fn(fn_).value(value).type; }
  ValueId Add(std::string op, std::vector<ValueId> inputs, Type type, std::vector<Attr> attrs = {});
  // A scalar of kFloat, kDouble, kInt32 or kInt64.
  ValueId Scalar(DType dtype, double value);
  ValueId Ints(const std::vector<int64_t>& values);
  // `value` itself when it has that dtype already.
  ValueId Cast(ValueId value, DType dtype);

 private:
  Transaction& t_;
  FunctionId fn_;
  const Node& node_;
};

// The dtype of intermediate steps: at least f32, so a 16-bit result is rounded once, as by an
// engine taking the operator whole.
inline DType StepDType(DType dtype) { return dtype == DType::kDouble ? dtype : DType::kFloat; }

}  // namespace ge
