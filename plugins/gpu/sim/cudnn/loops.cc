#include "plugins/gpu/sim/cudnn/loops.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "plugins/gpu/kernels/numbers.h"

namespace ge_engines::gpu::sim::dnn {
namespace {

using Floats = std::vector<float>;  // of a tensor, dense
using Three = std::array<int64_t, 3>;

Number NumberOf(cudnn::DataType type) {
  return type == cudnn::kFloat ? Number::kF32 : type == cudnn::kHalf ? Number::kF16 : Number::kBf16;
}

// Calls use(dense position, place by the tensor's strides) for each element.
template <class Use>
void EachElement(const TensorValues& t, const Use& use) {
  std::vector<int64_t> index(t.dims.size(), 0);
  int64_t place = 0;
  for (int64_t i = 0, n = t.elements(); i < n; ++i) {
    use(i, place);
    for (size_t k = index.size(); k-- > 0;) {
      place += t.strides[k];
      if (++index[k] < t.dims[k]) break;
      place -= index[k] * t.strides[k];
      index[k] = 0;
    }
  }
}

Floats Load(const TensorValues& t, const void* at) {
  Floats values(static_cast<size_t>(t.elements()));
  EachElement(t, [&](int64_t i, int64_t place) {
    values[static_cast<size_t>(i)] = static_cast<float>(RealAt(at, NumberOf(t.type), place));
  });
  return values;
}

void Store(const TensorValues& t, const Floats& values, void* at) {
  EachElement(t, [&](int64_t i, int64_t place) {
    StoreReal(at, NumberOf(t.type), place, static_cast<double>(values[static_cast<size_t>(i)]));
  });
}

// The digits of TF32: ten behind the point.
void RoundAll(Floats* values) {
  for (float& v : *values) {
    const auto bits = std::bit_cast<uint32_t>(v);
    if (std::isfinite(v)) v = std::bit_cast<float>((bits + 0x1000u) & ~0x1fffu);
  }
}

// A convolution of three spatial axes, with those of size 1 in front that it lacks.
struct Geometry {
  int64_t images = 1, groups = 1, in = 1, out = 1;  // channels of one group
  Three x = {1, 1, 1}, w = {1, 1, 1}, y = {1, 1, 1};
  Three stride = {1, 1, 1}, dilation = {1, 1, 1}, pad = {0, 0, 0};

  Geometry(const Graph& graph, const OperationValues& o) {
    const auto &xd = graph.tensors[o.x].dims, &wd = graph.tensors[o.w].dims,
               &yd = graph.tensors[o.y].dims;
    images = xd[0];
    in = wd[1];
    groups = xd[1] / in;
    out = wd[0] / groups;
    const size_t axes = xd.size() - 2, first = 3 - axes;
    for (size_t k = 0; k < axes; ++k) {
      x[first + k] = xd[k + 2];
      w[first + k] = wd[k + 2];
      y[first + k] = yd[k + 2];
      stride[first + k] = o.stride[k];
      dilation[first + k] = o.dilation[k];
      pad[first + k] = o.pre[k];
    }
  }
  static int64_t Count(const Three& dims) { return dims[0] * dims[1] * dims[2]; }

  // Calls use(first of x, first of y, how many, step of x) for each row of windows of which this
  // tap lies in the image.
  template <class Use>
  void EachRow(const Three& tap, const Use& use) const {
    Three first, end;
    for (size_t k = 0; k < 3; ++k) {
      const int64_t at = tap[k] * dilation[k] - pad[k];  // in x, of window 0
      first[k] = at >= 0 ? 0 : (-at + stride[k] - 1) / stride[k];
      const int64_t last = x[k] - 1 - at;
      end[k] = last < 0 ? 0 : std::min(y[k], last / stride[k] + 1);
      if (first[k] >= end[k]) return;
    }
    const auto in_x = [&](size_t k, int64_t i) {
      return i * stride[k] + tap[k] * dilation[k] - pad[k];
    };
    for (int64_t i = first[0]; i < end[0]; ++i) {
      for (int64_t j = first[1]; j < end[1]; ++j) {
        const int64_t row = (in_x(0, i) * x[1] + in_x(1, j)) * x[2];
        use(row + in_x(2, first[2]), (i * y[1] + j) * y[2] + first[2], end[2] - first[2],
            stride[2]);
      }
    }
  }

