#include "plugins/cpu/kit/conv_loop.h"

#include <algorithm>
#include <cstring>

#include "plugins/cpu/kit/loop_parts.h"

namespace ge_engines::cpu {
namespace {

// Of the positions at + i * step with i in [0, n): those in [0, size) have i in [begin, end).
struct Inside {
  int64_t begin, end;
  Inside(int64_t at, int64_t step, int64_t n, int64_t size) {
    begin = std::clamp<int64_t>(at >= 0 ? 0 : (-at + step - 1) / step, 0, n);
    end = std::clamp<int64_t>(at >= size ? 0 : (size - at + step - 1) / step, begin, n);
  }
};

class PieceLoop : public Loop {
 public:
  PieceLoop(MultiplyTile multiply, const ConvShape& s, const Im2colTiles& pieces, int threads,
            bool rows, ConvFinish finish)
      : multiply_(std::move(multiply)),
        s_(s),
        pieces_(pieces),
        rows_(rows),
        finish_(std::move(finish)),
        threads_(threads) {}

  void Run(float* const* p) const override {
    const int64_t total = s_.images * s_.groups * pieces_.count;
    ForJobs(threads_, total, p[3], pieces_.bytes() / sizeof(float),
            [&](int64_t i, float* buffer) { Piece(p, i, buffer); });
  }

 protected:
  // Items [first, first + n) of Pieces, of one image and group. bias: nullptr where there is none.
  virtual void Do(const float* x, const float* w, const float* bias, float* y, float* buffer,
                  int64_t first, int64_t n) const = 0;

  const MultiplyTile multiply_;
  const ConvShape s_;
  const Im2colTiles pieces_;
  const bool rows_;
  const ConvFinish finish_;

 private:
  void Piece(float* const* p, int64_t i, float* buffer) const {
    const int64_t first = i % pieces_.count * pieces_.step, job = i / pieces_.count;
    const int64_t group = job % s_.groups;
    Do(p[1] + job * s_.in * s_.src_pixels(), p[2] + group * s_.out * s_.in * s_.taps(),
       finish_.bias ? p[4] + group * s_.out : nullptr, p[0] + job * s_.out * s_.dst_pixels(),
       buffer, first, std::min(pieces_.step, pieces_.items - first));
  }

  int threads_;
};

// One row of the buffer for each input channel and tap, one column for each pixel of the result.
class GatheredConv final : public PieceLoop {
 public:
  using PieceLoop::PieceLoop;

 private:
  void Do(const float* x, const float* w, const float* bias, float* y, float* buffer, int64_t first,
          int64_t lines) const override {
    float* row = buffer;
    for (int64_t c = 0; c < s_.in; ++c) {
      for (int64_t a = 0; a < s_.kernel[0]; ++a) {
        for (int64_t b = 0; b < s_.kernel[1]; ++b) {
          for (int64_t t = 0; t < s_.kernel[2]; ++t) {
            Row(x + c * s_.src_pixels(), a, b, t, first, lines, row);
            row += lines * s_.dst[2];
          }
        }
      }
    }
    TileProduct p;
    p.m = s_.out;
    p.k = pieces_.other;
    p.n = lines * s_.dst[2];
    p.lda = p.k;
    p.ldb = p.n;
    p.ldc = s_.dst_pixels();
    multiply_(p, w, buffer, y + first * s_.dst[2]);
    for (int64_t o = 0; o < s_.out; ++o) {
      float* line = y + o * p.ldc + first * s_.dst[2];
      if (bias != nullptr) finish_.simd->unary(Fn::kLinear, 1, bias[o], line, line, p.n);
      for (const PointwiseOp& q : finish_.post_ops) {
        finish_.simd->unary(q.fn, q.a, q.b, line, line, p.n);
      }
    }
  }

  // Tap (a, b, t) of one channel for the pixels of some lines.
  void Row(const float* x, int64_t a, int64_t b, int64_t t, int64_t first, int64_t lines,
           float* out) const {
    const int64_t height = s_.dst[1], at = t * s_.dilation[2] - s_.pad[2];
    for (int64_t done = 0; done < lines;) {  // lines of one depth
      const int64_t depth = (first + done) / height, h = (first + done) % height;
      const int64_t n = std::min(lines - done, height - h);
      const int64_t z = depth * s_.stride[0] + a * s_.dilation[0] - s_.pad[0];
      const int64_t y = h * s_.stride[1] + b * s_.dilation[1] - s_.pad[1];
      const bool inside = z >= 0 && z < s_.src[0];
      const auto [begin, end] = Inside(y, s_.stride[1], inside ? n : 0, s_.src[1]);
      const int64_t width = s_.dst[2];
      std::fill(out, out + begin * width, 0.0f);
      if (end > begin) {
        Plane(x + z * s_.src[1] * s_.src[2], y + begin * s_.stride[1], at, end - begin,
              out + begin * width);
      }
      std::fill(out + end * width, out + n * width, 0.0f);
      out += n * width;
      done += n;
    }
  }

