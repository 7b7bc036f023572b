#include "plugins/cpu/native/conv/direct.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/kit/price.h"
#include "plugins/cpu/kit/thresholds.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/conv/algorithm.h"
#include "plugins/cpu/native/price.h"

namespace ge_engines::cpu::native {
namespace {

constexpr int64_t kSlack = 64;  // floats behind the copy: the kernel reads whole vectors
constexpr int64_t kBlock = 24;  // output channels: whole blocks of registers in each set

class DirectConv final : public Loop {
 public:
  DirectConv(const Simd& simd, const DirectPlan& plan, std::vector<PointwiseOp> post_ops, bool last)
      : simd_(simd), p_(plan), at_(plan.Reads()), post_ops_(std::move(post_ops)), last_(last) {}

  void Run(float* const* p) const override {
    const int64_t total = p_.s.images * p_.s.groups * p_.strips;
    ForJobs(p_.threads, total, p[4], p_.workspace_floats(),
            [&](int64_t i, float* buffer) { Strip(p, i, buffer); });
  }

 private:
  void Strip(float* const* p, int64_t i, float* buffer) const {
    const ConvShape& s = p_.s;
    const int64_t first = i % p_.strips * p_.lines, job = i / p_.strips;
    const int64_t lines = std::min(p_.lines, s.dst[1] - first), group = job % s.groups;
    for (int64_t c = 0; c < s.in; ++c) {
      Copy(p[1] + (job * s.in + c) * s.src_pixels(), first, buffer + c * p_.channel());
    }
    float* sums = buffer + s.in * p_.channel() + kSlack;
    const int64_t depth = s.in * s.taps(), n = (lines - 1) * p_.width + s.dst[2];
    for (int64_t k = 0; k < s.out; k += p_.block) {
      const int64_t some = std::min(p_.block, s.out - k), filter = group * s.out + k;
      simd_.shifted_product(p[2] + filter * depth, depth, buffer, at_.data(), p[3] + filter, sums,
                            p_.row(), some, n, depth);
      if (last_) {
        Turn(sums, some, n, p[0], job, k, first, lines);
        continue;
      }
      float* y = p[0] + (job * s.out + k) * s.dst_pixels() + first * s.dst[2];
      for (int64_t o = 0; o < some; ++o) {
        simd_.copy_rows(sums + o * p_.row(), p_.width, y + o * s.dst_pixels(), s.dst[2], lines,
                        s.dst[2]);
      }
      Finish(y, some, lines * s.dst[2]);
    }
  }

  // The posts, then the sums of some output channels from the k-th on as neighbours of each pixel.
  void Turn(float* sums, int64_t some, int64_t n, float* y, int64_t job, int64_t k, int64_t first,
            int64_t lines) const {
    const ConvShape& s = p_.s;
    for (const PointwiseOp& q : post_ops_) {
      for (int64_t o = 0; o < some; ++o) {
        simd_.unary(q.fn, q.a, q.b, sums + o * p_.row(), sums + o * p_.row(), n);
      }
    }
    const int64_t channels = s.groups * s.out, image = job / s.groups;
    float* to =
        y + (image * s.dst_pixels() + first * s.dst[2]) * channels + job % s.groups * s.out + k;
    for (int64_t l = 0; l < lines; ++l) {
      simd_.transpose(sums + l * p_.width, p_.row(), to + l * s.dst[2] * channels, channels, some,
                      s.dst[2]);
    }
  }

  // The posts, on n numbers of each of some output channels, while they are in the first cache.
  void Finish(float* y, int64_t some, int64_t n) const {
    if (n == p_.s.dst_pixels()) {
      n *= some;
      some = 1;
    }
    for (const PointwiseOp& q : post_ops_) {
      for (int64_t o = 0; o < some; ++o) {
        float* row = y + o * p_.s.dst_pixels();
        simd_.unary(q.fn, q.a, q.b, row, row, n);
      }
    }
  }

