// Operators over rows: reductions, norms, orders; against plain formulas.
#include <algorithm>
#include <cmath>

#include "tools/ascend_check/desk.h"

namespace ascend_check {
namespace {

constexpr int64_t kRows = 3, kSize = 17;
constexpr double kEpsilon = 1e-5;

Check Formula(const std::string& name, const std::string& formula,
              std::function<void(Desk&, acl::DataType)> use) {
  return {"aclnn" + name, "rule:two-phase",
          "aclnn" + name.substr(0, name.find('-')) + " is " + formula + ".",
          [use = std::move(use)](Case& at) { InEachType(at, use); }};
}

using Row = Values;
std::vector<Row> RowsOf(const Values& x, int64_t size) {
  std::vector<Row> rows;
  for (auto it = x.begin(); it != x.end(); it += size) rows.emplace_back(it, it + size);
  return rows;
}
double SumOf(const Row& row) {
  double sum = 0;
  for (const double x : row) sum += x;
  return sum;
}
double MeanOf(const Row& row) { return SumOf(row) / static_cast<double>(row.size()); }
double VarianceOf(const Row& row) {
  double sum = 0;
  for (const double x : row) sum += (x - MeanOf(row)) * (x - MeanOf(row));
  return sum / static_cast<double>(row.size());
}
double MostOf(const Row& row) { return *std::max_element(row.begin(), row.end()); }
double LeastOf(const Row& row) { return *std::min_element(row.begin(), row.end()); }
double PlaceOfMost(const Row& row) {
  return static_cast<double>(std::max_element(row.begin(), row.end()) - row.begin());
}
double PlaceOfLeast(const Row& row) {
  return static_cast<double>(std::min_element(row.begin(), row.end()) - row.begin());
}

// Each row no value twice, as far as 33 values go.
Values Distinct() { return Some(kRows * kSize, 1); }

// call(desk, in, out, type) with one element of each row.
template <class Call>
Check Reduced(const char* name, const char* formula, double (*f)(const Row&), const Call& call) {
  return Formula(name, formula, [=](Desk& d, acl::DataType type) {
    Values wanted;
    for (const Row& row : RowsOf(Distinct(), kSize)) wanted.push_back(f(row));
    for (const bool keeps : {true, false}) {
      const Operand in = d.In({kRows, kSize}, type, Distinct());
      const Operand out = d.Out(keeps ? Dims{kRows, 1} : Dims{kRows}, type);
      call(d, in, out, keeps);
      d.Near(out, wanted);
    }
  });
}

// An index of each row.
template <class Op>
Check Placed(const char* name, const char* formula, double (*f)(const Row&),
             Op acl::Operators::*op) {
  return Formula(name, formula, [=](Desk& d, acl::DataType type) {
    Values wanted;
    for (const Row& row : RowsOf(Distinct(), kSize)) wanted.push_back(f(row));
    const Operand out = d.Out({kRows, 1}, acl::kI64);
    d.Run(d.op.*op, d.In({kRows, kSize}, type, Distinct()), 1, true, out);
    d.Same(out, wanted);
  });
}

template <class Op>
Check Normalized(const char* name, const char* formula, bool logarithm, Op acl::Operators::*op) {
  return Formula(name, formula, [=](Desk& d, acl::DataType type) {
    Values wanted;
    for (const Row& row : RowsOf(Distinct(), kSize)) {
      double sum = 0;
      for (const double x : row) sum += std::exp(x);
      for (const double x : row)
        wanted.push_back(logarithm ? x - std::log(sum) : std::exp(x) / sum);
    }
    const Operand out = d.Out({kRows, kSize}, type);
    d.Run(d.op.*op, d.In({kRows, kSize}, type, Distinct()), -1, out);
    d.Near(out, wanted);
  });
}

void Sums(Desk& d, acl::DataType type) {
  const Operand in = d.In({kRows, kSize}, type, Distinct()), out = d.Out({1, kSize}, type);
  d.Run(d.op.ReduceSum, in, d.Ints({0}), true, type, out);
  Values wanted(kSize, 0), x = Distinct();
  for (size_t i = 0; i < x.size(); ++i) wanted[i % kSize] += x[i];
  d.Near(out, wanted);
}
void RunningSums(Desk& d, acl::DataType type) {
  const Operand out = d.Out({kRows, kSize}, type);
  d.Run(d.op.Cumsum, d.In({kRows, kSize}, type, Distinct()), 1, type, out);
  Values wanted;
  for (const Row& row : RowsOf(Distinct(), kSize)) {
    double sum = 0;
    for (const double x : row) wanted.push_back(sum += x);
  }
  d.Near(out, wanted);
}
void Best(Desk& d, acl::DataType type) {
  const Operand values = d.Out({kRows, 4}, type), places = d.Out({kRows, 4}, acl::kI64);
  d.Run(d.op.Topk, d.In({kRows, kSize}, type, Distinct()), 4, 1, true, true, values, places);
  Values best, at;
  for (const Row& row : RowsOf(Distinct(), kSize)) {
    std::vector<size_t> order(row.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t i, size_t j) { return row[i] > row[j]; });
    for (size_t i = 0; i < 4; ++i) {
      best.push_back(row[order[i]]);
      at.push_back(static_cast<double>(order[i]));
    }
  }
  d.Same(values, best);
  d.Same(places, at);
}

// ---- norms -------------------------------------------------------------------------------------

void LayerNorm(Desk& d, acl::DataType type) {
  const Values weight = SomePositive(kSize, 1), bias = Some(kSize, 2);
  Values wanted;
  for (const Row& row : RowsOf(Distinct(), kSize)) {
    for (size_t i = 0; i < row.size(); ++i) {
      const double unit = (row[i] - MeanOf(row)) / std::sqrt(VarianceOf(row) + kEpsilon);
      wanted.push_back(unit * weight[i] + bias[i]);
    }
  }
  const Operand out = d.Out({kRows, kSize}, type);
  const acl::Tensor* left_out = nullptr;
  d.Run(d.op.LayerNorm, d.In({kRows, kSize}, type, Distinct()), d.Ints({kSize}),
        d.In({kSize}, type, weight), d.In({kSize}, type, bias), kEpsilon, out,
        const_cast<acl::Tensor*>(left_out), const_cast<acl::Tensor*>(left_out));
  d.Near(out, wanted);
}
void RmsNorm(Desk& d, acl::DataType type) {
  const Values gamma = SomePositive(kSize, 1);
  Values wanted;
  for (const Row& row : RowsOf(Distinct(), kSize)) {
    double squares = 0;
    for (const double x : row) squares += x * x;
    for (size_t i = 0; i < row.size(); ++i) {
      wanted.push_back(row[i] * gamma[i] / std::sqrt(squares / kSize + kEpsilon));
    }
  }
  const Operand out = d.Out({kRows, kSize}, type);
  d.Run(d.op.RmsNorm, d.In({kRows, kSize}, type, Distinct()), d.In({kSize}, type, gamma), kEpsilon,
        out, d.Out({kRows, 1}, acl::kF32));
  d.Near(out, wanted);
}
// Of 2 images, 4 channels in 2 groups, 3 elements each.
void GroupNorm(Desk& d, acl::DataType type) {
  const Values x = Some(24, 1), gamma = SomePositive(4, 1), beta = Some(4, 2);
  Values wanted;
  for (const Row& group : RowsOf(x, 6)) {
    for (size_t i = 0; i < 6; ++i) {
      const size_t channel = (wanted.size() / 3) % 4;
      const double unit = (group[i] - MeanOf(group)) / std::sqrt(VarianceOf(group) + kEpsilon);
      wanted.push_back(unit * gamma[channel] + beta[channel]);
    }
  }
  const Operand out = d.Out({2, 4, 3}, type);
  d.Run(d.op.GroupNorm, d.In({2, 4, 3}, type, x), d.In({4}, type, gamma), d.In({4}, type, beta), 2,
        4, 3, 2, kEpsilon, out, d.Out({2, 2}, type), d.Out({2, 2}, type));
  d.Near(out, wanted);
}
void BatchNormOf(Desk& d, acl::DataType type, bool factors) {
  const Values x = Some(24, 1), weight = SomePositive(3, 1), bias = Some(3, 2), mean = Some(3, 3),
               variance = SomePositive(3, 4);
  Values wanted;
  for (size_t i = 0; i < 24; ++i) {
    const size_t c = i / 4 % 3;
    const double unit = (x[i] - mean[c]) / std::sqrt(variance[c] + kEpsilon);
    wanted.push_back(factors ? unit * weight[c] + bias[c] : unit);
  }
  const acl::Tensor *w = nullptr, *b = nullptr;
  if (factors) w = d.In({3}, acl::kF32, weight).object;
  if (factors) b = d.In({3}, acl::kF32, bias).object;
  const Operand out = d.Out({2, 3, 2, 2}, type);
  d.Run(d.op.BatchNorm, d.In({2, 3, 2, 2}, type, x), w, b, d.In({3}, acl::kF32, mean),
        d.In({3}, acl::kF32, variance), false, 0.1, kEpsilon, out, d.Out({3}, acl::kF32),
        d.Out({3}, acl::kF32));
  d.Near(out, wanted);
}
void BatchNorm(Desk& d, acl::DataType type) { BatchNormOf(d, type, true); }
void BatchNormAlone(Desk& d, acl::DataType type) { BatchNormOf(d, type, false); }

}  // namespace

