// Random cases of operators that move data and compute shapes.
#include <algorithm>
#include <numeric>

#include "tools/ge_test/random_case.h"

namespace ge::test {
namespace {

std::shared_ptr<HostTensor> Anything(CaseMaker& m, const Dims& dims) {
  return m.Numbers(m.dtype(), dims, -100, 100);
}

void AddShape(CaseMaker& m, const std::vector<int64_t>& v) {
  m.AddConstant(m.Ints(DType::kInt64, {static_cast<int64_t>(v.size())}, v));
}

int64_t Rank(const Dims& dims) { return static_cast<int64_t>(dims.size()); }

// Axes of `rank`, each kept with probability p, counted from either end.
std::vector<int64_t> SomeAxes(CaseMaker& m, int64_t rank, double p) {
  std::vector<int64_t> axes;
  for (int64_t a = 0; a < rank; ++a) {
    if (m.r.Chance(p)) axes.push_back(m.Axis(a, rank));
  }
  return axes;
}

void Shuffle(CaseMaker& m, std::vector<int64_t>* v) {
  for (size_t i = v->size(); i > 1; --i) {
    std::swap((*v)[i - 1], (*v)[static_cast<size_t>(m.r.Int(0, static_cast<int64_t>(i) - 1))]);
  }
}

}  // namespace

void ConcatCase(CaseMaker& m) {
  const Dims dims = m.Shape(1, 4);
  const int64_t axis = m.r.Int(0, Rank(dims) - 1), n = m.r.Int(1, 4);
  for (int64_t i = 0; i < n; ++i) {
    Dims part = dims;
    part[static_cast<size_t>(axis)] = m.r.Chance(0.1) ? 0 : m.r.Int(1, 4);
    m.Add(Anything(m, part));
  }
  m.Set("axis", m.Axis(axis, Rank(dims)));
}

void ConstantCase(CaseMaker& m) { m.c.value = Anything(m, m.Shape(0, 4)); }

void ConstantOfShapeCase(CaseMaker& m) {
  AddShape(m, m.Shape(0, 4));
  if (m.r.Chance(0.8)) m.c.value = Anything(m, {1});
  m.c.typed = false;
}

void ExpandCase(CaseMaker& m) {
  const Dims to = m.Shape(0, 4);
  m.Add(Anything(m, m.Narrowed(to)));
  Dims asked = to;  // 1 keeps the input's own size
  const Dims& from = m.c.inputs[0].tensor->dims;
  for (size_t i = 0; i < from.size(); ++i) {
    if (m.r.Chance(0.2)) asked[asked.size() - 1 - i] = 1;
  }
  AddShape(m, asked);
}

void FlattenCase(CaseMaker& m) {
  const Dims dims = m.Shape(0, 4);
  m.Add(Anything(m, dims));
  // The default axis, 1, is none of a scalar's.
  if (dims.empty() || m.r.Chance(0.8)) m.Set("axis", m.r.Int(-Rank(dims), Rank(dims)));
}

void GatherCase(CaseMaker& m) {
  const Dims dims = m.Shape(1, 3, false);
  const int64_t axis = m.r.Int(0, Rank(dims) - 1), size = dims[static_cast<size_t>(axis)];
  m.Add(Anything(m, dims));
  const DType type = m.r.Chance(0.5) ? DType::kInt64 : DType::kInt32;
  m.Add(m.Numbers(type, m.Shape(0, 3), -static_cast<double>(size), static_cast<double>(size - 1)));
  if (m.r.Chance(0.8)) m.Set("axis", m.Axis(axis, Rank(dims)));
  if (m.c.attrs.empty()) {  // the default axis is 0
    m.c.inputs.pop_back();
    const auto first = static_cast<double>(dims[0]);
    m.Add(m.Numbers(type, m.Shape(0, 3), -first, first - 1));
  }
}

// Quarters, so that the number of elements is exact in every float type.
void RangeCase(CaseMaker& m) {
  const bool real = IsFloat(m.dtype());
  const double unit = real ? 0.25 : 1, start = static_cast<double>(m.r.Int(0, 20)) * unit;
  const bool down = m.r.Chance(0.4) && (real || (Bit(m.dtype()) & kSignedInts) != 0);
  const double delta = static_cast<double>(m.r.Int(1, 5)) * unit * (down ? -1 : 1);
  const double limit = start + static_cast<double>(m.r.Int(-3, 20)) * unit * (down ? -1 : 1);
  for (const double v : {start, std::max(limit, down ? -10.0 : 0.0), delta}) {
    m.AddConstant(m.Floats(m.dtype(), {}, {v}));
  }
}

void ReshapeCase(CaseMaker& m) {
  const Dims dims = m.Shape(0, 4);
  m.Add(Anything(m, dims));
  std::vector<int64_t> to = dims;
  Shuffle(m, &to);
  const bool allow_zero = m.r.Chance(0.3);
  if (to.size() >= 2 && m.r.Chance(0.4)) {  // two sizes become one
    to[0] *= to[1];
    to.erase(to.begin() + 1);
  }
  if (m.r.Chance(0.3)) to.insert(to.begin() + m.r.Int(0, static_cast<int64_t>(to.size())), 1);
  const bool empty = std::count(dims.begin(), dims.end(), 0) > 0;
  if (allow_zero) {
    m.Set("allowzero", int64_t{1});
  } else {
    for (size_t i = 0; i < to.size(); ++i) {  // 0 copies the size at the same place
      if (i < dims.size() && to[i] == dims[i] && m.r.Chance(0.3)) to[i] = 0;
      // A size of 0 can be had by copying alone.
      if (i >= dims.size() || dims[i] != 0) continue;
    }
    if (empty) to = dims;
  }
  if (!empty && !to.empty() && m.r.Chance(0.4))
    to[static_cast<size_t>(m.r.Int(0, Rank(to) - 1))] = -1;
  AddShape(m, to);
}

void ShapeCase(CaseMaker& m) {
  const Dims dims = m.Shape(0, 4);
  m.Add(Anything(m, dims));
  if (m.r.Chance(0.5)) m.Set("start", m.r.Int(-5, 5));
  if (m.r.Chance(0.5)) m.Set("end", m.r.Int(-5, 5));
}

void SliceCase(CaseMaker& m) {
  const Dims dims = m.Shape(1, 4);
  m.Add(Anything(m, dims));
  std::vector<int64_t> axes = SomeAxes(m, Rank(dims), 0.6);
  const bool named = m.r.Chance(0.8);
  if (named) {
    Shuffle(m, &axes);
  } else {
    axes.resize(static_cast<size_t>(m.r.Int(1, Rank(dims))));
    std::iota(axes.begin(), axes.end(), 0);
  }
  const auto n = static_cast<int64_t>(axes.size());
  std::vector<int64_t> starts, ends, steps;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t step = m.r.Int(1, 3) * (m.r.Chance(0.4) ? -1 : 1);
    starts.push_back(m.r.Chance(0.1) ? (step > 0 ? INT32_MIN : INT32_MAX) : m.r.Int(-6, 6));
    ends.push_back(m.r.Chance(0.2) ? (step > 0 ? INT32_MAX : INT32_MIN) : m.r.Int(-6, 6));
    steps.push_back(step);
  }
  const DType type = m.r.Chance(0.5) ? DType::kInt64 : DType::kInt32;
  m.AddConstant(m.Ints(type, {n}, starts));
  m.AddConstant(m.Ints(type, {n}, ends));
  const bool stepped = m.r.Chance(0.7);
  if (named) m.AddConstant(m.Ints(type, {n}, axes));
  if (!named && stepped) m.AddAbsent();
  if (stepped) m.AddConstant(m.Ints(type, {n}, steps));
}

