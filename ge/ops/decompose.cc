#include "ge/ops/decompose.h"

namespace ge {

ValueId Parts::Add(std::string op, std::vector<ValueId> inputs, Type type,
                   std::vector<Attr> attrs) {
  return t_.AddNode(fn_, node_.id, "", std::move(op), std::move(inputs), std::move(attrs),
                    {std::move(type)}, {&node_})[0];
}

ValueId Parts::Scalar(DType dtype, double value) {
  const Type type = TensorType(dtype, std::vector<int64_t>{});
  const auto add = [&](auto number) {
    return t_.AddConst(fn_, MakeConst(type, &number, sizeof number));
  };
  if (dtype == DType::kDouble) return add(value);
  if (dtype == DType::kInt64) return add(static_cast<int64_t>(value));
  if (dtype == DType::kInt32) return add(static_cast<int32_t>(value));
  return add(static_cast<float>(value));
}

ValueId Parts::Ints(const std::vector<int64_t>& values) {
  const Type type =
      TensorType(DType::kInt64, std::vector<int64_t>{static_cast<int64_t>(values.size())});
  return t_.AddConst(fn_, MakeConst(type, values.data(), values.size() * sizeof(int64_t)));
}

ValueId Parts::Cast(ValueId value, DType dtype) {
  Type type = TypeOf(value);
  if (type.dtype == dtype) return value;
  type.dtype = dtype;
  return Add("Cast", {value}, std::move(type), {{"to", static_cast<int64_t>(dtype)}});
}

}  // namespace ge