std::vector<Check> RowChecks() {
  return {
      Reduced("ReduceSum", "the sum of a row", SumOf,
              [](Desk& d, const Operand& in, const Operand& out, bool keeps) {
                d.Run(d.op.ReduceSum, in, d.Ints({1}), keeps, out.type, out);
              }),
      Formula("ReduceSum-front", "the sum over the first axis, too", Sums),
      Reduced("Mean", "the mean of a row", MeanOf,
              [](Desk& d, const Operand& in, const Operand& out, bool keeps) {
                d.Run(d.op.Mean, in, d.Ints({1}), keeps, out.type, out);
              }),
      Reduced("Amax", "the most of a row", MostOf,
              [](Desk& d, const Operand& in, const Operand& out, bool keeps) {
                d.Run(d.op.Amax, in, d.Ints({1}), keeps, out);
              }),
      Reduced("Amin", "the least of a row", LeastOf,
              [](Desk& d, const Operand& in, const Operand& out, bool keeps) {
                d.Run(d.op.Amin, in, d.Ints({1}), keeps, out);
              }),
      Placed("ArgMax", "the place of the most of a row", PlaceOfMost, &acl::Operators::ArgMax),
      Placed("ArgMin", "the place of the least of a row", PlaceOfLeast, &acl::Operators::ArgMin),
      Formula("Cumsum", "the sums up to each element", RunningSums),
      Formula("Topk", "the greatest four of a row, and their places", Best),
      Normalized("Softmax", "exp(x) / the sum of exp(x)", false, &acl::Operators::Softmax),
      Normalized("LogSoftmax", "x - log(the sum of exp(x))", true, &acl::Operators::LogSoftmax),
      Formula("LayerNorm", "(x - mean) / sqrt(variance + epsilon) * weight + bias of a row",
              LayerNorm),
      Formula("RmsNorm", "x / sqrt(mean of squares + epsilon) * gamma of a row", RmsNorm),
      Formula("GroupNorm",
              "(x - mean) / sqrt(variance + epsilon) * gamma + beta of a group of channels",
              GroupNorm),
      Formula("BatchNorm", "that of each channel, by given means and variances", BatchNorm),
      Formula("BatchNorm-alone", "right without weight and bias", BatchNormAlone),
  };
}

}  // namespace ascend_check
