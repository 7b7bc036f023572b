// Operators that read or write elements where indices say. The indices have no gradient; an element
// that is read twice gets the sum.
#include "passes/grad/shape_values.h"

namespace ge::grad {
namespace {

Val ScatterAdd(Val like, Val indices, Val updates, int64_t axis) {
  Fn& fn = *like.fn;
  return fn.Op("ScatterElements", {fn.Zeros(like), indices, updates},
               Attrs().Int("axis", axis).Text("reduction", "add"));
}

Val AddRows(Val zeros, Val indices, Val updates) {
  // Gather takes int32 too, ScatterND does not.
  return zeros.fn->Op("ScatterND", {zeros, zeros.fn->Cast(indices, GE_I64), updates},
                      Attrs().Text("reduction", "add"));
}

// The axes of the indices come to the front, where ScatterND adds whole rows.
void GatherBack(Back& b) {
  Fn& fn = b.fn();
  const Val x = b.x(0), indices = b.x(1);
  const int64_t axis = b.Axis(b.Int("axis"), x), rank = b.rank(x), more = b.rank(indices);
  if (rank < 0 || more < 0) return b.Fail("an input's rank is not known");
  const Val rows = Unsqueeze(indices, {-1});
  if (axis == 0) return b.Give(0, AddRows(fn.Zeros(x), rows, b.ct()));
  std::vector<int64_t> perm, to_front, from_front(static_cast<size_t>(rank));
  for (int64_t i = 0; i < more; ++i) perm.push_back(axis + i);
  to_front.push_back(axis);
  for (int64_t i = 0; i < rank; ++i) {
    if (i == axis) continue;
    perm.push_back(i < axis ? i : i - 1 + more);
    to_front.push_back(i);
  }
  for (size_t i = 0; i < to_front.size(); ++i) {
    from_front[static_cast<size_t>(to_front[i])] = static_cast<int64_t>(i);
  }
  std::vector<Val> sizes;
  for (const int64_t a : to_front) sizes.push_back(SizeOf(x, a));
  const Val zeros = fn.Op("Expand", {fn.Scalar(b.type(x).dtype, 0), Joined(sizes)});
  b.Give(0, Transpose(AddRows(zeros, rows, Transpose(b.ct(), perm)), from_front));
}

void GatherElementsBack(Back& b) { b.Give(0, ScatterAdd(b.x(0), b.x(1), b.ct(), b.Int("axis"))); }

void GatherNDBack(Back& b) {
  if (b.Int("batch_dims") == 0) return b.Give(0, AddRows(b.fn().Zeros(b.x(0)), b.x(1), b.ct()));
  b.Give(0, PutAt(b.ct(), Again(b, {Places(b.x(0)), b.x(1)}, 1)[0], b.x(0)));
}

void TopKBack(Back& b) {
  if (b.ct(0)) b.Give(0, ScatterAdd(b.x(0), b.y(1), b.ct(0), b.Int("axis", -1)));
}

// What a scatter does with its updates, for both operators: how elements of something shaped like
// the data are read, and how updates are put into it.
struct Scatter {
  Back& b;
  bool rows;  // ScatterND
  Val Read(Val v) const {
    if (rows) return b.fn().Op("GatherND", {v, b.x(1)});
    return b.fn().Op("GatherElements", {v, b.x(1)}, Attrs().Int("axis", b.Int("axis")));
  }
  Val Put(Val into, Val updates, const char* how) const {
    Attrs attrs = Attrs().Text("reduction", how);
    if (!rows) attrs.Int("axis", b.Int("axis"));
    return b.fn().Op(rows ? "ScatterND" : "ScatterElements", {into, b.x(1), updates}, attrs);
  }
};

// The greatest (least) of an element and its updates; those that are it share equally.
void ScatterExtreme(const Scatter& s) {
  Back& b = s.b;
  const int32_t dtype = b.type(b.y()).dtype;
  const Val here = Ones(Compare("Equal", b.x(0), b.y()), dtype);
  const Val there = Ones(Compare("Equal", b.x(2), s.Read(b.y())), dtype);
  const Val share = b.ct() / s.Put(here, there, "add");
  if (b.wants(0)) b.Give(0, here * share);
  if (b.wants(2)) b.Give(2, there * s.Read(share));
}

// A product. Of updates that are zero: where one alone is, the product of all others. Of what meets
// one zero elsewhere the slope is that zero times the rest: nothing, but it has a slope itself.
void ScatterProduct(const Scatter& s) {
  Back& b = s.b;
  Fn& fn = b.fn();
  const Val ones = fn.Fill(b.x(0), 1), u = b.x(2);
  if (b.wants(0)) b.Give(0, b.ct() * s.Put(ones, u, "mul"));
  if (!b.wants(2)) return;
  const Val one = fn.Scalar(b.type(u).dtype, 1), zero = fn.Scalar(b.type(u).dtype, 0);
  const Val none = Compare("Equal", u, 0), filled = Where(none, one, u);
  const Val rest = s.Read(s.Put(b.x(0), filled, "mul") * b.ct()) / filled;
  const Val zeros = s.Read(s.Put(fn.Zeros(b.x(0)), Ones(none, b.type(u).dtype), "add"));
  const Val others = zeros - Ones(none, b.type(u).dtype), null = Where(none, u, zero);
  const Val other = s.Read(s.Put(fn.Zeros(b.x(0)), null, "add")) - null;
  const Val by = Where(Compare("Equal", others, 1), other, zero);
  b.Give(2, rest * Where(Compare("Equal", others, 0), one, by));
}

void ScatterBack(Back& b, bool rows) {
  const Scatter s{b, rows};
  const std::string how = b.Text("reduction", "none");
  if (how == "max" || how == "min") return ScatterExtreme(s);
  if (how == "mul") return ScatterProduct(s);
  if (b.wants(2)) b.Give(2, s.Read(b.ct()));
  if (how == "add") return b.Give(0, b.ct());
  if (b.wants(0)) b.Give(0, s.Put(b.ct(), b.fn().Zeros(b.x(2)), "none"));
}

void ScatterElementsBack(Back& b) { ScatterBack(b, false); }
void ScatterNDBack(Back& b) { ScatterBack(b, true); }

// values = [off, on].
void OneHotBack(Back& b) {
  Fn& fn = b.fn();
  const int32_t dtype = b.type(b.ct()).dtype;
  const Val on =
      fn.Op("OneHot",
            {b.x(0), b.x(1),
             Concat({Unsqueeze(fn.Scalar(dtype, 0), {0}), Unsqueeze(fn.Scalar(dtype, 1), {0})}, 0)},
            Attrs().Int("axis", b.Int("axis", -1)));
  const Attrs whole = Attrs().Int("keepdims", 0);
  const Val hot = fn.Op("ReduceSum", {b.ct() * on}, whole);
  const Val cold = fn.Op("ReduceSum", {b.ct() * (1 - on)}, whole);
  b.Give(2, Concat({Unsqueeze(cold, {0}), Unsqueeze(hot, {0})}, 0));
}

// Where the pieces go is found by writing places, counted from 1, over zeros.
void TensorScatterBack(Back& b) {
  Fn& fn = b.fn();
  const auto zeros = [&](Val like) {
    return fn.Op("Expand", {fn.Scalar(GE_I64, 0), fn.ShapeOf(like)});
  };
  if (b.wants(0)) {
    const Val old = Again(b, {Places(b.x(0)) + 1, zeros(b.x(1)), b.x(2)}, 1)[0];
    b.Give(0, Where(Compare("Greater", old, 0), b.ct(), 0.0));
  }
  if (!b.wants(1)) return;
  const Val fresh = Again(b, {zeros(b.x(0)), Places(b.x(1)) + 1, b.x(2)}, 1)[0];
  const Val place = fn.Op("Max", {fresh - 1, fn.Scalar(GE_I64, 0)});
  b.Give(1, PutAt(Where(Compare("Greater", fresh, 0), b.ct(), 0.0), place, b.x(1)));
}

// The inverse of a pooling: elements go where the indices say, in the picture that they are of.
void MaxUnpoolBack(Back& b) {
  if (b.x(2))
    return b.Fail("with an output shape that is given, places are not those of the indices");
  b.Give(0, ReshapeLike(Gather(Reshape(b.ct(), {-1}), b.x(1), 0), b.x(0)));
}

}  // namespace

GE_GRAD(gather) {
  const NoGradient at = {1, "indices or counts"};
  return {{"", "Gather", GatherBack, {at}},
          {"", "GatherElements", GatherElementsBack, {at}},
          {"", "GatherND", GatherNDBack, {at}},
          {"", "TopK", TopKBack, {at}},
          {"", "ScatterElements", ScatterElementsBack, {at}},
          {"", "ScatterND", ScatterNDBack, {at}},
          {"", "OneHot", OneHotBack, {{0, "indices"}, {1, "a size"}}},
          {"", "TensorScatter", TensorScatterBack, {{2, "positions"}}},
          {"", "MaxUnpool", MaxUnpoolBack, {at, {2, "sizes"}}}};
}

}  // namespace ge::grad
