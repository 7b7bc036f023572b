// SoftmaxCrossEntropyLoss and NegativeLogLikelihoodLoss of float32: sums of exponentials by
// vectors, what follows in double.
#include "plugins/units/reduce/loss.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/kit/price.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/price.h"

namespace ge_engines::cpu::native {

namespace {

// Places in scores that a job takes: positions of one sample's area.
constexpr int64_t kLossColumns = 64;

// Of a job's labels: the sum of their losses, and of their weights.
struct LossSum {
  double loss, weight;
};

int64_t JobsOf(const LossSpec& s) { return s.batch * CeilDiv(s.area, kLossColumns); }

// Buffers: loss, log_prob, scores, labels, weights, a LossSum for each job. Absent ones are scores.
class ClassLoss final : public Kernel {
 public:
  ClassLoss(const Simd& simd, const LossSpec& spec, bool wide, bool weighted, bool shows)
      : simd_(simd), s_(spec), wide_(wide), weighted_(weighted), shows_(shows) {}

  ge_rc Do(const Call& call) const override {
    for (int64_t i = 0; i < s_.batch * s_.area; ++i) {
      const int64_t label = Label(call.p[3], i);
      if ((s_.ignores && label == s_.ignored) || (label >= 0 && label < s_.classes)) continue;
      const std::string text = "label " + std::to_string(label) + " at " + std::to_string(i) +
                               ", wanted 0 to " + std::to_string(s_.classes - 1);
      return ge::plugin::Fail(call.err, GE_INVALID_ARGUMENT, call.node, text.c_str());
    }
    auto* sums = reinterpret_cast<LossSum*>(call.p[5]);
    const int64_t jobs = JobsOf(s_), strips = jobs / s_.batch;
    ForRange(s_.batch * s_.classes * s_.area > kParallel, jobs, [&](int64_t i) {
      const int64_t first = i % strips * kLossColumns;
      sums[i] = Job(call.p, i / strips, first, std::min(kLossColumns, s_.area - first));
    });
    double loss = 0, weight = 0;
    for (int64_t i = 0; i < jobs; ++i) {
      loss += sums[i].loss;
      weight += sums[i].weight;
    }
    if (s_.how == LossSpec::How::kSum) call.p[0][0] = static_cast<float>(loss);
    if (s_.how == LossSpec::How::kMean) call.p[0][0] = static_cast<float>(loss / weight);
    return GE_OK;
  }

 private:
  int64_t Label(const float* labels, int64_t i) const {
    if (wide_) return reinterpret_cast<const int64_t*>(labels)[i];
    return reinterpret_cast<const int32_t*>(labels)[i];
  }

  // n columns of one sample, from `first` on.
  LossSum Job(float* const* p, int64_t sample, int64_t first, int64_t n) const {
    const int64_t at = sample * s_.classes * s_.area + first;
    const float* x = p[2] + at;
    double less[kLossColumns] = {};
    if (s_.softmax) s_.area == 1 ? RowNorm(x, less) : ColumnNorms(x, n, less);
    if (shows_) Show(x, less, n, p[1] + at);
    LossSum sum{};
    for (int64_t j = 0; j < n; ++j) {
      const int64_t place = sample * s_.area + first + j, label = Label(p[3], place);
      double loss = 0;
      if (!s_.ignores || label != s_.ignored) {
        const double weight = weighted_ ? static_cast<double>(p[4][label]) : 1.0;
        loss = (less[j] - static_cast<double>(x[label * s_.area + j])) * weight;
        sum.loss += loss;
        sum.weight += weight;
      }
      if (s_.how == LossSpec::How::kNone) p[0][place] = static_cast<float>(loss);
    }
    return sum;
  }

  // log(sum of e^x) of a row.
  void RowNorm(const float* x, double* less) const {
    constexpr int64_t kPiece = 512;
    float room[kPiece];
    const float top = simd_.reduce(Reduce::kMax, x, s_.classes);
    double sum = 0;
    for (int64_t k = 0; k < s_.classes; k += kPiece) {
      const int64_t n = std::min(kPiece, s_.classes - k);
      simd_.binary_scalar(Fn::kSub, x + k, top, room, n);
      simd_.unary(Fn::kExp, 0, 0, room, room, n);
      sum += static_cast<double>(simd_.reduce(Reduce::kSum, room, n));
    }
    *less = static_cast<double>(top) + std::log(sum);
  }

