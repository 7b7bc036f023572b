#include "passes/grad/control/stack.h"

namespace ge::grad {
namespace {

Val EmptyRow(Fn& fn, int32_t dtype) {
  static constexpr int64_t kNone = 0;
  ge_type t{};
  t.dtype = dtype;
  t.rank = 1;
  t.dims = &kNone;
  t.bits = plugin::ElementBits(dtype);
  return fn.Constant(t, &kNone, 0);
}

// What lies in `row` from `start` on, in its shape.
Val FromRow(Val row, Val shape, Val start) {
  Fn& fn = *row.fn;
  const Val count = fn.Op("ReduceProd", {shape, fn.Ints({0})});
  const Val elements = fn.Op("Slice", {Reshape(row, {-1}), start, start + count});
  return fn.Op("Reshape", {elements, shape}, Attrs().Int("allowzero", 1));
}

}  // namespace

size_t StacksOf(const std::vector<Kept>& kept) {
  size_t count = 0;
  for (const Kept& k : kept) count += k.flat ? 2 : 1;
  return count;
}

std::vector<Val> EmptyRows(Fn& fn, const std::vector<Kept>& kept) {
  std::vector<Val> rows;
  for (const Kept& k : kept) {
    if (k.flat) rows.push_back(EmptyRow(fn, k.type.dtype));
  }
  return rows;
}

std::vector<Val> RowParams(NewFunction& made, const std::vector<Kept>& kept) {
  std::vector<Val> rows;
  for (const Kept& k : kept) {
    if (k.flat) rows.push_back(made.Param(Type{k.type.dtype, -1, {}}));
  }
  return rows;
}

void PutOnStacks(Fn& fn, const std::vector<Kept>& kept, const std::vector<Val>& values,
                 const std::vector<Val>& rows, std::vector<Val>* carried,
                 std::vector<Val>* scanned) {
  size_t row = 0;
  for (size_t i = 0; i < kept.size(); ++i) {
    if (!kept[i].flat) scanned->push_back(values[i]);
    if (!kept[i].flat) continue;
    const Val before = Reshape(rows[row++], {-1});
    carried->push_back(Concat({before, Reshape(values[i], {-1})}, 0));
    scanned->push_back(fn.Op("Shape", {values[i]}));
    scanned->push_back(fn.Op("Shape", {before}));
  }
}

std::vector<Stack> StacksIn(const std::vector<Val>& out, const std::vector<Kept>& kept, size_t row,
                            size_t stack) {
  std::vector<Stack> stacks;
  for (const Kept& k : kept) {
    Stack s;
    s.all = out[k.flat ? row++ : stack++];
    if (k.flat) {
      s.shapes = out[stack++];
      s.starts = out[stack++];
    }
    stacks.push_back(s);
  }
  return stacks;
}

std::vector<Val> ScannedOf(const std::vector<Kept>& kept, const std::vector<Stack>& stacks) {
  std::vector<Val> scanned;
  for (size_t i = 0; i < kept.size(); ++i) {
    if (!kept[i].flat) scanned.push_back(stacks[i].all);
    if (kept[i].flat) {
      scanned.push_back(stacks[i].shapes);
      scanned.push_back(stacks[i].starts);
    }
  }
  return scanned;
}

std::vector<Val> RowsOf(const std::vector<Kept>& kept, const std::vector<Stack>& stacks) {
  std::vector<Val> rows;
  for (size_t i = 0; i < kept.size(); ++i) {
    if (kept[i].flat) rows.push_back(stacks[i].all);
  }
  return rows;
}

KeptParams::KeptParams(NewFunction& made, const std::vector<Kept>& kept)
    : made_(made), kept_(kept) {
  for (const Kept& k : kept) {
    const int64_t axes = k.type.rank;
    const Type one{GE_I64, 1, {{1, 1, 1}}};
    const Type vector = axes < 0 ? Type{GE_I64, -1, {}} : Type{GE_I64, 1, {{axes, axes, axes}}};
    values_.push_back(k.flat ? Val{} : made.Param(k.type));
    shapes_.push_back(k.flat ? made.Param(vector) : Val{});
    starts_.push_back(k.flat ? made.Param(one) : Val{});
  }
}

std::vector<Val> KeptParams::Values() {
  for (size_t i = 0; i < kept_.size(); ++i) {
    if (!kept_[i].flat) continue;
    const Val row = made_.Param(Type{kept_[i].type.dtype, -1, {}});
    values_[i] = FromRow(row, shapes_[i], starts_[i]);
  }
  return values_;
}

}  // namespace ge::grad
