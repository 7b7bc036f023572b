// WindowAxis: where each sliding window begins along one axis, its taps inside x, and the number of
// elements in its mean. Plain values; any thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ge_engines::cpu::native {

struct WindowAxis {
  struct Shape {
    int64_t dim = 1, result = 1, window = 1, stride = 1, dilation = 1, pad_begin = 0, pad_end = 0;
    bool count_pad = false;  // means: padding counts as zeros (what ceil mode adds never counts)
  };
  explicit WindowAxis(const Shape& shape)
      : dim(shape.dim), result(shape.result), stride(shape.stride), dilation(shape.dilation) {
    for (auto* list : {&start, &first, &end, &count}) list->reserve(static_cast<size_t>(result));
    for (int64_t o = 0; o < result; ++o) {
      const int64_t at = o * stride - shape.pad_begin;
      start.push_back(at);
      if (at >= 0 && at + (shape.window - 1) * dilation < dim) {  // nearly all: no divisions
        first.push_back(0);
        end.push_back(shape.window);
        count.push_back(shape.window);
        continue;
      }
      first.push_back(Tap(at, 0, shape.window));
      end.push_back(std::max(first.back(), Tap(at, dim, shape.window)));
      const int64_t padded =
          Tap(at, dim + shape.pad_end, shape.window) - Tap(at, -shape.pad_begin, shape.window);
      count.push_back(shape.count_pad ? padded : end.back() - first.back());
    }
  }

  // Neighbours in the result: their windows have the same taps in x.
  struct Run {
    int64_t first, n;
  };
  std::vector<Run> Runs() const {
    std::vector<Run> runs;
    for (int64_t o = 0; o < result; ++o) {
      const auto i = static_cast<size_t>(o);
      const bool same =
          o > 0 && first[i] == first[i - 1] && end[i] == end[i - 1] && count[i] == count[i - 1];
      if (same) {
        ++runs.back().n;
      } else {
        runs.push_back({o, 1});
      }
    }
    return runs;
  }

  int64_t dim, result, stride, dilation;
  std::vector<int64_t> start, first, end, count;  // by result index; taps [first, end)

 private:
  // The first tap at or behind position `at`, for a window from s on; at most `taps`.
  int64_t Tap(int64_t s, int64_t at, int64_t taps) const {
    if (s >= at) return 0;
    return std::min((at - s + dilation - 1) / dilation, taps);
  }
};

}  // namespace ge_engines::cpu::native
