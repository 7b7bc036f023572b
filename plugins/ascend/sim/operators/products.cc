// Products of matrices. The second factor may lie in FRACTAL_NZ, whose blocks are read as they lie.
#include <algorithm>

#include "plugins/ascend/sim/operators/checker.h"
#include "plugins/ascend/sim/operators/multiply.h"
#include "plugins/ascend/sim/operators/numbers.h"

namespace ge_engines::ascend::sim {
namespace {

Checker& AskCubeMath(const Arguments& given, size_t i, Checker* c) {
  const int64_t math = IntegerOf(given, i);
  return c->That(math >= kKeepType && math <= kUseHalf,
                 "cubeMathType " + std::to_string(math) + ", wanted 0 to 2");
}

Checker& AskFactors(size_t left, size_t out, Checker* c) {
  c->Tensor(left, left == 0 ? "self" : "mat1", kReals);
  c->Tensor(left + 1, left == 0 ? "other" : "mat2", kReals, kPlain | kFractal);
  return c->Tensor(out, "out", kReals).SameType(left + 1, left).SameType(out, left);
}

// The axes of a product: those of both factors' batches, then rows and columns; a factor of one
// axis is a row on the left, a column on the right, and leaves none.
struct Shape {
  Dims batch, out;
  int64_t rows = 1, depth = 1, columns = 1;
};

std::string ShapeOf(const Dims& left, const Dims& right, Shape* shape) {
  const std::string both = "self and other: dims " + TextOf(left) + " and " + TextOf(right);
  if (left.empty() || right.empty()) return both + ", wanted one axis or more";
  const bool row = left.size() == 1, column = right.size() == 1;
  shape->depth = left.back();
  if ((column ? right[0] : right[right.size() - 2]) != shape->depth) return both + " do not meet";
  const Dims one(left.begin(), left.end() - (row ? 1 : 2)),
      other(right.begin(), right.end() - (column ? 1 : 2));
  if (!Meet(one, other, &shape->batch)) return both + ": their batches do not meet";
  shape->out = shape->batch;
  if (!row) shape->out.push_back(shape->rows = left[left.size() - 2]);
  if (!column) shape->out.push_back(shape->columns = right.back());
  return "";
}

// A factor as a batch of matrices.
View MatricesOf(const acl::Tensor& t, bool left, const Shape& shape) {
  View view = ViewOf(t);
  if (view.axes.size() == 1)
    view.axes.insert(left ? view.axes.begin() : view.axes.end(), Axis{1, 0});
  Dims dims = shape.batch;
  dims.push_back(left ? shape.rows : shape.depth);
  dims.push_back(left ? shape.depth : shape.columns);
  return Repeated(view, dims);
}

// The i-th matrix of a batch.
View MatrixAt(const View& view, int64_t i) {
  View matrix;
  matrix.offset = view.offset;
  const size_t batch = view.axes.size() - 2;
  for (size_t k = batch; k-- > 0;) {
    matrix.offset += view.axes[k].At(i % view.axes[k].size);
    i /= view.axes[k].size;
  }
  matrix.axes.assign(view.axes.begin() + static_cast<std::ptrdiff_t>(batch), view.axes.end());
  return matrix;
}

std::vector<float> LoadFactor(const acl::Tensor& t, const View& view, int64_t math) {
  std::vector<float> values = Load<float>(t, view);
  if (math == kUseHalf && t.type == acl::kF32) {
    for (float& x : values) x = FloatOfHalf(HalfOf(x));
  }
  return values;
}

// Sums of the products, [batch][rows][columns].
std::vector<float> Sums(const acl::Tensor& left, const acl::Tensor& right, const Shape& shape,
                        int64_t math) {
  std::vector<float> sums(static_cast<size_t>(Count(shape.batch) * shape.rows * shape.columns));
  if (sums.empty()) return sums;
  const View of_left = MatricesOf(left, true, shape), of_right = MatricesOf(right, false, shape);
  std::vector<float> panels(static_cast<size_t>(shape.depth * PanelColumns(shape.columns)));
  const bool shared = std::all_of(of_right.axes.begin(), of_right.axes.end() - 2,
                                  [](const Axis& axis) { return axis.step == 0; });
  for (int64_t i = 0, count = Count(shape.batch); i < count; ++i) {
    if (i == 0 || !shared) {
      FillPanels(LoadFactor(right, MatrixAt(of_right, i), math).data(), shape.depth, shape.columns,
                 panels.data());
    }
    Multiply(LoadFactor(left, MatrixAt(of_left, i), math).data(), panels.data(), shape.rows,
             shape.columns, shape.depth, sums.data() + i * shape.rows * shape.columns,
             shape.columns);
  }
  return sums;
}

std::string CheckMatmul(const Arguments& given) {
  Checker c(given);
  AskFactors(0, 2, &c);
  AskCubeMath(given, 3, &c);
  Shape shape;
  if (c.ok()) {
    const std::string fault = ShapeOf(c.dims(0), c.dims(1), &shape);
    c.That(fault.empty(), fault);
  }
  return c.HasDims(2, shape.out).fault();
}

std::string CheckBatch(const Arguments& given) {
  Checker c(given);
  AskFactors(0, 2, &c);
  c.HasRank(0, 3, 3).HasRank(1, 3, 3);
  if (c.ok()) {
    c.That(c.dims(0)[0] == c.dims(1)[0], "self and other: other batches");
    c.That(c.dims(0)[2] == c.dims(1)[1], "self and other: dims " + TextOf(c.dims(0)) + " and " +
                                             TextOf(c.dims(1)) + " do not meet");
    c.HasDims(2, {c.dims(0)[0], c.dims(0)[1], c.dims(1)[2]});
  }
  return AskCubeMath(given, 3, &c).fault();
}

void RunMatmul(const Arguments& given, void*) {
  Shape shape;
  (void)ShapeOf(given[0].tensor.dims, given[1].tensor.dims, &shape);
  Store(given[2].tensor, Sums(given[0].tensor, given[1].tensor, shape, IntegerOf(given, 3)));
}

std::string CheckAddmm(const Arguments& given) {
  Checker c(given);
  AskFactors(1, 5, &c);
  c.Tensor(0, "self", kReals).SameType(0, 1).HasRank(1, 2, 2).HasRank(2, 2, 2);
  c.Scalar(3, "beta").Scalar(4, "alpha");
  if (c.ok()) {
    const Dims out = {c.dims(1)[0], c.dims(2)[1]};
    c.That(c.dims(1)[1] == c.dims(2)[0], "mat1 and mat2: dims " + TextOf(c.dims(1)) + " and " +
                                             TextOf(c.dims(2)) + " do not meet");
    c.HasDims(5, out).RepeatsTo(0, out);
  }
  return AskCubeMath(given, 6, &c).fault();
}

void RunAddmm(const Arguments& given, void*) {
  const acl::Tensor& out = given[5].tensor;
  Shape shape;
  (void)ShapeOf(given[1].tensor.dims, given[2].tensor.dims, &shape);
  std::vector<float> sums = Sums(given[1].tensor, given[2].tensor, shape, IntegerOf(given, 6));
  const auto beta = ScalarOf<float>(given, 3), alpha = ScalarOf<float>(given, 4);
  for (float& x : sums) x *= alpha;
  if (beta != 0) {
    const auto added = Load<float>(given[0].tensor, Repeated(ViewOf(given[0].tensor), out.dims));
    for (size_t i = 0; i < sums.size(); ++i) sums[i] += beta * added[i];
  }
  Store(out, sums);
}

constexpr Operation kProducts[] = {
    {"Addmm", CheckAddmm, nullptr, RunAddmm},
    {"BatchMatMul", CheckBatch, nullptr, RunMatmul},
    {"Matmul", CheckMatmul, nullptr, RunMatmul},
};

}  // namespace

std::span<const Operation> ProductOperations() { return kProducts; }

}  // namespace ge_engines::ascend::sim
