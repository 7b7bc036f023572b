// Convolutions of one to three spatial axes, plain and transposed, as products of the filters with
// columns of what each window sees, a few windows at a time. Images in NC1HWC0 are summed in their
// blocks: sixteen channels deep at each place of the window.
#include <algorithm>
#include <array>

#include "plugins/ascend/sim/operators/checker.h"
#include "plugins/ascend/sim/operators/multiply.h"
#include "plugins/ascend/sim/operators/numbers.h"

namespace ge_engines::ascend::sim {
namespace {

// Positions of the arguments.
enum : size_t {
  kInput,
  kWeight,
  kBias,
  kStride,
  kPadding,
  kDilation,
  kTransposed,
  kMore,
  kGroups,
  kOut,
  kMath
};

constexpr int64_t kWindows = 64;  // at a time
using Three = std::array<int64_t, 3>;

// With axes of one in front of those that are given.
struct Geometry {
  int64_t images = 0, groups = 1, in = 0, out = 0;  // channels of one group
  Three x = {1, 1, 1}, w = {1, 1, 1}, y = {1, 1, 1};
  Three stride = {1, 1, 1}, padding = {0, 0, 0}, dilation = {1, 1, 1};
  bool transposed = false, blocked = false;

  explicit Geometry(const Arguments& given) {
    const Dims &xd = given[kInput].tensor.dims, &wd = given[kWeight].tensor.dims,
               &yd = given[kOut].tensor.dims;
    transposed = BoolOf(given, kTransposed);
    blocked = given[kInput].tensor.format == acl::kNc1hwc0;
    groups = IntegerOf(given, kGroups);
    images = xd[0];
    in = xd[1] / groups;
    out = yd[1] / groups;
    const size_t axes = xd.size() - 2, front = 3 - axes;
    for (size_t k = 0; k < axes; ++k) {
      x[front + k] = xd[k + 2];
      w[front + k] = wd[k + 2];
      y[front + k] = yd[k + 2];
      stride[front + k] = given[kStride].ints[k];
      padding[front + k] = given[kPadding].ints[k];
      dilation[front + k] = given[kDilation].ints[k];
    }
  }
  static int64_t Area(const Three& dims) { return dims[0] * dims[1] * dims[2]; }
  int64_t windows() const { return Area(y); }
  int64_t taps() const { return Area(w); }
  int64_t depth() const { return in * taps(); }
  // Columns of one piece.
  int64_t piece() const { return std::min(kWindows, PanelColumns(windows())); }
  bool empty() const { return images * groups * out * windows() * depth() == 0; }

