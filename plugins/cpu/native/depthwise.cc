#include "plugins/cpu/native/depthwise.h"

#include <algorithm>
#include <cstring>

#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/kit/price.h"

namespace ge_native {
namespace {

constexpr int64_t kSlack = 64;  // floats: kernels read and write whole vectors, four at a time

int64_t CeilDiv(int64_t n, int64_t d) { return (n + d - 1) / d; }

class DepthwiseConv final : public Loop {
 public:
  DepthwiseConv(const Simd& simd, const DepthwisePlan& plan) : simd_(simd), p_(plan) {}

  void Run(float* const* p) const override {
    const int64_t total = p_.s.images * p_.s.groups * p_.strips;
    ForJobs(p_.threads, total, p[4], p_.workspace_floats(),
            [&](int64_t i, float* buffer) { Strip(p, i, buffer); });
  }

 private:
  void Strip(float* const* p, int64_t i, float* buffer) const {
    const ConvShape& s = p_.s;
    const int64_t first = i % p_.strips * p_.lines, channel = i / p_.strips;
    const int64_t lines = std::min(p_.lines, s.dst[1] - first), group = channel % s.groups;
    Copy(p[1] + channel * s.src_pixels(), first, buffer);
    float* sums = buffer + s.stride[1] * s.stride[2] * p_.rows() * p_.width + kSlack;
    for (int64_t k = 0; k < s.out; ++k) {
      const int64_t filter = group * s.out + k;
      simd_.weigh_taps(buffer, p_.at.data(), p[2] + filter * s.taps(), s.taps(), p[3][filter], sums,
                       (lines - 1) * p_.width + s.dst[2]);
      float* y = p[0] + (channel * s.out + k) * s.dst_pixels() + first * s.dst[2];
      for (int64_t r = 0; r < lines; ++r) {
        std::memcpy(y + r * s.dst[2], sums + r * p_.width,
                    static_cast<size_t>(s.dst[2]) * sizeof(float));
      }
    }
  }

  // The lines that a strip reads: [line % stride][column % stride][line / stride][column / stride].
  void Copy(const float* x, int64_t first, float* to) const {
    const ConvShape& s = p_.s;
    const int64_t plane = p_.rows() * p_.width;
    for (int64_t q = 0; q < s.stride[1] * p_.rows(); ++q) {
      const int64_t line = first * s.stride[1] + q - s.pad[1];
      float* row = to + q % s.stride[1] * s.stride[2] * plane + q / s.stride[1] * p_.width;
      const bool inside = line >= 0 && line < s.src[1];
      for (int64_t phase = 0; phase < s.stride[2]; ++phase, row += plane) {
        CopyLine(inside ? x + line * s.src[2] : nullptr, phase - s.pad[2], row);
      }
    }
  }

  // Columns at + i * stride of a line, zeros where there are none.
  void CopyLine(const float* line, int64_t at, float* to) const {
    const int64_t step = p_.s.stride[2], n = p_.width;
    const int64_t begin = std::clamp<int64_t>(at >= 0 ? 0 : CeilDiv(-at, step), 0, n);
    const int64_t end =
        line == nullptr ? begin : std::clamp(CeilDiv(p_.s.src[2] - at, step), begin, n);
    std::fill(to, to + begin, 0.0f);
    if (step == 1) {
      if (end > begin) {
        std::memcpy(to + begin, line + at + begin,
                    static_cast<size_t>(end - begin) * sizeof(float));
      }
    } else {
      for (int64_t i = begin; i < end; ++i) to[i] = line[at + i * step];
    }
    std::fill(to + end, to + n, 0.0f);
  }

  const Simd& simd_;
  const DepthwisePlan p_;
};

}  // namespace

bool IsDepthwise(const ConvSpec& c) {
  const ConvShape s(c);
  return !c.transposed && s.groups > 1 && s.in == 1 && c.src.size() <= 4;
}

DepthwisePlan::DepthwisePlan(const ConvSpec& c, const Machine& m) : s(c), threads(m.threads) {
  width =
      CeilDiv((s.dst[2] - 1) * s.stride[2] + (s.kernel[2] - 1) * s.dilation[2] + 1, s.stride[2]);
  lines = s.dst[1];
  while (lines > 1 && static_cast<int64_t>(workspace_floats()) > kDepthwiseFloats)
    lines = (lines + 1) / 2;
  if (s.images * s.groups < threads) lines = std::min(lines, CeilDiv(s.dst[1], threads));
  strips = CeilDiv(s.dst[1], lines);
  for (int64_t b = 0; b < s.kernel[1]; ++b) {
    for (int64_t t = 0; t < s.kernel[2]; ++t) {
      const int64_t y = b * s.dilation[1], x = t * s.dilation[2];
      const int64_t phase = y % s.stride[1] * s.stride[2] + x % s.stride[2];
      at.push_back((phase * rows() + y / s.stride[1]) * width + x / s.stride[2]);
    }
  }
}

int64_t DepthwisePlan::rows() const {
  return CeilDiv((lines - 1) * s.stride[1] + (s.kernel[1] - 1) * s.dilation[1] + 1, s.stride[1]);
}

uint64_t DepthwisePlan::workspace_floats() const {
  const int64_t n = s.stride[1] * s.stride[2] * rows() * width + lines * width + 2 * kSlack;
  return static_cast<uint64_t>((n + 15) / 16 * 16);
}

double DepthwisePlan::ns(const Machine& m) const {
  const auto count = [](int64_t n) { return static_cast<double>(n); };
  const double all = count(s.images * s.groups * strips);
  const double sums = count(s.out * lines * width * s.taps()) * ByIsa(m, 0.025, 0.05, 0.15);
  const double copy =
      count(s.stride[1] * s.stride[2] * rows() * width) * (s.stride[2] == 1 ? 0.05 : 0.35);
  const double calls = count(s.stride[1] * s.stride[2] * rows() + s.out * lines) * 4 + 15;
  return all * (sums + copy + calls) / m.compute;
}

std::unique_ptr<Loop> DepthwiseLoop(const Simd& simd, const DepthwisePlan& plan) {
  return std::make_unique<DepthwiseConv>(simd, plan);
}

}  // namespace ge_native