void SplitCase(CaseMaker& m) {
  Dims dims = m.Shape(1, 4);
  const int64_t axis = m.r.Int(0, Rank(dims) - 1), parts = m.r.Int(1, 4);
  int64_t& size = dims[static_cast<size_t>(axis)];
  m.c.outputs = static_cast<int>(parts);
  std::vector<int64_t> sizes;
  if (m.r.Chance(0.5)) {
    size = 0;
    for (int64_t i = 0; i < parts; ++i) size += sizes.emplace_back(m.r.Int(0, 3));
  } else {
    size = m.r.Int(parts, 2 * parts);
    // Equal parts, the last one may be smaller, but none may be empty.
    const int64_t whole = (size + parts - 1) / parts;
    if (whole * (parts - 1) >= size) size = parts;
    m.Set("num_outputs", parts);
  }
  m.Add(Anything(m, dims));
  if (!sizes.empty()) AddShape(m, sizes);
  m.Set("axis", m.Axis(axis, Rank(dims)));
}

void SqueezeCase(CaseMaker& m) {
  Dims dims = m.Shape(0, 4);
  std::vector<int64_t> axes;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (!m.r.Chance(0.4)) continue;
    dims[i] = 1;
    axes.push_back(m.Axis(static_cast<int64_t>(i), Rank(dims)));
  }
  Shuffle(m, &axes);
  m.Add(Anything(m, dims));
  if (m.r.Chance(0.7)) AddShape(m, axes);
}

void TransposeCase(CaseMaker& m) {
  const Dims dims = m.Shape(0, 5);
  m.Add(Anything(m, dims));
  std::vector<int64_t> perm(dims.size());
  std::iota(perm.begin(), perm.end(), 0);
  Shuffle(m, &perm);
  if (m.r.Chance(0.8)) m.Set("perm", perm);
}

void UnsqueezeCase(CaseMaker& m) {
  const Dims dims = m.Shape(0, 3);
  m.Add(Anything(m, dims));
  const int64_t more = m.r.Int(1, 3), rank = Rank(dims) + more;
  std::vector<int64_t> axes(static_cast<size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  Shuffle(m, &axes);
  axes.resize(static_cast<size_t>(more));
  for (int64_t& a : axes) a = m.Axis(a, rank);
  AddShape(m, axes);
}

}  // namespace ge::test
