#include "passes/grad/shape_values.h"

namespace ge::grad {

Val SizeOf(Val value, int64_t axis) {
  const Type t = value.fn->TypeOf(value);
  if (axis < t.rank && t.dims[static_cast<size_t>(axis)].value >= 0) {
    return value.fn->Ints({t.dims[static_cast<size_t>(axis)].value});
  }
  return value.fn->Op("Shape", {value}, Attrs().Int("start", axis).Int("end", axis + 1));
}

Val CountOf(Val value, const std::vector<int64_t>& axes) {
  int64_t known = 1;
  Val count;
  for (const int64_t axis : axes) {
    const ge_dim d = value.fn->TypeOf(value).dims[static_cast<size_t>(axis)];
    if (d.value >= 0) known *= d.value;
    if (d.value < 0) count = count ? count * SizeOf(value, axis) : SizeOf(value, axis);
  }
  const Val rest = value.fn->Ints({known});
  return !count ? rest : known == 1 ? count : count * rest;
}

Val MeanOver(Val value, const std::vector<int64_t>& axes) {
  return value.fn->Op("ReduceMean", {value, value.fn->Ints(axes)}, Attrs().Int("keepdims", 1));
}

Val Joined(const std::vector<Val>& vectors) { return Concat(vectors, 0); }

Val ReshapeTo(Val value, const std::vector<Val>& sizes) {
  return value.fn->Op("Reshape", {value, Joined(sizes)}, Attrs().Int("allowzero", 1));
}

Val First(Val vector) { return Gather(vector, vector.fn->Scalar(GE_I64, 0), 0); }

Val Iota(Val size) {
  Fn& fn = *size.fn;
  return fn.Op("Range", {fn.Scalar(GE_I64, 0), First(size), fn.Scalar(GE_I64, 1)});
}

Val Ones(Val condition, int32_t dtype) { return condition.fn->Cast(condition, dtype); }

Val Eye(Val size, int32_t dtype) {
  Fn& fn = *size.fn;
  return fn.Op("OneHot", {Iota(size), size, fn.Vector(dtype, {0, 1})});
}

Val Along(Val value, Val matrix, int64_t axis) {
  const int32_t rank = value.fn->TypeOf(value).rank;
  if (axis == rank - 1) return MatMul(value, matrix);
  std::vector<int64_t> perm;
  for (int64_t i = 0; i < rank; ++i) perm.push_back(i);
  std::swap(perm[static_cast<size_t>(axis)], perm.back());
  return Transpose(MatMul(Transpose(value, perm), matrix), perm);
}

// Of all axes, as a vector of one.
static Val ElementsOf(Val v) {
  const Type t = v.fn->TypeOf(v);
  return t.known() ? v.fn->Ints({t.elements()}) : Unsqueeze(Unary("Size", v), {0});
}

Val Places(Val like) {
  Fn& fn = *like.fn;
  return fn.Op("Reshape", {Iota(ElementsOf(like)), fn.ShapeOf(like)}, Attrs().Int("allowzero", 1));
}

Val PutAt(Val value, Val places, Val like) {
  Fn& fn = *value.fn;
  const Val zeros = fn.Op("Expand", {fn.Scalar(fn.TypeOf(value).dtype, 0), ElementsOf(like)});
  const Val flat = fn.Op("ScatterElements", {zeros, Reshape(places, {-1}), Reshape(value, {-1})},
                         Attrs().Int("axis", 0).Text("reduction", "add"));
  return fn.Op("Reshape", {flat, fn.ShapeOf(like)}, Attrs().Int("allowzero", 1));
}

std::vector<int64_t> AxesFrom(int64_t from, int64_t rank) {
  std::vector<int64_t> axes;
  for (int64_t i = from; i < rank; ++i) axes.push_back(i);
  return axes;
}

std::vector<Val> Again(const Back& back, const std::vector<Val>& in, uint32_t outputs) {
  Attrs attrs;
  for (uint32_t i = 0; i < back.node().n_attr; ++i) attrs.Add(back.node().attr[i]);
  return back.fn().Node(plugin::View(back.node().domain), plugin::View(back.node().op), in, attrs,
                        outputs);
}

Val AlongAxis(Val vector, int64_t axis, Val like) {
  const int32_t rank = like.fn->TypeOf(like).rank;
  if (vector.fn->TypeOf(vector).rank != 1) return vector;
  std::vector<int64_t> axes;
  for (int64_t i = axis + 1; i < rank; ++i) axes.push_back(i - axis);
  return axes.empty() ? vector : Unsqueeze(vector, axes);
}

}  // namespace ge::grad