  // Calls use(image, channel of x, channel of y, plane of w) for all that meet.
  template <class Use>
  void EachPlane(const Use& use) const {
    for (int64_t n = 0; n < images; ++n) {
      for (int64_t k = 0; k < groups * out; ++k) {
        const int64_t group = k / out;
        for (int64_t c = 0; c < in; ++c) use(n, group * in + c, k, k * in + c);
      }
    }
  }
  template <class Use>
  void EachTap(const Use& use) const {
    Three tap;
    int64_t at = 0;
    for (tap[0] = 0; tap[0] < w[0]; ++tap[0]) {
      for (tap[1] = 0; tap[1] < w[1]; ++tap[1]) {
        for (tap[2] = 0; tap[2] < w[2]; ++tap[2]) use(tap, at++);
      }
    }
  }
};

// Sums of one plane at a time are added up: long sums keep their digits.
void Forward(const Geometry& g, const Floats& x, const Floats& w, Floats* y) {
  const int64_t xs = Geometry::Count(g.x), ws = Geometry::Count(g.w), ys = Geometry::Count(g.y);
  Floats part(static_cast<size_t>(ys));
  g.EachPlane([&](int64_t n, int64_t c, int64_t k, int64_t plane) {
    const float* from = x.data() + (n * g.groups * g.in + c) * xs;
    std::fill(part.begin(), part.end(), 0.0f);
    g.EachTap([&](const Three& tap, int64_t at) {
      const float weight = w[static_cast<size_t>(plane * ws + at)];
      g.EachRow(tap, [&](int64_t fx, int64_t fy, int64_t count, int64_t step) {
        for (int64_t i = 0; i < count; ++i) {
          part[static_cast<size_t>(fy + i)] += weight * from[fx + i * step];
        }
      });
    });
    float* to = y->data() + (n * g.groups * g.out + k) * ys;
    for (int64_t i = 0; i < ys; ++i) to[i] += part[static_cast<size_t>(i)];
  });
}

void BackwardData(const Geometry& g, const Floats& y, const Floats& w, Floats* x) {
  const int64_t xs = Geometry::Count(g.x), ws = Geometry::Count(g.w), ys = Geometry::Count(g.y);
  Floats part(static_cast<size_t>(xs));
  g.EachPlane([&](int64_t n, int64_t c, int64_t k, int64_t plane) {
    const float* from = y.data() + (n * g.groups * g.out + k) * ys;
    std::fill(part.begin(), part.end(), 0.0f);
    g.EachTap([&](const Three& tap, int64_t at) {
      const float weight = w[static_cast<size_t>(plane * ws + at)];
      g.EachRow(tap, [&](int64_t fx, int64_t fy, int64_t count, int64_t step) {
        for (int64_t i = 0; i < count; ++i) {
          part[static_cast<size_t>(fx + i * step)] += weight * from[fy + i];
        }
      });
    });
    float* to = x->data() + (n * g.groups * g.in + c) * xs;
    for (int64_t i = 0; i < xs; ++i) to[i] += part[static_cast<size_t>(i)];
  });
}

void BackwardFilter(const Geometry& g, const Floats& x, const Floats& y, Floats* w) {
  const int64_t xs = Geometry::Count(g.x), ws = Geometry::Count(g.w), ys = Geometry::Count(g.y);
  g.EachPlane([&](int64_t n, int64_t c, int64_t k, int64_t plane) {
    const float* left = x.data() + (n * g.groups * g.in + c) * xs;
    const float* right = y.data() + (n * g.groups * g.out + k) * ys;
    g.EachTap([&](const Three& tap, int64_t at) {
      float sum = 0;
      g.EachRow(tap, [&](int64_t fx, int64_t fy, int64_t count, int64_t step) {
        float row = 0;
        for (int64_t i = 0; i < count; ++i) row += left[fx + i * step] * right[fy + i];
        sum += row;
      });
      (*w)[static_cast<size_t>(plane * ws + at)] += sum;
    });
  });
}

float Function(const OperationValues& o, float x) {
  switch (o.mode) {
    case cudnn::kReluForward: {
      if (std::isnan(x)) return o.nan ? x : 0.0f;
      const auto low = static_cast<float>(o.low), slope = static_cast<float>(o.slope);
      const float y = x > low ? x : low + slope * (x - low);
      return o.bounded ? std::min(y, static_cast<float>(o.high)) : y;
    }
    case cudnn::kTanhForward:
      return std::tanh(x);
    case cudnn::kSigmoidForward:
      return 1 / (1 + std::exp(-x));
    case cudnn::kEluForward:
      return x < 0 ? static_cast<float>(o.elu) * std::expm1(x) : x;
    case cudnn::kGeluForward:
      return 0.5f * x * (1 + std::erf(x * 0.70710678f));
    case cudnn::kSwishForward:
      return x / (1 + std::exp(-static_cast<float>(o.swish) * x));
    case cudnn::kGeluTanhForward:
      return 0.5f * x * (1 + std::tanh(0.79788456f * (x + 0.044715f * x * x * x)));
    default:
      return std::numeric_limits<float>::quiet_NaN();
  }
}

void Pointwise(const Graph& graph, const OperationValues& o, const Floats& x, const Floats& b,
               Floats* y) {
  if (!o.has_b) {
    for (size_t i = 0; i < x.size(); ++i) (*y)[i] = Function(o, x[i]);
    return;
  }
  // b along y's axes: steps of 0 where it is repeated.
  TensorValues along = graph.tensors[o.y];
  int64_t step = 1;
  const std::vector<int64_t>& dims = graph.tensors[o.w].dims;
  for (size_t k = dims.size(); k-- > 0;) {
    along.strides[k] = dims[k] == 1 ? 0 : step;
    step *= dims[k];
  }
  EachElement(along, [&](int64_t i, int64_t place) {
    (*y)[static_cast<size_t>(i)] = x[static_cast<size_t>(i)] + b[static_cast<size_t>(place)];
  });
}

}  // namespace

void Run(const Graph& graph, int engine, const std::vector<void*>& at) {
  std::vector<Floats> values(graph.tensors.size());
  const auto read = [&](size_t k) -> const Floats& {
    if (values[k].empty()) values[k] = Load(graph.tensors[k], at[k]);
    return values[k];
  };
  for (const OperationValues& o : graph.operations) {
    Floats y(static_cast<size_t>(graph.tensors[o.result()].elements()), 0.0f);
    Floats left = read(o.result() == o.x ? o.y : o.x);
    Floats right;
    if (!o.pointwise() || o.has_b) right = read(o.result() == o.w ? o.y : o.w);
    if (!o.pointwise() && engine == kRounding) {
      RoundAll(&left);
      RoundAll(&right);
    }
    if (o.pointwise()) {
      Pointwise(graph, o, left, right, &y);
    } else if (o.type == cudnn::kOperationForward) {
      Forward(Geometry(graph, o), left, right, &y);
    } else if (o.type == cudnn::kOperationBackwardData) {
      BackwardData(Geometry(graph, o), left, right, &y);
    } else {
      BackwardFilter(Geometry(graph, o), left, right, &y);
    }
    values[o.result()] = std::move(y);
    const TensorValues& made = graph.tensors[o.result()];
    if (!made.is_virtual) Store(made, values[o.result()], at[o.result()]);
  }
}

}  // namespace ge_engines::gpu::sim::dnn
