// Products, convolutions and pools, against plain sums.
#include <algorithm>
#include <cmath>

#include "tools/ascend_check/desk.h"

namespace ascend_check {
namespace {

Check Formula(const std::string& name, const std::string& formula,
              std::function<void(Desk&, acl::DataType)> use) {
  return {"aclnn" + name, "rule:cube-math",
          "aclnn" + name.substr(0, name.find('-')) + " is " + formula + ".",
          [use = std::move(use)](Case& at) { InEachType(at, use); }};
}

size_t At(int64_t i) { return static_cast<size_t>(i); }

// Matrices, row by row.
Values Product(const Values& a, const Values& b, int64_t rows, int64_t depth, int64_t columns) {
  Values out(At(rows * columns), 0);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      for (int64_t k = 0; k < depth; ++k)
        out[At(i * columns + j)] += a[At(i * depth + k)] * b[At(k * columns + j)];
    }
  }
  return out;
}

void Matmul(Desk& d, acl::DataType type) {
  const int64_t m = 5, k = 33, n = 18;
  const Values a = Some(m * k, 1), b = Some(k * n, 2);
  const Operand out = d.Out({m, n}, type);
  d.Run(d.op.Matmul, d.In({m, k}, type, a), d.In({k, n}, type, b), out, acl::kKeepDtype);
  d.Near(out, Product(a, b, m, k, n));
}
void MatmulTurned(Desk& d, acl::DataType type) {
  const int64_t m = 4, k = 6, n = 3;
  const Values a = Some(m * k, 1), b = Some(k * n, 2);
  Values turned;
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = 0; i < k; ++i) turned.push_back(b[At(i * n + j)]);
  }
  const Operand right = d.In({n, k}, type, turned), out = d.Out({m, n}, type);
  d.Run(d.op.Matmul, d.In({m, k}, type, a), d.Look(right, {k, n}, {1, k}), out, acl::kKeepDtype);
  d.Near(out, Product(a, b, m, k, n));
}
void MatmulBatches(Desk& d, acl::DataType type) {
  const Values a = Some(2 * 3 * 4, 1), b = Some(4 * 5, 2);
  const Operand out = d.Out({2, 3, 5}, type);
  d.Run(d.op.Matmul, d.In({2, 3, 4}, type, a), d.In({4, 5}, type, b), out, acl::kKeepDtype);
  d.Near(out, Product(a, b, 6, 4, 5));
}
void Batch(Desk& d, acl::DataType type) {
  const Values a = Some(2 * 3 * 4, 1), b = Some(2 * 4 * 5, 2);
  const Operand out = d.Out({2, 3, 5}, type);
  d.Run(d.op.BatchMatMul, d.In({2, 3, 4}, type, a), d.In({2, 4, 5}, type, b), out, acl::kKeepDtype);
  Values wanted;
  for (int64_t i = 0; i < 2; ++i) {
    const Values one = Product({a.begin() + i * 12, a.begin() + i * 12 + 12},
                               {b.begin() + i * 20, b.begin() + i * 20 + 20}, 3, 4, 5);
    wanted.insert(wanted.end(), one.begin(), one.end());
  }
  d.Near(out, wanted);
}
void Addmm(Desk& d, acl::DataType type) {
  const Values a = Some(12, 1), b = Some(20, 2), c = Some(5, 3);
  Values wanted = Product(a, b, 3, 4, 5);
  for (size_t i = 0; i < wanted.size(); ++i) wanted[i] = 0.5 * wanted[i] + 2 * c[i % 5];
  const Operand out = d.Out({3, 5}, type);
  d.Run(d.op.Addmm, d.In({5}, type, c), d.In({3, 4}, type, a), d.In({4, 5}, type, b), d.Number(2),
        d.Number(0.5), out, acl::kKeepDtype);
  d.Near(out, wanted);
}

