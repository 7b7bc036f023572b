// Steps: builds the decompositions of com.microsoft's operators. It works out the type of every
// value itself, so it needs nodes with known shapes; see Ready. The operator's inference rule has
// already refused shapes that do not fit each other. One thread.
#pragma once

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "ge/ops/decompose.h"

namespace ge {

class Steps {
 public:
  using Shape = std::vector<int64_t>;

  Steps(Transaction& transaction, FunctionId fn, const Node& node)
      : p_(&transaction, fn, node), t_(transaction), fn_(fn), node_(node) {}

  // If false, the rule answers nothing; ask it before adding anything.
  static bool Ready(const Transaction& transaction, FunctionId fn, const Node& node) {
    const auto known = [&](ValueId v) {
      return v == 0 || transaction.graph().fn(fn).value(v).type.is_static();
    };
    return std::all_of(node.inputs.begin(), node.inputs.end(), known) &&
           std::all_of(node.outputs.begin(), node.outputs.end(), known);
  }

  // ---- the node ----
  ValueId In(size_t i) const { return i < node_.inputs.size() ? node_.inputs[i] : 0; }
  bool Has(size_t i) const { return In(i) != 0; }
  bool Wants(size_t i) const { return i < node_.outputs.size() && node_.outputs[i] != 0; }
  Shape OutShape(size_t i) const { return ShapeOf(node_.outputs[i]); }
  DType OutDType(size_t i) const { return DTypeOf(node_.outputs[i]); }
  // An answer with room for every output.
  std::vector<ValueId> NoOutputs() const { return std::vector<ValueId>(node_.outputs.size(), 0); }

  // ---- values ----
  Shape ShapeOf(ValueId value) const { return t_.graph().fn(fn_).value(value).type.static_dims(); }
  DType DTypeOf(ValueId value) const { return t_.graph().fn(fn_).value(value).type.dtype; }
  int64_t Rank(ValueId value) const { return static_cast<int64_t>(ShapeOf(value).size()); }
  int64_t Size(ValueId value, int64_t axis) const {
    return ShapeOf(value)[static_cast<size_t>(axis)];
  }

  ValueId Scalar(DType dtype, double value) { return p_.Scalar(dtype, value); }
  ValueId Ints(const Shape& values) { return p_.Ints(values); }
  ValueId Int32s(const Shape& shape, const Shape& values) {
    const std::vector<int32_t> narrow(values.begin(), values.end());
    return t_.AddConst(fn_, MakeConst(TensorType(DType::kInt32, shape), narrow.data(),
                                      narrow.size() * sizeof(int32_t)));
  }
  // f32 of this shape.
  ValueId Floats(const Shape& shape, const float* values) {
    const Type type = TensorType(DType::kFloat, shape);
    const auto count = static_cast<uint64_t>(ElementCount(type).value_or(0));
    return t_.AddConst(fn_, MakeConst(type, values, count * sizeof(float)));
  }
  ValueId Byte(uint8_t value) {
    return t_.AddConst(fn_, MakeConst(TensorType(DType::kUint8, Shape{}), &value, 1));
  }
  // first, first + 1, ... in int32, of this shape.
  ValueId Counting(const Shape& shape, int64_t first, int64_t count) {
    Shape values;
    for (int64_t i = 0; i < count; ++i) values.push_back(first + i);
    return Int32s(shape, values);
  }

