#include "plugins/cpu/native/elementwise/where.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/kit/price.h"
#include "plugins/cpu/kit/thresholds.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/price.h"
#include "plugins/cpu/native/whole_rows.h"
#include "plugins/units/elementwise/where.h"

namespace ge_engines::cpu::native {

namespace {

constexpr size_t kOperands = 3;  // condition, x, z

// The result's axes, outermost first, and by how many elements each operand goes on along one: 0
// where it is repeated. Neighbours along which all go on alike are one axis.
struct WhereAxis {
  int64_t dim = 1;
  int64_t step[kOperands] = {0, 0, 0};
};

std::vector<WhereAxis> AxesOf(const Dims& result, const Dims* operands) {
  std::vector<WhereAxis> axes;  // innermost first
  int64_t stride[kOperands] = {1, 1, 1};
  for (size_t back = 1; back <= result.size(); ++back) {
    WhereAxis a;
    a.dim = result[result.size() - back];
    for (size_t k = 0; k < kOperands; ++k) {
      const Dims& d = operands[k];
      const int64_t dim = back <= d.size() ? d[d.size() - back] : 1;
      a.step[k] = dim == 1 ? 0 : stride[k];
      stride[k] *= dim;
    }
    if (a.dim == 1) continue;
    if (!axes.empty()) {
      WhereAxis& in = axes.back();
      bool alike = true;
      for (size_t k = 0; k < kOperands; ++k) alike &= a.step[k] == in.step[k] * in.dim;
      if (alike) {
        in.dim *= a.dim;
        continue;
      }
    }
    axes.push_back(a);
  }
  if (axes.empty()) axes.emplace_back();
  std::reverse(axes.begin(), axes.end());
  return axes;
}

class Wheres final : public Loop {
 public:
  Wheres(const Simd& simd, int size, const Dims& result, const Dims* operands)
      : simd_(simd), size_(size), axes_(AxesOf(result, operands)) {
    for (const WhereAxis& a : axes_) total_ *= a.dim;
    // One long axis is cut, so that threads find something.
    n_ = axes_.back().dim;
    piece_ = axes_.size() == 1 ? std::min(n_, kTile) : n_;
    rows_ = n_ == 0 ? 0 : total_ / n_;
  }

  void Run(float* const* p) const override {
    if (total_ == 0) return;
    const int64_t pieces = (n_ + piece_ - 1) / piece_;
    ForRange(total_ > kParallel, rows_ * pieces,
             [&](int64_t i) { Piece(p, i / pieces, i % pieces * piece_); });
  }

 private:
  void Piece(float* const* p, int64_t row, int64_t at) const {
    const WhereAxis& last = axes_.back();
    int64_t from[kOperands];
    for (size_t k = 0; k < kOperands; ++k) from[k] = at * last.step[k];
    int64_t left = row;
    for (size_t i = axes_.size() - 1; i-- > 0; left /= axes_[i].dim) {
      const int64_t place = left % axes_[i].dim;
      for (size_t k = 0; k < kOperands; ++k) from[k] += place * axes_[i].step[k];
    }
    const int64_t n = std::min(piece_, n_ - at);
    const auto* c = reinterpret_cast<const uint8_t*>(p[1]) + from[0];
    char* y = reinterpret_cast<char*>(p[0]) + (row * n_ + at) * size_;
    const char* x = reinterpret_cast<const char*>(p[2]) + from[1] * size_;
    const char* z = reinterpret_cast<const char*>(p[3]) + from[2] * size_;
    if (last.step[0] == 0) {
      const size_t taken = *c != 0 ? 1 : 2;
      const char* row_of = WholeRow(taken == 1 ? x : z, last.step[taken], size_, n, y);
      if (row_of != y) std::memcpy(y, row_of, static_cast<size_t>(n * size_));
    } else if (size_ == sizeof(float)) {
      simd_.select(c, reinterpret_cast<const float*>(x), last.step[1],
                   reinterpret_cast<const float*>(z), last.step[2], reinterpret_cast<float*>(y), n);
    } else {
      simd_.select_other(size_, c, x, last.step[1], z, last.step[2], y, n);
    }
  }

  const Simd& simd_;
  const int size_;  // bytes of an element
  const std::vector<WhereAxis> axes_;
  int64_t total_ = 1, n_ = 1, piece_ = 1, rows_ = 1;
};

}  // namespace

std::unique_ptr<Loop> WhereLoop(const Simd& simd, int size, const Dims& result,
                                const Dims& condition, const Dims& x, const Dims& dims) {
  const Dims operands[kOperands] = {condition, x, dims};
  return std::make_unique<Wheres>(simd, size, result, operands);
}

namespace {

class WhereKind final : public KindOf<WhereSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    const double n = static_cast<double>(Product(unit.dims));
    return WorkPrice(unit, parser, machine, {n * ByIsa(machine, 0.12, 0.15, 0.4)});
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    b->AddPlain(
        u, "where",
        WhereLoop(b->simd(), b->parser().size(u.out[0]), u.dims, b->parser().dims(u.in[0]),
                  b->parser().dims(u.in[1]), b->parser().dims(u.in[2])),
        {b->GetDense(u.in[0]).place, b->GetDense(u.in[1]).place, b->GetDense(u.in[2]).place});
  }
};

const WhereKind kWhereKind;
}  // namespace

GE_NATIVE_KINDS(where, &kWhereKind)

}  // namespace ge_engines::cpu::native
