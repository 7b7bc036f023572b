// Independent answers of convolutions and pools, in plain loops written from ONNX's text.
#pragma once

#include <limits>

#include "tools/ge_test/oracle/plain.h"

namespace ge::test {

inline std::vector<double> Doubles(const HostTensor& tensor) {
  std::vector<double> v(static_cast<size_t>(tensor.count()));
  for (size_t i = 0; i < v.size(); ++i) v[i] = ElementAsDouble(tensor, static_cast<int64_t>(i));
  return v;
}

inline int64_t ProductOf(const Dims& dims) {
  int64_t n = 1;
  for (const int64_t d : dims) n *= d;
  return n;
}

// The windows of a convolution or pool over axes of these sizes.
struct PlainWindows {
  Dims size, kernel, strides, dilations, begin, end, out;

  PlainWindows(const RandomCase& sample, const Dims& sizes, const Dims& taps)
      : size(sizes), kernel(taps), begin(sizes.size()), end(sizes.size()), out(sizes.size()) {
    const size_t n = size.size();
    strides = IntsOr(sample, "strides", Dims(n, 1));
    dilations = IntsOr(sample, "dilations", Dims(n, 1));
    const Dims pads = IntsOr(sample, "pads", Dims(2 * n, 0));
    const std::string automatic = TextOr(sample, "auto_pad", "NOTSET");
    const bool up = IntOr(sample, "ceil_mode", 0) != 0;
    for (size_t i = 0; i < n; ++i) {
      const int64_t reach = (kernel[i] - 1) * dilations[i] + 1;
      if (automatic.starts_with("SAME")) {
        // As many windows as strides in the axis. The padding is shared by both sides; an odd one
        // goes to the end (UPPER) or the beginning (LOWER).
        out[i] = (size[i] + strides[i] - 1) / strides[i];
        const int64_t all = std::max<int64_t>(0, (out[i] - 1) * strides[i] + reach - size[i]);
        begin[i] = automatic == "SAME_UPPER" ? all / 2 : all - all / 2;
        end[i] = all - begin[i];
        continue;
      }
      begin[i] = automatic == "VALID" ? 0 : pads[i];
      end[i] = automatic == "VALID" ? 0 : pads[i + n];
      const int64_t room = size[i] + begin[i] + end[i] - reach;
      out[i] = (up ? room + strides[i] - 1 : room) / strides[i] + 1;
      // Leaves out a window that begins behind the axis and its padding in front.
      if (up && (out[i] - 1) * strides[i] >= size[i] + begin[i]) --out[i];
    }
  }