  // ---- nodes ----
  ValueId Node1(std::string op, std::vector<ValueId> inputs, DType dtype, const Shape& shape,
                std::vector<Attr> attrs = {}) {
    while (!inputs.empty() && inputs.back() == 0) inputs.pop_back();
    return p_.Add(std::move(op), std::move(inputs), TensorType(dtype, shape), std::move(attrs));
  }
  // Of several results.
  std::vector<ValueId> NodeN(std::string op, std::vector<ValueId> inputs, std::vector<Type> types,
                             std::vector<Attr> attrs = {}) {
    while (!inputs.empty() && inputs.back() == 0) inputs.pop_back();
    return t_.AddNode(fn_, node_.id, "", std::move(op), std::move(inputs), std::move(attrs),
                      std::move(types), {&node_});
  }
  ValueId Cast(ValueId value, DType dtype) { return p_.Cast(value, dtype); }
  ValueId Zeros(DType dtype, const Shape& shape) {
    const ValueId zero = Cast(p_.Scalar(DType::kFloat, 0), dtype);
    return Node1("Expand", {zero, Ints(shape)}, dtype, shape);
  }
  // One result of input 0's type; the other inputs are parameters.
  ValueId Map(std::string op, std::vector<ValueId> inputs, std::vector<Attr> attrs = {}) {
    const ValueId x = inputs[0];
    return Node1(std::move(op), std::move(inputs), DTypeOf(x), ShapeOf(x), std::move(attrs));
  }
  // Elementwise with broadcasting; dtype kUndefined is that of `left`.
  ValueId Pair(std::string op, ValueId left, ValueId right, DType dtype = DType::kUndefined) {
    if (dtype == DType::kUndefined) dtype = DTypeOf(left);
    return Node1(std::move(op), {left, right}, dtype, Broadcast(ShapeOf(left), ShapeOf(right)));
  }
  // left op `right`; `right` may be absent.
  ValueId PairIf(std::string op, ValueId left, ValueId right) {
    return right == 0 ? left : Pair(std::move(op), left, Cast(right, DTypeOf(left)));
  }
  ValueId Times(ValueId value, double factor) {
    return factor == 1 ? value : Pair("Mul", value, Scalar(DTypeOf(value), factor));
  }
  ValueId Choose(ValueId condition, ValueId left, ValueId right) {
    const Shape shape = Broadcast(ShapeOf(condition), Broadcast(ShapeOf(left), ShapeOf(right)));
    return Node1("Where", {condition, left, right}, DTypeOf(left), shape);
  }
  ValueId Reshape(ValueId value, const Shape& shape) {
    if (ShapeOf(value) == shape) return value;
    if (const ValueId view = ViewOf(value, 0, shape)) return view;
    // A 0 in the list would copy the input's size.
    return Node1("Reshape", {value, Ints(shape)}, DTypeOf(value), shape,
                 {{"allowzero", int64_t{1}}});
  }
  ValueId Transpose(ValueId value, const Shape& perm) {
    const Shape from = ShapeOf(value);
    Shape to;
    bool same = true;
    for (size_t i = 0; i < perm.size(); ++i) {
      to.push_back(from[static_cast<size_t>(perm[i])]);
      same = same && perm[i] == static_cast<int64_t>(i);
    }
    return same ? value : Node1("Transpose", {value}, DTypeOf(value), to, {{"perm", perm}});
  }
  ValueId SwapLast(ValueId value) {
    Shape perm;
    for (int64_t i = 0, n = Rank(value); i < n; ++i) perm.push_back(i);
    if (perm.size() > 1) std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
    return Transpose(value, perm);
  }
  // Elements [begin, end) of an axis.
  ValueId Slice(ValueId value, int64_t axis, int64_t begin, int64_t end) {
    Shape shape = ShapeOf(value);
    if (begin == 0 && end == shape[static_cast<size_t>(axis)]) return value;
    const auto at = shape.begin() + axis;
    const int64_t inner = std::accumulate(at + 1, shape.end(), int64_t{1}, std::multiplies<>());
    const bool dense = std::all_of(shape.begin(), at, [](int64_t d) { return d == 1; });
    *at = end - begin;
    if (const ValueId view = dense ? ViewOf(value, begin * inner, shape) : 0) return view;
    return Node1("Slice", {value, Ints({begin}), Ints({end}), Ints({axis})}, DTypeOf(value), shape);
  }
  ValueId Concat(std::vector<ValueId> parts, int64_t axis) {
    Shape shape = ShapeOf(parts[0]);
    for (size_t i = 1; i < parts.size(); ++i) {
      shape[static_cast<size_t>(axis)] += Size(parts[i], axis);
    }
    const DType dtype = DTypeOf(parts[0]);
    return Node1("Concat", std::move(parts), dtype, shape, {{"axis", axis}});
  }
  // Rows of a table: the indices' shape with the row's after it.
  ValueId Gather(ValueId table, ValueId indices) {
    Shape shape = ShapeOf(indices);
    const Shape from = ShapeOf(table);
    shape.insert(shape.end(), from.begin() + 1, from.end());
    return Node1("Gather", {table, indices}, DTypeOf(table), shape, {{"axis", int64_t{0}}});
  }
  ValueId MatMul(ValueId left, ValueId right) {
    return Node1("MatMul", {left, right}, DTypeOf(left),
                 ProductShape(ShapeOf(left), ShapeOf(right)));
  }
  // Multiplies the rows of `left`, of rank 2 or more, by a matrix `right`, maybe transposed; bias
  // may be absent.
  ValueId RowsBy(ValueId left, ValueId right, bool transposed, double alpha = 1, ValueId bias = 0) {
    Shape out = ShapeOf(left);
    const int64_t inner = out.back(), columns = Size(right, transposed ? 0 : 1);
    int64_t rows = 1;
    for (size_t i = 0; i + 1 < out.size(); ++i) rows *= out[i];
    out.back() = columns;
    const ValueId y =
        Node1("Gemm", {Reshape(left, {rows, inner}), right, bias}, DTypeOf(left), {rows, columns},
              {{"alpha", alpha}, {"transB", int64_t{transposed ? 1 : 0}}});
    return Reshape(y, out);
  }
  // The `count` greatest elements of each row of the last axis and their places; of equal ones the
  // first.
  std::vector<ValueId> Greatest(ValueId value, int64_t count) {
    Shape shape = ShapeOf(value);
    shape.back() = count;
    return t_.AddNode(fn_, node_.id, "", "TopK", {value, Ints({count})}, {},
                      {TensorType(DTypeOf(value), shape), TensorType(DType::kInt64, shape)},
                      {&node_});
  }
  // States after each of the last steps, the last one last, as a window of so many [slots, ...];
  // those before the first step are zeros.
  ValueId Window(const std::vector<ValueId>& states, int64_t slots) {
    const Shape each = ShapeOf(states[0]);
    Shape slot = each;
    slot.insert(slot.begin(), 1);
    std::vector<ValueId> parts;
    Shape none = slot;
    none[0] = slots - static_cast<int64_t>(states.size());
    if (none[0] > 0) parts.push_back(Zeros(DTypeOf(states[0]), none));
    for (const ValueId state : states) parts.push_back(Reshape(state, slot));
    return parts.size() == 1 ? parts[0] : Concat(std::move(parts), 0);
  }
  ValueId Reduce(std::string op, ValueId value, const Shape& axes) {
    Shape shape = ShapeOf(value);
    for (int64_t a : axes) shape[static_cast<size_t>(a)] = 1;
    return Node1(std::move(op), {value, Ints(axes)}, DTypeOf(value), shape);
  }

