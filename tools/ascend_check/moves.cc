// Operators that move elements, and those by indices: exact in every dtype.
#include <algorithm>

#include "tools/ascend_check/desk.h"

namespace ascend_check {
namespace {

Check Exact(const std::string& name, const std::string& what,
            std::function<void(Desk&, acl::DataType)> use) {
  return {"aclnn" + name, "rule:two-phase",
          "aclnn" + name.substr(0, name.find('-')) + " " + what + ".",
          [use = std::move(use)](Case& at) { InEachType(at, use); }};
}

// 1 2 3 / 4 5 6
Operand Six(Desk& d, acl::DataType type) { return d.In({2, 3}, type, Values{1, 2, 3, 4, 5, 6}); }

void Cat(Desk& d, acl::DataType type) {
  const Operand out = d.Out({2, 5}, type);
  d.Run(d.op.Cat, d.List({Six(d, type), d.In({2, 2}, type, Values{7, 8, 9, 10})}), 1, out);
  d.Same(out, {1, 2, 3, 7, 8, 4, 5, 6, 9, 10});
}
void Slice(Desk& d, acl::DataType type) {
  const Operand out = d.Out({2, 2}, type);
  d.Run(d.op.Slice, Six(d, type), 1, 0, 3, 2, out);
  d.Same(out, {1, 3, 4, 6});
}
void Permute(Desk& d, acl::DataType type) {
  const Operand out = d.Out({3, 2}, type);
  d.Run(d.op.Permute, Six(d, type), d.Ints({1, 0}), out);
  d.Same(out, {1, 4, 2, 5, 3, 6});
}
void Expand(Desk& d, acl::DataType type) {
  const Operand out = d.Out({2, 3}, type);
  d.Run(d.op.Expand, d.In({1, 3}, type, Values{1, 2, 3}), d.Ints({2, 3}), out);
  d.Same(out, {1, 2, 3, 1, 2, 3});
}
void Repeat(Desk& d, acl::DataType type) {
  const Operand out = d.Out({2, 6}, type);
  d.Run(d.op.Repeat, Six(d, type), d.Ints({1, 2}), out);
  d.Same(out, {1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6});
}
void Pad(Desk& d, acl::DataType type) {
  const Operand out = d.Out({3, 5}, type);
  d.Run(d.op.ConstantPadNd, Six(d, type), d.Ints({0, 2, 1, 0}), d.Number(9), out);
  d.Same(out, {9, 9, 9, 9, 9, 1, 2, 3, 9, 9, 4, 5, 6, 9, 9});
}
void Tril(Desk& d, acl::DataType type) {
  const Operand out = d.Out({2, 3}, type);
  d.Run(d.op.Tril, Six(d, type), 0, out);
  d.Same(out, {1, 0, 0, 4, 5, 0});
}
void Triu(Desk& d, acl::DataType type) {
  const Operand out = d.Out({2, 3}, type);
  d.Run(d.op.Triu, Six(d, type), 1, out);
  d.Same(out, {0, 2, 3, 0, 0, 6});
}
void Copy(Desk& d, acl::DataType type) {
  const Operand to = d.Out({2, 3}, type);
  d.Run(d.op.InplaceCopy, to, Six(d, type));
  d.Same(to, {1, 2, 3, 4, 5, 6});
}
void FillScalar(Desk& d, acl::DataType type) {
  const Operand to = d.Out({5}, type);
  d.Run(d.op.InplaceFillScalar, to, d.Number(2.5));
  d.Same(to, Values(5, 2.5));
}
void Zero(Desk& d, acl::DataType type) {
  const Operand to = d.Out({5}, type);
  d.Run(d.op.InplaceZero, to);
  d.Same(to, Values(5, 0));
}
void Arange(Case& at) {
  Desk d(at);
  const Operand out = d.Out({4}, acl::kF32), whole = d.Out({4}, acl::kI64);
  d.Run(d.op.Arange, d.Number(1), d.Number(3), d.Number(0.5), out);
  d.Same(out, {1, 1.5, 2, 2.5});
  d.Run(d.op.Arange, d.Number(3, acl::kI64), d.Number(11, acl::kI64), d.Number(2, acl::kI64),
        whole);
  d.Same(whole, {3, 5, 7, 9});
}

// ---- by indices --------------------------------------------------------------------------------

Operand Index(Desk& d, const Dims& dims, const Values& values, acl::DataType type = acl::kI64) {
  return d.In(dims, type, values);
}

void Gather(Desk& d, acl::DataType type) {
  const Operand out = d.Out({2, 2}, type);
  d.Run(d.op.Gather, Six(d, type), 1, Index(d, {2, 2}, {2, 0, 1, 1}), out);
  d.Same(out, {3, 1, 5, 5});
}
void GatherV2(Desk& d, acl::DataType type) {
  for (const acl::DataType of : {acl::kI64, acl::kI32}) {
    const Operand out = d.Out({2, 2, 3}, type);
    d.Run(d.op.GatherV2, Six(d, type), 0, Index(d, {2, 2}, {1, 0, 0, 1}, of), out);
    d.Same(out, {4, 5, 6, 1, 2, 3, 1, 2, 3, 4, 5, 6});
  }
}
void IndexSelect(Desk& d, acl::DataType type) {
  const Operand out = d.Out({2, 2}, type);
  d.Run(d.op.IndexSelect, Six(d, type), 1, Index(d, {2}, {2, 0}), out);
  d.Same(out, {3, 1, 6, 4});
}
void IndexCopy(Desk& d, acl::DataType type) {
  const Operand self = d.In({3, 2}, type, Values{1, 2, 3, 4, 5, 6});
  d.Run(d.op.InplaceIndexCopy, self, 0, Index(d, {2}, {2, 0}),
        d.In({2, 2}, type, Values{7, 8, 9, 10}));
  d.Same(self, {9, 10, 3, 4, 7, 8});
}
void OneHot(Desk& d, acl::DataType type) {
  const Operand out = d.Out({3, 4}, type);
  d.Run(d.op.OneHot, Index(d, {3}, {2, 0, 3}), 4, d.In({1}, type, Values{5}),
        d.In({1}, type, Values{-1}), -1, out);
  d.Same(out, {-1, -1, 5, -1, 5, -1, -1, -1, -1, -1, -1, 5});
}

}  // namespace

std::vector<Check> MoveChecks() {
  return {
      Exact("Cat", "joins tensors along an axis", Cat),
      Exact("Slice", "takes every second of an axis", Slice),
      Exact("Permute", "turns the axes", Permute),
      Exact("Expand", "repeats axes of 1", Expand),
      Exact("Repeat", "repeats whole axes", Repeat),
      Exact("ConstantPadNd", "pads from the last axis on, before and behind", Pad),
      Exact("Tril", "keeps the lower triangle", Tril),
      Exact("Triu", "keeps what is above the diagonal", Triu),
      Exact("InplaceCopy", "copies the second into the first", Copy),
      Exact("InplaceFillScalar", "fills", FillScalar),
      Exact("InplaceZero", "fills with zeros", Zero),
      {"aclnnArange", "rule:two-phase", "aclnnArange counts from, to, by.", Arange},
      Exact("Gather", "takes by an index of each element", Gather),
      Exact("GatherV2", "takes rows by an index of any dims", GatherV2),
      Exact("IndexSelect", "takes by a row of indices", IndexSelect),
      Exact("InplaceIndexCopy", "writes to places by a row of indices", IndexCopy),
      Exact("OneHot", "puts one value at the indices, another elsewhere", OneHot),
  };
}

}  // namespace ascend_check