  // n lines, the first of which is line y of x.
  void Plane(const float* x, int64_t y, int64_t at, int64_t n, float* out) const {
    const int64_t width = s_.dst[2], step = s_.stride[2], from = s_.src[2];
    const auto [begin, end] = Inside(at, step, width, from);
    if (step == 1 && s_.stride[1] == 1 && width == from) {
      // Lines follow one another in both: one copy, then zeros over what came round the corner.
      const int64_t skip = std::max<int64_t>(0, -(y * from + at));
      const int64_t stop = std::min(n * width, s_.src[1] * from - y * from - at);
      std::memcpy(out + skip, x + (y * from + at + skip),
                  static_cast<size_t>(std::max<int64_t>(0, stop - skip)) * sizeof(float));
      for (int64_t k = 0; k < n; ++k, out += width) {
        for (int64_t i = 0; i < begin; ++i) out[i] = 0.0f;
        for (int64_t i = end; i < width; ++i) out[i] = 0.0f;
      }
      return;
    }
    for (int64_t k = 0; k < n; ++k, out += width) {
      const float* q = x + (y + k * s_.stride[1]) * from + at;
      for (int64_t i = 0; i < begin; ++i) out[i] = 0.0f;
      if (step == 1) {
        std::memcpy(out + begin, q + begin, static_cast<size_t>(end - begin) * sizeof(float));
      } else {
        for (int64_t i = begin; i < end; ++i) out[i] = q[i * step];
      }
      for (int64_t i = end; i < width; ++i) out[i] = 0.0f;
    }
  }
};

// One row of the buffer for each output channel and tap, one column for each pixel of the input.
class DealtConv final : public PieceLoop {
 public:
  using PieceLoop::PieceLoop;

 private:
  void Do(const float* x, const float* w, const float*, float* y, float* buffer, int64_t first,
          int64_t lines) const override {
    TileProduct p;
    p.transposed = !rows_;  // ONNX: input channels first
    p.m = pieces_.other;
    p.k = s_.in;
    p.n = lines * s_.src[2];
    p.lda = rows_ ? p.k : p.m;
    p.ldb = s_.src_pixels();
    p.ldc = p.n;
    multiply_(p, w, x + first * s_.src[2], buffer);
    const float* row = buffer;
    for (int64_t c = 0; c < s_.out; ++c, y += s_.dst_pixels()) {
      for (int64_t a = 0; a < s_.kernel[0]; ++a) {
        for (int64_t b = 0; b < s_.kernel[1]; ++b) {
          Deal(row, y, a, b, first, lines);
          row += s_.kernel[2] * p.n;
        }
      }
    }
  }

  // Taps (a, b, 0..) of some lines of one channel, side by side in the result.
  void Deal(const float* row, float* y, int64_t a, int64_t b, int64_t first, int64_t lines) const {
    const int64_t width = s_.src[2], taps = s_.kernel[2], next = lines * width;
    for (int64_t line = first; line < first + lines; ++line, row += width) {
      const int64_t z = line / s_.src[1] * s_.stride[0] + a;
      const int64_t h = line % s_.src[1] * s_.stride[1] + b;
      float* to = y + (z * s_.dst[1] + h) * s_.dst[2];
      for (int64_t t = 0; t < taps; ++t) {
        for (int64_t i = 0; i < width; ++i) to[i * taps + t] = row[t * next + i];
      }
    }
  }
};

// One row of the buffer for each output channel of the piece and tap, one column for each pixel of
// the input.
class ScatteredConv final : public PieceLoop {
 public:
  using PieceLoop::PieceLoop;

 private:
  void Do(const float* x, const float* w, const float*, float* y, float* buffer, int64_t first,
          int64_t channels) const override {
    TileProduct p;
    p.transposed = !rows_;
    p.m = channels * s_.taps();
    p.k = s_.in;
    p.n = s_.src_pixels();
    p.lda = rows_ ? p.k : s_.out * s_.taps();
    p.ldb = p.n;
    p.ldc = p.n;
    multiply_(p, w + first * s_.taps() * (rows_ ? p.k : 1), x, buffer);
    const float* row = buffer;
    for (int64_t c = first; c < first + channels; ++c) {
      float* to = y + c * s_.dst_pixels();
      std::fill(to, to + s_.dst_pixels(), 0.0f);
      for (int64_t a = 0; a < s_.kernel[0]; ++a) {
        for (int64_t b = 0; b < s_.kernel[1]; ++b) {
          for (int64_t t = 0; t < s_.kernel[2]; ++t, row += p.n) Add(row, to, a, b, t);
        }
      }
    }
  }

  // Tap (a, b, t) of one channel.
  void Add(const float* row, float* y, int64_t a, int64_t b, int64_t t) const {
    const int64_t width = s_.src[2], step = s_.stride[2];
    const int64_t at = t * s_.dilation[2] - s_.pad[2];
    const auto [begin, end] = Inside(at, step, width, s_.dst[2]);
    for (int64_t line = 0; line < s_.src[0] * s_.src[1]; ++line, row += width) {
      const int64_t z = line / s_.src[1] * s_.stride[0] + a * s_.dilation[0] - s_.pad[0];
      const int64_t h = line % s_.src[1] * s_.stride[1] + b * s_.dilation[1] - s_.pad[1];
      if (z < 0 || z >= s_.dst[0] || h < 0 || h >= s_.dst[1]) continue;
      float* q = y + (z * s_.dst[1] + h) * s_.dst[2];
      for (int64_t i = begin; i < end; ++i) q[at + i * step] += row[i];
    }
  }
};

}  // namespace

std::unique_ptr<Loop> ConvLoop(MultiplyTile multiply, const ConvShape& shape,
                               const Im2colTiles& pieces, int threads, bool rows,
                               ConvFinish finish) {
  if (shape.how == ConvShape::kDeal) {
    return std::make_unique<DealtConv>(std::move(multiply), shape, pieces, threads, rows,
                                       std::move(finish));
  }
  if (shape.how == ConvShape::kScatter) {
    return std::make_unique<ScatteredConv>(std::move(multiply), shape, pieces, threads, rows,
                                           std::move(finish));
  }
  return std::make_unique<GatheredConv>(std::move(multiply), shape, pieces, threads, rows,
                                        std::move(finish));
}

}  // namespace ge_engines::cpu
