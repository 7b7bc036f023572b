// Steps: what the decompositions of com.microsoft's operators are written with. It works out the
// type of every value itself, so it serves nodes whose shapes are all known; see Ready. Shapes that
// do not fit each other were refused by the operator's inference rule before. One thread.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "ge/ops/decompose.h"

namespace ge {

class Steps {
 public:
  using Shape = std::vector<int64_t>;

  Steps(Transaction& t, FunctionId fn, const Node& node)
      : p_(&t, fn, node), t_(t), fn_(fn), node_(node) {}

  // Without this a rule answers nothing, and before it adds anything.
  static bool Ready(const Transaction& t, FunctionId fn, const Node& node) {
    const auto known = [&](ValueId v) {
      return v == 0 || t.graph().fn(fn).value(v).type.is_static();
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
  // An answer with place for every output.
  std::vector<ValueId> NoOutputs() const { return std::vector<ValueId>(node_.outputs.size(), 0); }

  // ---- values ----
  Shape ShapeOf(ValueId v) const { return t_.graph().fn(fn_).value(v).type.static_dims(); }
  DType DTypeOf(ValueId v) const { return t_.graph().fn(fn_).value(v).type.dtype; }
  int64_t Rank(ValueId v) const { return static_cast<int64_t>(ShapeOf(v).size()); }
  int64_t Size(ValueId v, int64_t axis) const { return ShapeOf(v)[static_cast<size_t>(axis)]; }

  ValueId Scalar(DType dtype, double value) { return p_.Scalar(dtype, value); }
  ValueId Ints(const Shape& values) { return p_.Ints(values); }
  ValueId Int32s(const Shape& shape, const Shape& values) {
    const std::vector<int32_t> narrow(values.begin(), values.end());
    return t_.AddConst(fn_, MakeConst(TensorType(DType::kInt32, shape), narrow.data(),
                                      narrow.size() * sizeof(int32_t)));
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
  ValueId Cast(ValueId v, DType dtype) { return p_.Cast(v, dtype); }
  // One result as input 0 is; the other inputs are parameters.
  ValueId Map(std::string op, std::vector<ValueId> inputs, std::vector<Attr> attrs = {}) {
    const ValueId x = inputs[0];
    return Node1(std::move(op), std::move(inputs), DTypeOf(x), ShapeOf(x), std::move(attrs));
  }
  // Elementwise with broadcasting; dtype kUndefined is that of a.
  ValueId Pair(std::string op, ValueId a, ValueId b, DType dtype = DType::kUndefined) {
    if (dtype == DType::kUndefined) dtype = DTypeOf(a);
    return Node1(std::move(op), {a, b}, dtype, Broadcast(ShapeOf(a), ShapeOf(b)));
  }
  // a op b where b may be absent.
  ValueId PairIf(std::string op, ValueId a, ValueId b) {
    return b == 0 ? a : Pair(std::move(op), a, Cast(b, DTypeOf(a)));
  }
  ValueId Times(ValueId a, double factor) {
    return factor == 1 ? a : Pair("Mul", a, Scalar(DTypeOf(a), factor));
  }
  ValueId Choose(ValueId condition, ValueId a, ValueId b) {
    const Shape shape = Broadcast(ShapeOf(condition), Broadcast(ShapeOf(a), ShapeOf(b)));
    return Node1("Where", {condition, a, b}, DTypeOf(a), shape);
  }
  ValueId Reshape(ValueId v, const Shape& shape) {
    if (ShapeOf(v) == shape) return v;
    // A 0 in the list would mean "as the input has".
    return Node1("Reshape", {v, Ints(shape)}, DTypeOf(v), shape, {{"allowzero", int64_t{1}}});
  }
  ValueId Transpose(ValueId v, const Shape& perm) {
    const Shape from = ShapeOf(v);
    Shape to;
    bool same = true;
    for (size_t i = 0; i < perm.size(); ++i) {
      to.push_back(from[static_cast<size_t>(perm[i])]);
      same = same && perm[i] == static_cast<int64_t>(i);
    }
    return same ? v : Node1("Transpose", {v}, DTypeOf(v), to, {{"perm", perm}});
  }
  ValueId SwapLast(ValueId v) {
    Shape perm;
    for (int64_t i = 0, n = Rank(v); i < n; ++i) perm.push_back(i);
    if (perm.size() > 1) std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
    return Transpose(v, perm);
  }
  // Elements [begin, end) of an axis.
  ValueId Slice(ValueId v, int64_t axis, int64_t begin, int64_t end) {
    Shape shape = ShapeOf(v);
    if (begin == 0 && end == shape[static_cast<size_t>(axis)]) return v;
    shape[static_cast<size_t>(axis)] = end - begin;
    return Node1("Slice", {v, Ints({begin}), Ints({end}), Ints({axis})}, DTypeOf(v), shape);
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
  ValueId MatMul(ValueId a, ValueId b) {
    return Node1("MatMul", {a, b}, DTypeOf(a), ProductShape(ShapeOf(a), ShapeOf(b)));
  }
  // The rows of a, of rank 2 or more, by a matrix b that may lie transposed; bias may be absent.
  ValueId RowsBy(ValueId a, ValueId b, bool transposed, double alpha = 1, ValueId bias = 0) {
    Shape out = ShapeOf(a);
    const int64_t inner = out.back(), columns = Size(b, transposed ? 0 : 1);
    int64_t rows = 1;
    for (size_t i = 0; i + 1 < out.size(); ++i) rows *= out[i];
    out.back() = columns;
    const ValueId y =
        Node1("Gemm", {Reshape(a, {rows, inner}), b, bias}, DTypeOf(a), {rows, columns},
              {{"alpha", alpha}, {"transB", int64_t{transposed ? 1 : 0}}});
    return Reshape(y, out);
  }
  ValueId Reduce(std::string op, ValueId v, const Shape& axes) {
    Shape shape = ShapeOf(v);
    for (int64_t a : axes) shape[static_cast<size_t>(a)] = 1;
    return Node1(std::move(op), {v, Ints(axes)}, DTypeOf(v), shape);
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
  ValueId IntegerProduct(ValueId a, ValueId b, ValueId a_zero, ValueId b_zero) {
    return Node1("MatMulInteger", {a, b, a_zero, b_zero}, DType::kInt32,
                 ProductShape(ShapeOf(a), ShapeOf(b)));
  }

  static Shape Broadcast(const Shape& a, const Shape& b) {
    Shape out = a.size() >= b.size() ? a : b;
    const Shape& less = a.size() >= b.size() ? b : a;
    for (size_t i = 1; i <= less.size(); ++i) {
      int64_t& size = out[out.size() - i];
      if (size == 1) size = less[less.size() - i];
    }
    return out;
  }
  // numpy's rules, vectors too.
  static Shape ProductShape(const Shape& a, const Shape& b) {
    Shape left(a.begin(), a.end() - std::min<ptrdiff_t>(2, static_cast<ptrdiff_t>(a.size())));
    Shape right(b.begin(), b.end() - std::min<ptrdiff_t>(2, static_cast<ptrdiff_t>(b.size())));
    Shape out = Broadcast(left, right);
    if (a.size() > 1) out.push_back(a[a.size() - 2]);
    if (b.size() > 1) out.push_back(b.back());
    return out;
  }

 private:
  Parts p_;
  Transaction& t_;
  FunctionId fn_;
  const Node& node_;
};

}  // namespace ge