  // ---- quantized values: a scale and a zero point, which may be absent, of one element ----
  ValueId Dequantize(ValueId x, ValueId scale, ValueId zero) {
    return Node1("DequantizeLinear", {x, scale, zero}, DTypeOf(scale), ShapeOf(x));
  }
  ValueId Quantize(ValueId x, ValueId scale, ValueId zero, DType to) {
    std::vector<Attr> attrs;
    if (zero == 0) attrs.push_back({"output_dtype", static_cast<int64_t>(to)});
    return Node1("QuantizeLinear", {x, scale, zero}, to, ShapeOf(x), std::move(attrs));
  }
  // The product of two quantized tensors less their zero points, in int32.
  ValueId IntegerProduct(ValueId left, ValueId right, ValueId a_zero, ValueId b_zero) {
    return Node1("MatMulInteger", {left, right, a_zero, b_zero}, DType::kInt32,
                 ProductShape(ShapeOf(left), ShapeOf(right)));
  }

  static Shape Broadcast(const Shape& left, const Shape& right) {
    Shape out = left.size() >= right.size() ? left : right;
    const Shape& less = left.size() >= right.size() ? right : left;
    for (size_t i = 1; i <= less.size(); ++i) {
      int64_t& size = out[out.size() - i];
      if (size == 1) size = less[less.size() - i];
    }
    return out;
  }
  // numpy's rules, vectors too.
  static Shape ProductShape(const Shape& first, const Shape& second) {
    Shape left(first.begin(),
               first.end() - std::min<ptrdiff_t>(2, static_cast<ptrdiff_t>(first.size())));
    Shape right(second.begin(),
                second.end() - std::min<ptrdiff_t>(2, static_cast<ptrdiff_t>(second.size())));
    Shape out = Broadcast(left, right);
    if (first.size() > 1) out.push_back(first[first.size() - 2]);
    if (second.size() > 1) out.push_back(second.back());
    return out;
  }

 private:
  // Elements of a constant from `first` on as a constant over the same payload; 0 for other values.
  // Engines that are asked about the parts then find weights and zero points, not nodes.
  ValueId ViewOf(ValueId value, int64_t first, const Shape& shape) {
    const ConstId id = t_.graph().fn(fn_).value(value).constant;
    if (id == 0) return 0;
    Const view = t_.graph().consts[id];
    const int bits = DTypeBits(view.type.dtype);
    if (view.data == nullptr || bits < 8) return 0;
    view.name.clear();
    view.external = {};
    view.type = TensorType(view.type.dtype, shape);
    view.bytes = static_cast<uint64_t>(*ByteCount(view.type));
    view.data += first * bits / 8;
    return t_.AddConst(fn_, std::move(view));
  }
  Parts p_;
  Transaction& t_;
  FunctionId fn_;
  const Node& node_;
};

}  // namespace ge