  // Where tap `k` of window `dims` lies on the axes.
  Dims At(const Dims& dims, const Dims& k) const {
    Dims at(dims.size());
    for (size_t i = 0; i < at.size(); ++i) {
      at[i] = dims[i] * strides[i] - begin[i] + k[i] * dilations[i];
    }
    return at;
  }
  bool IsInside(const Dims& at) const {
    for (size_t i = 0; i < at.size(); ++i) {
      if (at[i] < 0 || at[i] >= size[i]) return false;
    }
    return true;
  }
  bool IsPadded(const Dims& at) const {
    for (size_t i = 0; i < at.size(); ++i) {
      if (at[i] < -begin[i] || at[i] >= size[i] + end[i]) return false;
    }
    return true;
  }
};

inline Dims SpatialOf(const Dims& dims) { return Dims(dims.begin() + 2, dims.end()); }

inline Dims WithHead(int64_t left, int64_t right, const Dims& tail) {
  Dims dims = {left, right};
  dims.insert(dims.end(), tail.begin(), tail.end());
  return dims;
}

// y = f(convolution of inputs 0 and 1 plus input 2, number of the element).
template <typename F>
bool PlainConvolution(const RandomCase& sample, HostTensor* out, F call) {
  const HostTensor &x = *sample.inputs[0].tensor, &w = *sample.inputs[1].tensor;
  const PlainWindows windows(sample, SpatialOf(x.dims), SpatialOf(w.dims));
  if (out->dims != WithHead(x.dims[0], w.dims[0], windows.out)) return false;
  const HostTensor* bias = Maybe(sample, 2);
  const int64_t group = IntOr(sample, "group", 1), channels = w.dims[0], in = w.dims[1];
  const int64_t area = ProductOf(windows.size), taps = ProductOf(windows.kernel);
  const std::vector<double> xs = Doubles(x), ws = Doubles(w);
  int64_t i = 0;
  for (int64_t plane = 0; plane < x.dims[0] * channels; ++plane) {
    const int64_t n = plane / channels, o = plane % channels;
    const int64_t first = n * x.dims[1] + o / (channels / group) * in;
    Index window(windows.out);
    for (int64_t k = ProductOf(windows.out); k > 0; --k, ++i, window.Next()) {
      double sum = bias != nullptr ? ElementAsDouble(*bias, o) : 0;
      Index tap(windows.kernel);
      for (int64_t t = 0; t < taps; ++t, tap.Next()) {
        const Dims at = windows.At(window.at, tap.at);
        if (!windows.IsInside(at)) continue;
        const int64_t from = Flat(windows.size, at);
        for (int64_t ci = 0; ci < in; ++ci) {
          sum += xs[static_cast<size_t>((first + ci) * area + from)] *
                 ws[static_cast<size_t>((o * in + ci) * taps + t)];
        }
      }
      SetElement(out, i, call(sum, i));
    }
  }
  return true;
}

// For each window of each plane, f(indices of its taps inside the plane, taps inside the padded
// one) returns element i.
template <typename F>
bool PlainPool(const RandomCase& sample, const Dims& kernel, HostTensor* out, F call) {
  const HostTensor& x = *sample.inputs[0].tensor;
  const PlainWindows windows(sample, SpatialOf(x.dims), kernel);
  if (out->dims != WithHead(x.dims[0], x.dims[1], windows.out)) return false;
  const int64_t area = ProductOf(windows.size);
  int64_t i = 0;
  for (int64_t plane = 0; plane < x.dims[0] * x.dims[1]; ++plane) {
    Index window(windows.out);
    for (int64_t k = ProductOf(windows.out); k > 0; --k, ++i, window.Next()) {
      std::vector<int64_t> inside;
      int64_t padded = 0;
      Index tap(kernel);
      for (int64_t t = ProductOf(kernel); t > 0; --t, tap.Next()) {
        const Dims at = windows.At(window.at, tap.at);
        padded += windows.IsPadded(at);
        if (windows.IsInside(at)) inside.push_back(plane * area + Flat(windows.size, at));
      }
      call(i, inside, padded);
    }
  }
  return true;
}

// The first greatest element; -1 where there is none.
inline int64_t GreatestOf(const HostTensor& x, const std::vector<int64_t>& places) {
  int64_t best = -1;
  for (const int64_t at : places) {
    if (best < 0 || ElementAsDouble(x, at) > ElementAsDouble(x, best)) best = at;
  }
  return best;
}

// MaxPool, over windows of these sizes.
inline bool PlainGreatest(const RandomCase& sample, const Dims& kernel, HostTensor* out) {
  const HostTensor& x = *sample.inputs[0].tensor;
  return PlainPool(sample, kernel, out,
                   [&](int64_t i, const std::vector<int64_t>& inside, int64_t) {
                     const int64_t best = GreatestOf(x, inside);
                     if (best >= 0) return Copy(x, best, out, i);
                     SetElement(out, i, -std::numeric_limits<double>::infinity());
                   });
}

// AveragePool, over windows of these sizes; `all` counts taps in the padding too.
inline bool PlainAverage(const RandomCase& sample, const Dims& kernel, bool all, HostTensor* out) {
  const HostTensor& x = *sample.inputs[0].tensor;
  const auto mean = [&](int64_t i, const std::vector<int64_t>& inside, int64_t padded) {
    double sum = 0;
    for (const int64_t at : inside) sum += ElementAsDouble(x, at);
    const auto count = static_cast<double>(all ? padded : static_cast<int64_t>(inside.size()));
    SetElement(out, i, count > 0 ? sum / count : 0);
  };
  return PlainPool(sample, kernel, out, mean);
}

}  // namespace ge::test