  // The lines of a channel that a strip reads: [line % stride][column % stride][line / stride]
  // [column / stride].
  void Copy(const float* x, int64_t first, float* to) const {
    const ConvShape& s = p_.s;
    if (s.stride[1] == 1 && s.stride[2] == 1) return CopyWhole(x, first - s.pad[1], to);
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

  // Without strides: a box from line `line` on.
  void CopyWhole(const float* x, int64_t line, float* to) const {
    const ConvShape& s = p_.s;
    const int64_t left = std::min(s.pad[2], p_.width), top = std::max<int64_t>(0, -line);
    const int64_t lines = std::min(p_.rows(), s.src[1] - line) - top;
    const int64_t n = std::min(s.src[2], p_.width - left);
    if (n < p_.width || lines < p_.rows()) std::fill(to, to + p_.channel(), 0.0f);
    if (lines <= 0 || n <= 0) return;
    simd_.copy_rows(x + (line + top) * s.src[2], s.src[2], to + top * p_.width + left, p_.width,
                    lines, n);
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
  const DirectPlan p_;
  const std::vector<int64_t> at_;  // p_.Reads()
  const std::vector<PointwiseOp> post_ops_;
  const bool last_;
};

}  // namespace

bool IsDepthwise(const ConvSpec& spec) {
  const ConvShape s(spec);
  return !spec.transposed && s.groups > 1 && s.in == 1 && spec.src.size() <= 4;
}

// Measured on one thread of an AMD EPYC, 55 shapes of 1 to 512 channels: see
// docs/decisions/0023-direct-convolutions.md. Columns between the lines of a strip are computed for
// nothing: at four times the result's width gathering wins under AVX2 and SSE4.2.
bool IsDirect(const ConvSpec& spec, const Machine& machine) {
  if (spec.transposed || spec.src.size() > 4) return false;
  if (IsDepthwise(spec)) return true;
  const DirectPlan plan(spec, machine);
  const int64_t gathered = plan.s.taps() * plan.lines * plan.s.dst[2];
  return plan.channel() < gathered && plan.width <= 3 * plan.s.dst[2];
}

DirectPlan::DirectPlan(const ConvSpec& spec, const Machine& machine)
    : s(spec), threads(machine.threads) {
  width =
      CeilDiv((s.dst[2] - 1) * s.stride[2] + (s.kernel[2] - 1) * s.dilation[2] + 1, s.stride[2]);
  block = std::min(kBlock, s.out);
  lines = s.dst[1];
  while (lines > 1 && static_cast<int64_t>(workspace_floats()) > kDirectFloats)
    lines = (lines + 1) / 2;
  strips = CeilDiv(s.dst[1], lines);
  if (s.images * s.groups < threads) strips = CeilDiv(strips, threads) * threads;
  lines = CeilDiv(s.dst[1], strips);
  strips = CeilDiv(s.dst[1], lines);
}

std::vector<int64_t> DirectPlan::Reads() const {
  std::vector<int64_t> at;
  for (int64_t i = 0; i < s.in * s.kernel[1] * s.kernel[2]; ++i) {
    const int64_t y = i / s.kernel[2] % s.kernel[1] * s.dilation[1];
    const int64_t x = i % s.kernel[2] * s.dilation[2];
    const int64_t phase = y % s.stride[1] * s.stride[2] + x % s.stride[2];
    at.push_back(i / s.taps() * channel() + (phase * rows() + y / s.stride[1]) * width +
                 x / s.stride[2]);
  }
  return at;
}

int64_t DirectPlan::rows() const {
  return CeilDiv((lines - 1) * s.stride[1] + (s.kernel[1] - 1) * s.dilation[1] + 1, s.stride[1]);
}
int64_t DirectPlan::channel() const { return s.stride[1] * s.stride[2] * rows() * width; }
int64_t DirectPlan::row() const { return CeilDiv(lines * width, 16) * 16; }

uint64_t DirectPlan::workspace_floats() const {
  const int64_t n = s.in * channel() + kSlack + block * row() + kSlack;
  return static_cast<uint64_t>((n + 15) / 16 * 16);
}

namespace {

double Count(int64_t n) { return static_cast<double>(n); }

// One strip of a depth-wise convolution.
double DepthwiseNs(const DirectPlan& p, const Machine& m) {
  const ConvShape& s = p.s;
  const double sums = Count(s.out * p.lines * p.width * s.taps()) * ByIsa(m, 0.025, 0.05, 0.15);
  const double copy = Count(p.channel()) * (s.stride[2] == 1 ? 0.05 : 0.35);
  const double calls = Count(s.stride[1] * s.stride[2] * p.rows() + s.out * p.lines) * 4 + 15;
  return sums + copy + calls;
}

// One strip of another one. Fitted on one thread of an AMD EPYC, 70 shapes with 1 to 512 channels
// and 1 to 169 taps: 1.06 (SSE4.2) to 1.12 (AVX2) off on average, by more than 1.4 where the lines
// of a strip fill one vector with AVX2. The result's way to memory is not in it.
double DenseNs(const DirectPlan& p, const Machine& m) {
  const ConvShape& s = p.s;
  const int64_t lanes = m.isa >= GE_ISA_AVX512 ? 16 : m.isa == GE_ISA_AVX2 ? 8 : 4;
  const int64_t vectors = CeilDiv((p.lines - 1) * p.width + s.dst[2], lanes);
  // A vector read serves up to 8 output channels, or 6.
  const double reads = Count(CeilDiv(s.out, lanes == 16 ? 8 : 6)) * ByIsa(m, 0.33, 0.15, 0);
  const double sums =
      Count(vectors * s.in * s.taps()) * (Count(s.out) * ByIsa(m, 0.182, 0.158, 0.5) + reads);
  const bool picks = s.stride[1] > 1 || s.stride[2] > 1;
  const double copy =
      Count(s.in * p.channel()) * (picks ? ByIsa(m, 0.53, 0.5, 1) : ByIsa(m, 0.075, 0.1, 0.3));
  const double calls =
      Count(s.in * s.stride[1] * s.stride[2] * p.rows() + s.out * p.lines) * 1.1 + 27;
  // What all other convolutions ask of what they take on that processor (docs/decisions/0012),
  // which shipped corrections undo.
  return (sums + copy + calls) * ByIsa(m, 1.75, 1.7, 1);
}

}  // namespace

double DirectPlan::ns(const Machine& machine) const {
  const double strip =
      s.groups > 1 && s.in == 1 ? DepthwiseNs(*this, machine) : DenseNs(*this, machine);
  return Count(s.images * s.groups * strips) * strip / machine.compute;
}

std::unique_ptr<Loop> DirectLoop(const Simd& simd, const DirectPlan& plan,
                                 std::vector<PointwiseOp> post_ops, bool channels_last) {
  return std::make_unique<DirectConv>(simd, plan, std::move(post_ops), channels_last);
}

bool LeavesChannelsLast(const ConvSpec& spec) {
  return spec.groups == 1 && spec.dst[1] >= 16 &&
         Product(Dims(spec.dst.begin() + 2, spec.dst.end())) >= 256;
}

Price DirectPrice(const Unit& unit, const ConvSpec& spec, const Parser& parser,
                  const Machine& machine) {
  const DirectPlan plan(spec, machine);
  return SumsPrice(unit, parser, machine, plan.ns(machine), Finish::kInSums,
                   4 * plan.workspace_floats());
}

namespace {

class Direct final : public ConvAlgorithm {
 public:
  bool Takes(const ConvSpec& spec, bool, const Machine& machine) const override {
    return IsDirect(spec, machine);
  }
  bool Fits(const Unit&, const ConvSpec& c, const Parser&, const Machine& m,
            Why* why) const override {
    return BuffersFit(4 * DirectPlan(c, m).workspace_floats(), m.threads, why);
  }
  std::optional<std::pair<LayoutTag, LayoutTag>> PreferredLayouts(
      const ConvSpec& c) const override {
    if (!LeavesChannelsLast(c)) return std::nullopt;
    return std::pair(LayoutTag{}, LayoutTag{0, true});
  }
  bool PlainOutput() const override { return true; }
  Price PriceOf(const Unit& unit, const ConvSpec& spec, const Parser& parser,
                const Machine& machine) const override {
    return DirectPrice(unit, spec, parser, machine);
  }
  void Emit(const Unit& unit, const ConvSpec& spec, NativeBuilder* builder) const override {
    const DirectPlan plan(spec, builder->machine());
    const uint64_t floats =
        plan.workspace_floats() * static_cast<uint64_t>(builder->machine().threads);
    builder->NeedWorkspace(floats * sizeof(float));
    const BufferRef x = builder->GetDense(unit.in[0]).place,
                    w = builder->GetDense(unit.in[1]).place;
    const BufferRef bias = unit.in.size() > 2 ? builder->GetDense(unit.in[2]).place
                                              : builder->BiasOf(unit, spec.dst[1]);
    const Layout plain = Layout::Dense(unit.dims);
    const bool last = LeavesChannelsLast(spec) && builder->Leaf(unit.out[0], plain) == nullptr;
    std::vector<PointwiseOp> post_ops = Builder::FirstPostOps(unit);
    const size_t taken = post_ops.size();
    builder->AddTiled(unit, taken, last ? Layout::ChannelsLast(unit.dims) : plain,
                      (IsDepthwise(spec) ? "depthwise " : "direct ") + builder->Sizes(unit.dims),
                      DirectLoop(builder->simd(), plan, std::move(post_ops), last),
                      {x, w, bias, builder->Workspace()});
  }
};

}  // namespace

const ConvAlgorithm& conv_direct() {
  static const Direct kAlgorithm;
  return kAlgorithm;
}

}  // namespace ge_engines::cpu::native