  // The place in a plane of x that a window sees at a place of its own; -1: none.
  int64_t Seen(int64_t window, int64_t tap) const {
    int64_t place = 0, step = 1;
    for (size_t k = 3; k-- > 0;) {
      const int64_t at = window % y[k], offset = tap % w[k] * dilation[k];
      window /= y[k];
      tap /= w[k];
      int64_t seen = at * stride[k] - padding[k] + offset;
      if (transposed) {
        const int64_t ahead = at + padding[k] - offset;
        if (ahead < 0 || ahead % stride[k] != 0) return -1;
        seen = ahead / stride[k];
      }
      if (seen < 0 || seen >= x[k]) return -1;
      place += seen * step;
      step *= x[k];
    }
    return place;
  }
};

// The order of the depth: channels of a group, each with all its taps; or blocks of sixteen
// channels.
struct Step {
  int64_t channel, tap;
};
std::vector<Step> StepsOf(const Geometry& g, int64_t group) {
  std::vector<Step> steps;
  const int64_t first = group * g.in;
  for (int64_t begin = 0; begin < g.in;) {
    int64_t end = begin + 1;
    if (g.blocked) end = std::min(g.in, (first + begin) / kBlock * kBlock + kBlock - first);
    for (int64_t tap = 0; tap < g.taps(); ++tap) {
      for (int64_t channel = begin; channel < end; ++channel) steps.push_back({channel, tap});
    }
    begin = end;
  }
  return steps;
}

std::vector<float> FiltersOf(const Geometry& g, int64_t group, const std::vector<Step>& steps,
                             const std::vector<float>& weight) {
  std::vector<float> filters;
  filters.reserve(static_cast<size_t>(g.out * g.depth()));
  for (int64_t o = 0; o < g.out; ++o) {
    for (const Step& s : steps) {
      const int64_t pair = g.transposed ? (group * g.in + s.channel) * g.out + o
                                        : (group * g.out + o) * g.in + s.channel;
      filters.push_back(weight[static_cast<size_t>(pair * g.taps() + s.tap)]);
    }
  }
  return filters;
}

// What windows from `first` on see of a group's channels, as panels.
void FillColumns(const Geometry& g, const float* image, const std::vector<Step>& steps,
                 int64_t first, float* panels) {
  const int64_t piece = g.piece(), end = std::min(g.windows(), first + piece) - first;
  std::vector<int64_t> seen(static_cast<size_t>(g.taps() * piece), -1);
  for (int64_t tap = 0; tap < g.taps(); ++tap) {
    for (int64_t i = 0; i < end; ++i) {
      seen[static_cast<size_t>(tap * piece + i)] = g.Seen(first + i, tap);
    }
  }
  const auto depth = static_cast<int64_t>(steps.size());
  for (int64_t k = 0; k < depth; ++k) {
    const Step& s = steps[static_cast<size_t>(k)];
    const float* plane = image + s.channel * Geometry::Area(g.x);
    const int64_t* from = seen.data() + s.tap * piece;
    for (int64_t i = 0; i < piece; i += kPanel) {
      float* to = panels + i * depth + k * kPanel;
      for (int64_t j = 0; j < kPanel; ++j) to[j] = from[i + j] < 0 ? 0.0f : plane[from[i + j]];
    }
  }
}

void RoundAll(std::vector<float>* values) {
  for (float& x : *values) x = FloatOfHalf(HalfOf(x));
}

// The panels are the workspace.
void RunConvolution(const Arguments& given, void* workspace) {
  const Geometry g(given);
  const acl::Tensor& result = given[kOut].tensor;
  std::vector<float> out(static_cast<size_t>(Count(result.dims)), 0.0f);
  std::vector<float> input = Load<float>(given[kInput].tensor),
                     weight = Load<float>(given[kWeight].tensor);
  if (IntegerOf(given, kMath) == kUseHalf && given[kInput].tensor.type == acl::kF32) {
    RoundAll(&input);
    RoundAll(&weight);
  }
  auto* panels = static_cast<float*>(workspace);
  for (int64_t group = 0; group < g.groups && !g.empty(); ++group) {
    const std::vector<Step> steps = StepsOf(g, group);
    const std::vector<float> filters = FiltersOf(g, group, steps, weight);
    for (int64_t n = 0; n < g.images; ++n) {
      const float* image = input.data() + (n * g.groups + group) * g.in * Geometry::Area(g.x);
      float* to = out.data() + (n * g.groups + group) * g.out * g.windows();
      for (int64_t first = 0; first < g.windows(); first += g.piece()) {
        FillColumns(g, image, steps, first, panels);
        Multiply(filters.data(), panels, g.out, std::min(g.piece(), g.windows() - first), g.depth(),
                 to + first, g.windows());
      }
    }
  }
  if (given[kBias].given) {
    const std::vector<float> bias = Load<float>(given[kBias].tensor);
    const size_t area = static_cast<size_t>(g.windows());
    for (size_t i = 0; i < out.size(); ++i) out[i] += bias[i / area % bias.size()];
  }
  Store(result, out);
}

uint64_t ConvolutionWorkspace(const Arguments& given) {
  const Geometry g(given);
  return g.empty() ? 0 : static_cast<uint64_t>(g.depth() * g.piece()) * sizeof(float);
}

// ---- what is refused ---------------------------------------------------------------------------

void AskNumbers(const Arguments& given, Checker* c) {
  const size_t axes = given[kInput].tensor.dims.size() - 2;
  c->HasInts(kStride, "stride", axes, 1).HasInts(kPadding, "padding", axes, 0);
  c->HasInts(kDilation, "dilation", axes, 1).HasInts(kMore, "outputPadding", axes, 0);
  const int64_t math = IntegerOf(given, kMath), groups = IntegerOf(given, kGroups);
  c->That(math >= kKeepType && math <= kUseHalf,
          "cubeMathType " + std::to_string(math) + ", wanted 0 to 2");
  c->That(groups >= 1, "groups: " + std::to_string(groups));
  for (size_t k = 0; k < axes && c->ok(); ++k) {
    const int64_t more = given[kMore].ints[k];
    const int64_t end =
        BoolOf(given, kTransposed) ? std::max(given[kStride].ints[k], given[kDilation].ints[k]) : 1;
    c->That(more < end, "outputPadding: " + TextOf(given[kMore].ints));
  }
}

// Of filters that fit the input, the result's dims.
Dims ResultOf(const Arguments& given, Checker* c) {
  const Dims &x = c->dims(kInput), &w = c->dims(kWeight);
  const int64_t groups = IntegerOf(given, kGroups);
  const bool transposed = BoolOf(given, kTransposed);
  const std::string fit = "weight: dims " + TextOf(w) + " do not fit " + TextOf(x) + " in " +
                          std::to_string(groups) + " groups";
  c->That(w.size() == x.size() && x[1] % groups == 0 && w[0] % groups == 0 &&
              (transposed ? w[0] == x[1] : w[1] * groups == x[1]),
          fit);
  if (!c->ok()) return {};
  Dims y = {x[0], transposed ? w[1] * groups : w[0]};
  for (size_t k = 0; k + 2 < x.size(); ++k) {
    const int64_t reach = given[kDilation].ints[k] * (w[k + 2] - 1) + 1, size = x[k + 2],
                  stride = given[kStride].ints[k], pad = given[kPadding].ints[k];
    const int64_t room = size + 2 * pad - reach;
    c->That(w[k + 2] > 0 && (transposed || room >= 0), "weight: a window wider than the image");
    y.push_back(transposed ? (size - 1) * stride - 2 * pad + reach + given[kMore].ints[k]
                           : room / stride + 1);
  }
  return y;
}

std::string CheckConvolution(const Arguments& given) {
  Checker c(given);
  c.Tensor(kInput, "input", kReals, kImage | kBlocked).HasRank(kInput, 3, 5);
  c.Tensor(kWeight, "weight", kReals, kImage).SameType(kWeight, kInput);
  c.Optional(kBias, "bias", kReals).SameType(kBias, kInput);
  c.Tensor(kOut, "out", kReals, kImage | kBlocked).SameType(kOut, kInput);
  c.SameFormat(kOut, kInput);
  if (!c.ok()) return c.fault();
  AskNumbers(given, &c);
  if (!c.ok()) return c.fault();
  const Dims wanted = ResultOf(given, &c);
  if (c.ok()) c.HasDims(kOut, wanted).HasDims(kBias, {wanted[1]});
  return c.fault();
}

constexpr Operation kConvolutions[] = {
    {"Convolution", CheckConvolution, ConvolutionWorkspace, RunConvolution},
};

}  // namespace

std::span<const Operation> ConvolutionOperations() { return kConvolutions; }

}  // namespace ge_engines::ascend::sim