// A right factor in FRACTAL_NZ: told whether it is taken, judged what comes of it.
void FractalFactor(Case& at) {
  IfTaken(at, [](Desk& d) {
    const int64_t m = 3, k = 18, n = 33;
    const Values a = Some(m * k, 1), b = Some(k * n, 2);
    const Operand right = d.InPrivate({k, n}, acl::kF16, b, acl::kFractalNz);
    const Operand out = d.Out({m, n}, acl::kF16);
    d.Run(d.op.Matmul, d.In({m, k}, acl::kF16, a), right, out, acl::kKeepDtype);
    d.Near(out, Product(a, b, m, k, n));
  });
}
void FormatCast(Case& at) {
  IfTaken(at, [](Desk& d) {
    const Values x = Some(18 * 33, 1);
    const Operand there = d.OutPrivate({18, 33}, acl::kF16, acl::kFractalNz);
    d.Run(d.op.NpuFormatCast, d.In({18, 33}, acl::kF16, x), there);
    d.Same(there, x);
    const Operand back = d.Out({18, 33}, acl::kF16);
    d.Run(d.op.NpuFormatCast, there, back);
    d.Same(back, x);
  });
}

// ---- windows -----------------------------------------------------------------------------------

struct Window {
  int64_t size = 3, stride = 1, pad = 0, dilation = 1, groups = 1;
};
int64_t Results(int64_t in, const Window& w) {
  return (in + 2 * w.pad - w.dilation * (w.size - 1) - 1) / w.stride + 1;
}

// Calls use(the element of each window's result, where it reads; -1: in the padding).
template <class Use>
void EachTap(int64_t image, const Window& w, const Use& use) {
  const int64_t results = Results(image, w);
  for (int64_t r = 0; r < results * results; ++r) {
    for (int64_t t = 0; t < w.size * w.size; ++t) {
      const int64_t y = r / results * w.stride - w.pad + t / w.size * w.dilation;
      const int64_t x = r % results * w.stride - w.pad + t % w.size * w.dilation;
      const bool inside = y >= 0 && y < image && x >= 0 && x < image;
      use(r, t, inside ? y * image + x : -1);
    }
  }
}

void ConvolutionOf(Desk& d, acl::DataType type, const Window& w, bool with_bias) {
  const int64_t batch = 2, in = 4, out = 6, image = 6, results = Results(image, w);
  const int64_t in_group = in / w.groups, taps = w.size * w.size;
  const Values x = Some(batch * in * image * image, 1), bias = Some(out, 3);
  const Values weight = Some(out * in_group * taps, 2);
  Values wanted;
  for (int64_t o = 0; o < batch * out; ++o) {
    Values plane(At(results * results), with_bias ? bias[At(o % out)] : 0);
    const int64_t first = o / out * in + o % out / (out / w.groups) * in_group;
    EachTap(image, w, [&](int64_t r, int64_t t, int64_t from) {
      for (int64_t c = 0; c < in_group && from >= 0; ++c) {
        plane[At(r)] += x[At((first + c) * image * image + from)] *
                        weight[At((o % out * in_group + c) * taps + t)];
      }
    });
    wanted.insert(wanted.end(), plane.begin(), plane.end());
  }
  const acl::Tensor* more = with_bias ? d.In({out}, type, bias).object : nullptr;
  const Operand result = d.Out({batch, out, results, results}, type, acl::kNchw);
  d.Run(d.op.Convolution, d.In({batch, in, image, image}, type, x, acl::kNchw),
        d.In({out, in_group, w.size, w.size}, type, weight, acl::kNchw), more,
        d.Ints({w.stride, w.stride}), d.Ints({w.pad, w.pad}), d.Ints({w.dilation, w.dilation}),
        false, d.Ints({0, 0}), w.groups, result, acl::kKeepDtype);
  d.Near(result, wanted);
}
void Convolution(Desk& d, acl::DataType type) { ConvolutionOf(d, type, {3, 1, 1, 1, 1}, true); }
void ConvolutionAlone(Desk& d, acl::DataType type) {
  ConvolutionOf(d, type, {3, 2, 0, 1, 1}, false);
}
void ConvolutionSpread(Desk& d, acl::DataType type) {
  ConvolutionOf(d, type, {2, 1, 1, 2, 1}, true);
}
void ConvolutionGroups(Desk& d, acl::DataType type) {
  ConvolutionOf(d, type, {3, 1, 1, 1, 2}, true);
}