  // The same of columns.
  void ColumnNorms(const float* x, int64_t n, double* less) const {
    constexpr int64_t kTogether = 16;  // classes whose exponentials are added in float32
    float top[kLossColumns], room[kLossColumns], part[kLossColumns];
    double sum[kLossColumns] = {};
    std::memcpy(top, x, static_cast<size_t>(n) * sizeof(float));
    simd_.reduce_rows(Reduce::kMax, x, s_.classes, s_.area, top, n);
    for (int64_t k = 0; k < s_.classes; k += kTogether) {
      std::fill(part, part + n, 0.0f);
      for (int64_t c = k; c < std::min(s_.classes, k + kTogether); ++c) {
        simd_.binary(Fn::kSub, x + c * s_.area, top, room, n);
        simd_.unary(Fn::kExp, 0, 0, room, room, n);
        simd_.binary(Fn::kAdd, part, room, part, n);
      }
      for (int64_t j = 0; j < n; ++j) sum[j] += static_cast<double>(part[j]);
    }
    for (int64_t j = 0; j < n; ++j) less[j] = static_cast<double>(top[j]) + std::log(sum[j]);
  }

  void Show(const float* x, const double* less, int64_t n, float* y) const {
    if (s_.area == 1) {
      const double one = *less;
      for (int64_t c = 0; c < s_.classes; ++c) {
        y[c] = static_cast<float>(static_cast<double>(x[c]) - one);
      }
      return;
    }
    for (int64_t c = 0; c < s_.classes; ++c) {
      for (int64_t j = 0; j < n; ++j) {
        y[c * s_.area + j] = static_cast<float>(static_cast<double>(x[c * s_.area + j]) - less[j]);
      }
    }
  }

  const Simd& simd_;
  LossSpec s_;
  bool wide_, weighted_, shows_;  // labels are int64; there are weights; log_prob is wanted
};

class LossKind final : public KindOf<LossSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    const LossSpec& s = SpecOf(unit);
    const auto labels = static_cast<double>(s.batch * s.area);
    const double scores = s.softmax ? labels * static_cast<double>(s.classes) : 0;
    const double ns = scores * ByIsa(machine, 0.5, 1, 3) + labels * (s.softmax ? 30 : 4) +
                      (unit.out[1] != 0 ? scores * 0.5 : 0);
    const double bytes = (unit.out[1] != 0 ? 8 : 4) * scores + 16 * labels;
    return WorkPrice(unit, parser, machine, {ns, bytes, scores});
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    const LossSpec& s = SpecOf(u);
    b->NeedWorkspace(static_cast<uint64_t>(JobsOf(s)) * sizeof(LossSum));
    const BufferRef x = b->GetDense(u.in[0]).place, labels = b->GetDense(u.in[1]).place;
    const BufferRef weights = u.in[2] != 0 ? b->GetDense(u.in[2]).place : x;
    const Rep loss = b->NewResult(u.out[0], b->Plain(u.out[0]));
    BufferRef shown = x;
    if (u.out[1] != 0) {
      const Rep rep = b->NewResult(u.out[1], b->Plain(u.out[1]));
      shown = rep.place;
      b->AddRep(u.out[1], rep);
    }
    b->AddRep(u.out[0], loss);
    b->AddStep("loss " + b->Sizes(b->parser().dims(u.in[0])),
               std::make_unique<ClassLoss>(b->simd(), s, b->parser().dtype(u.in[1]) == GE_I64,
                                           u.in[2] != 0, u.out[1] != 0),
               {loss.place, shown, x, labels, weights, b->Workspace()});
  }
};

const LossKind kLossKind;
}  // namespace

GE_NATIVE_KINDS(loss, &kLossKind)

}  // namespace ge_engines::cpu::native
