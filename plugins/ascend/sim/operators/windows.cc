// Pools of images of two spatial axes and nearest neighbours, plain and in NC1HWC0.
#include <algorithm>
#include <cmath>
#include <limits>

#include "plugins/ascend/sim/operators/checker.h"

namespace ge_engines::ascend::sim {
namespace {

constexpr uint32_t kImages = kImage | kBlocked;

// One spatial axis of a pool.
struct PoolAxis {
  int64_t size, kernel, stride, before, after, dilation;
  bool ceil;

  // How many windows there are: with ceil, one more where it begins within the image or before it.
  int64_t windows() const {
    const int64_t room = size + before + after - dilation * (kernel - 1) - 1;
    if (room < 0) return 0;
    int64_t count = room / stride + 1;
    if (ceil && room % stride != 0 && count * stride < size + before) ++count;
    return count;
  }
};

// What a window covers of an axis.
struct Cover {
  int64_t begin, end;  // of the image
  int64_t padded;      // places with the padding's
};
Cover CoverOf(const PoolAxis& a, int64_t window) {
  const int64_t first = window * a.stride - a.before;
  const int64_t last = std::min(first + a.kernel, a.size + a.after);
  return {std::max<int64_t>(first, 0), std::min(last, a.size), last - first};
}

// ---- averages ----------------------------------------------------------------------------------

enum : size_t { kSelf, kKernel, kStride, kPadding, kCeil, kCounts, kDivisor, kMath, kAverage };

PoolAxis AverageAxis(const Arguments& given, size_t k) {
  const int64_t pad = given[kPadding].ints[k];
  return {given[kSelf].tensor.dims[k + 2],
          given[kKernel].ints[k],
          given[kStride].ints[k],
          pad,
          pad,
          1,
          BoolOf(given, kCeil)};
}

std::string CheckAverage(const Arguments& given) {
  Checker c(given);
  c.Tensor(kSelf, "self", kReals, kImages).Tensor(kAverage, "out", kReals, kImages);
  c.HasRank(kSelf, 4, 4).SameType(kAverage, kSelf).SameFormat(kAverage, kSelf);
  c.HasInts(kKernel, "kernelSize", 2, 1).HasInts(kStride, "stride", 2, 1);
  c.HasInts(kPadding, "padding", 2, 0);
  if (!c.ok()) return c.fault();
  Dims out = c.dims(kSelf);
  for (size_t k = 0; k < 2; ++k) {
    c.That(2 * given[kPadding].ints[k] <= given[kKernel].ints[k],
           "padding: " + TextOf(given[kPadding].ints) + ", wanted at most half the window");
    out[k + 2] = AverageAxis(given, k).windows();
  }
  c.HasDims(kAverage, out);
  const int64_t math = IntegerOf(given, kMath);
  return c.That(math >= 0 && math <= 2, "cubeMathType " + std::to_string(math)).fault();
}

void RunAverage(const Arguments& given, void*) {
  const acl::Tensor &self = given[kSelf].tensor, &result = given[kAverage].tensor;
  const PoolAxis rows = AverageAxis(given, 0), columns = AverageAxis(given, 1);
  const int64_t divisor = IntegerOf(given, kDivisor), area = rows.size * columns.size;
  const bool counts = BoolOf(given, kCounts);
  const std::vector<float> x = Load<float>(self);
  std::vector<float> out;
  out.reserve(static_cast<size_t>(Count(result.dims)));
  for (int64_t plane = 0; plane < self.dims[0] * self.dims[1]; ++plane) {
    for (int64_t i = 0; i < result.dims[2]; ++i) {
      const Cover high = CoverOf(rows, i);
      for (int64_t j = 0; j < result.dims[3]; ++j) {
        const Cover wide = CoverOf(columns, j);
        float sum = 0;
        for (int64_t row = high.begin; row < high.end; ++row) {
          const float* from = x.data() + plane * area + row * columns.size;
          for (int64_t column = wide.begin; column < wide.end; ++column) sum += from[column];
        }
        const int64_t all = high.padded * wide.padded,
                      real = (high.end - high.begin) * (wide.end - wide.begin);
        out.push_back(sum / static_cast<float>(divisor != 0 ? divisor : counts ? all : real));
      }
    }
  }
  Store(result, out);
}

// ---- maxima ------------------------------------------------------------------------------------

enum : size_t { kImageOf, kWindow, kSteps, kAutoPad, kPads, kDilation, kCeiling, kMost };

// Pads: before each axis, then behind each.
PoolAxis MostAxis(const Arguments& given, size_t k) {
  return {given[kImageOf].tensor.dims[k + 2],
          given[kWindow].ints[k],
          given[kSteps].ints[k],
          given[kPads].ints[k],
          given[kPads].ints[k + 2],
          given[kDilation].ints[k],
          BoolOf(given, kCeiling)};
}

std::string CheckMost(const Arguments& given) {
  Checker c(given);
  c.Tensor(kImageOf, "self", kReals, kImages).Tensor(kMost, "out", kReals, kImages);
  c.HasRank(kImageOf, 4, 4).SameType(kMost, kImageOf).SameFormat(kMost, kImageOf);
  c.HasInts(kWindow, "kernelShape", 2, 1).HasInts(kSteps, "strides", 2, 1);
  c.HasInts(kPads, "pads", 4, 0).HasInts(kDilation, "dilations", 2, 1);
  c.That(IntegerOf(given, kAutoPad) == 0, "autoPad: wanted 0");
  if (!c.ok()) return c.fault();
  Dims out = c.dims(kImageOf);
  for (size_t k = 0; k < 2; ++k) {
    const PoolAxis axis = MostAxis(given, k);
    c.That(std::max(axis.before, axis.after) < axis.kernel,
           "pads: " + TextOf(given[kPads].ints) + ", wanted less than the window");
    out[k + 2] = axis.windows();
  }
  return c.HasDims(kMost, out).fault();
}

// A NaN is the most of its window.
void RunMost(const Arguments& given, void*) {
  const acl::Tensor &self = given[kImageOf].tensor, &result = given[kMost].tensor;
  const PoolAxis rows = MostAxis(given, 0), columns = MostAxis(given, 1);
  const std::vector<float> x = Load<float>(self);
  std::vector<float> out;
  out.reserve(static_cast<size_t>(Count(result.dims)));
  const auto inside = [](const PoolAxis& a, int64_t at) { return at >= 0 && at < a.size; };
  for (int64_t plane = 0; plane < self.dims[0] * self.dims[1]; ++plane) {
    const float* from = x.data() + plane * rows.size * columns.size;
    for (int64_t i = 0; i < result.dims[2]; ++i) {
      for (int64_t j = 0; j < result.dims[3]; ++j) {
        float most = -std::numeric_limits<float>::infinity();
        for (int64_t k = 0; k < rows.kernel * columns.kernel; ++k) {
          const int64_t row = i * rows.stride - rows.before + k / columns.kernel * rows.dilation;
          const int64_t column =
              j * columns.stride - columns.before + k % columns.kernel * columns.dilation;
          if (!inside(rows, row) || !inside(columns, column)) continue;
          const float value = from[row * columns.size + column];
          if (!std::isnan(most) && !(value <= most)) most = value;
        }
        out.push_back(most);
      }
    }
  }
  Store(result, out);
}

// ---- nearest neighbours ------------------------------------------------------------------------

std::string CheckNearest(const Arguments& given) {
  Checker c(given);
  c.Tensor(0, "self", kReals, kImages).Tensor(2, "out", kReals, kImages);
  c.HasRank(0, 4, 4).SameType(2, 0).SameFormat(2, 0).HasInts(1, "outputSize", 2, 1);
  if (!c.ok()) return c.fault();
  const Dims& x = c.dims(0);
  c.That(x[2] > 0 && x[3] > 0, "self: dims " + TextOf(x) + ", wanted an image");
  return c.HasDims(2, {x[0], x[1], given[1].ints[0], given[1].ints[1]}).fault();
}

void RunNearest(const Arguments& given, void*) {
  const acl::Tensor &self = given[0].tensor, &result = given[2].tensor;
  const Dims &xd = self.dims, &yd = result.dims;
  const std::vector<float> x = Load<float>(self);
  std::vector<float> out;
  for (int64_t plane = 0; plane < xd[0] * xd[1]; ++plane) {
    for (int64_t i = 0; i < yd[2]; ++i) {
      for (int64_t j = 0; j < yd[3]; ++j) {
        const int64_t row = plane * xd[2] + i * xd[2] / yd[2];
        out.push_back(x[static_cast<size_t>(row * xd[3] + j * xd[3] / yd[3])]);
      }
    }
  }
  Store(result, out);
}

constexpr Operation kWindows[] = {
    {"AvgPool2d", CheckAverage, nullptr, RunAverage},
    {"MaxPool", CheckMost, nullptr, RunMost},
    {"UpsampleNearest2d", CheckNearest, nullptr, RunNearest},
};

}  // namespace

std::span<const Operation> WindowOperations() { return kWindows; }

}  // namespace ge_engines::ascend::sim