void AveragesOf(Desk& d, acl::DataType type, bool counts) {
  const Window w{3, 2, 1, 1, 1};
  const int64_t planes = 3, image = 5, results = Results(image, w);
  const Values x = Some(planes * image * image, 1);
  Values wanted;
  for (int64_t p = 0; p < planes; ++p) {
    Values sums(At(results * results), 0), seen(sums);
    EachTap(image, w, [&](int64_t r, int64_t, int64_t from) {
      if (from >= 0) sums[At(r)] += x[At(p * image * image + from)];
      if (from >= 0 || counts) seen[At(r)] += 1;
    });
    for (size_t i = 0; i < sums.size(); ++i) wanted.push_back(sums[i] / seen[i]);
  }
  const Operand out = d.Out({1, planes, results, results}, type, acl::kNchw);
  d.Run(d.op.AvgPool2d, d.In({1, planes, image, image}, type, x, acl::kNchw), d.Ints({3, 3}),
        d.Ints({2, 2}), d.Ints({1, 1}), false, counts, 0, acl::kKeepDtype, out);
  d.Near(out, wanted);
}
void Averages(Desk& d, acl::DataType type) { AveragesOf(d, type, false); }
void AveragesCounting(Desk& d, acl::DataType type) { AveragesOf(d, type, true); }

void Maxima(Desk& d, acl::DataType type) {
  const Window w{3, 2, 1, 1, 1};
  const int64_t planes = 3, image = 6, results = Results(image, w);
  const Values x = Some(planes * image * image, 1);
  Values wanted;
  for (int64_t p = 0; p < planes; ++p) {
    Values most(At(results * results), -HUGE_VAL);
    EachTap(image, w, [&](int64_t r, int64_t, int64_t from) {
      if (from >= 0) most[At(r)] = std::max(most[At(r)], x[At(p * image * image + from)]);
    });
    wanted.insert(wanted.end(), most.begin(), most.end());
  }
  const Operand out = d.Out({1, planes, results, results}, type, acl::kNchw);
  d.Run(d.op.MaxPool, d.In({1, planes, image, image}, type, x, acl::kNchw), d.Ints({3, 3}),
        d.Ints({2, 2}), 0, d.Ints({1, 1, 1, 1}), d.Ints({1, 1}), 0, out);
  d.Same(out, wanted);
}
void Nearest(Desk& d, acl::DataType type) {
  const Values x = Some(2 * 2 * 3, 1);
  Values wanted;
  for (int64_t i = 0; i < 2 * 4 * 6; ++i) {
    wanted.push_back(x[At(i / 24 * 6 + i / 6 % 4 / 2 * 3 + i % 6 / 2)]);
  }
  const Operand out = d.Out({1, 2, 4, 6}, type, acl::kNchw);
  d.Run(d.op.UpsampleNearest2d, d.In({1, 2, 2, 3}, type, x, acl::kNchw), d.Ints({4, 6}), out);
  d.Same(out, wanted);
}

}  // namespace

std::vector<Check> ProductChecks() {
  return {
      Formula("Matmul", "the product of two matrices", Matmul),
      Formula("Matmul-turned", "that with a factor turned by strides", MatmulTurned),
      Formula("Matmul-batches", "that of a batch and one matrix", MatmulBatches),
      Formula("BatchMatMul", "that of two batches", Batch),
      Formula("Addmm", "beta self + alpha left right", Addmm),
      {"format-nz-factor", "rule:nz-shape",
       "Whether aclnnMatmul takes a right factor in FRACTAL_NZ; right if so.", FractalFactor},
      {"aclnnNpuFormatCast", "rule:format-cast",
       "Whether aclnnNpuFormatCast goes from ND to FRACTAL_NZ and back; right if so.", FormatCast},
      Formula("Convolution", "a convolution with padding and bias", Convolution),
      Formula("Convolution-alone", "one of strides, without a bias", ConvolutionAlone),
      Formula("Convolution-spread", "one with dilation", ConvolutionSpread),
      Formula("Convolution-groups", "one of groups", ConvolutionGroups),
      Formula("AvgPool2d", "the mean of a window, without its padding", Averages),
      Formula("AvgPool2d-counting", "the mean of a window, with its padding", AveragesCounting),
      Formula("MaxPool", "the most of a window", Maxima),
      Formula("UpsampleNearest2d", "the nearest element of a smaller image", Nearest),
  };
}

}  // namespace ascend_check
