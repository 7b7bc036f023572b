#include "plugins/cpu/native/lstm.h"

#include <algorithm>
#include <cstring>

#include "plugins/cpu/native/loops.h"

namespace ge_native {
namespace {

class Lstm final : public Loop {
 public:
  Lstm(const Simd& simd, const LstmSpec& s, const LstmHas& has) : simd_(simd), s_(s), has_(has) {
    ThinProduct in;
    in.m = s.steps * s.batch;
    in.n = 4 * s.hidden;
    in.k = s.inputs;
    in.bias = has.bias;
    in.w_by_columns = has.by_columns;
    inputs_ = ThinProductLoop(simd, in);
    ThinProduct state;
    state.m = s.batch;
    state.n = 4 * s.hidden;
    state.k = s.hidden;
    state.w_by_columns = has.by_columns;
    state_ = ThinProductLoop(simd, state);
  }

  void Run(float* const* p) const override {
    for (int64_t d = 0; d < s_.directions; ++d) Direction(p, d);
  }

 private:
  enum { kY, kX, kW, kR, kScratch, kBias, kH, kC, kYh, kYc };

  void Direction(float* const* p, int64_t d) const {
    const int64_t gates = 4 * s_.hidden, rows = s_.batch * s_.hidden;
    float* all = p[kScratch];                      // [steps][batch][gates]
    float* z = all + s_.steps * s_.batch * gates;  // [batch][gates]
    float* c = z + s_.batch * gates;               // [batch][hidden]
    float* h = c + rows;                           // [batch][hidden]
    float* bias = h + rows;                        // [gates]
    if (has_.bias) {                               // of the input, then of the state
      const float* b = p[kBias] + d * 2 * gates;
      simd_.binary(Fn::kAdd, b, b + gates, bias, gates);
    }
    float* const in[] = {all, p[kX], p[kW] + d * s_.inputs * gates, bias};
    inputs_->Run(in);
    Start(has_.c, p[kC] + d * rows, c, rows);
    Start(has_.h, p[kH] + d * rows, h, rows);
    const bool reverse = d == 1 || s_.reverse;
    for (int64_t k = 0; k < s_.steps; ++k) {
      const int64_t t = reverse ? s_.steps - 1 - k : k;
      float* y = p[kY] + (t * s_.directions + d) * rows;
      float* const product[] = {z, h, p[kR] + d * s_.hidden * gates, h};
      state_->Run(product);
      simd_.binary(Fn::kAdd, z, all + t * s_.batch * gates, z, s_.batch * gates);
      for (int64_t b = 0; b < s_.batch; ++b) {
        Gates(z + b * gates, c + b * s_.hidden, y + b * s_.hidden);
      }
      h = y;
    }
    if (has_.y_h) std::memcpy(p[kYh] + d * rows, h, static_cast<size_t>(rows) * sizeof(float));
    if (has_.y_c) std::memcpy(p[kYc] + d * rows, c, static_cast<size_t>(rows) * sizeof(float));
  }

  static void Start(bool given, const float* from, float* to, int64_t n) {
    if (given) {
      std::memcpy(to, from, static_cast<size_t>(n) * sizeof(float));
    } else {
      std::fill(to, to + n, 0.0f);
    }
  }

  // z: i, o, f, c; updates the cell and makes the state.
  void Gates(float* z, float* cell, float* h) const {
    const int64_t n = s_.hidden;
    float *i = z, *o = z + n, *f = z + 2 * n, *g = z + 3 * n;
    if (s_.clip > 0) simd_.unary(Fn::kClip, -s_.clip, s_.clip, z, z, 4 * n);
    simd_.unary(Fn::kSigmoid, 0, 0, z, z, 3 * n);
    if (s_.input_forget) simd_.unary(Fn::kLinear, -1, 1, i, f, n);
    simd_.unary(Fn::kTanh, 0, 0, g, g, n);
    simd_.binary(Fn::kMul, f, cell, cell, n);
    simd_.binary(Fn::kMul, i, g, g, n);
    simd_.binary(Fn::kAdd, cell, g, cell, n);
    simd_.unary(Fn::kTanh, 0, 0, cell, g, n);
    simd_.binary(Fn::kMul, o, g, h, n);
  }

  const Simd& simd_;
  LstmSpec s_;
  LstmHas has_;
  std::unique_ptr<Loop> inputs_, state_;
};

}  // namespace

std::unique_ptr<Loop> LstmLoop(const Simd& simd, const LstmSpec& spec, const LstmHas& has) {
  return std::make_unique<Lstm>(simd, spec, has);
}

int64_t LstmScratch(const LstmSpec& s) {
  return (((s.steps + 1) * 4 + 2) * s.batch + 4) * s.hidden;
}

}  // namespace ge_native
