// OneHot: the value that is off everywhere, then those that are on.
#include "plugins/units/index/one_hot.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/native/axis_cut.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/price.h"
#include "plugins/cpu/native/whole_rows.h"

namespace ge_engines::cpu::native {

namespace {

// Buffers: result, indices, depth, values.
class OneHots final : public Kernel {
 public:
  OneHots(const AxisCut& cut, int size, bool wide_index, bool wide_depth)
      : cut_(cut), size_(size), wide_index_(wide_index), wide_depth_(wide_depth) {}

  ge_rc Do(const Call& call) const override {
    const int64_t asked = At(call.p[2], wide_depth_, 0);
    if (asked != cut_.dim) {
      const std::string text =
          "depth is " + std::to_string(asked) + ", the plan holds " + std::to_string(cut_.dim);
      return ge::plugin::Fail(call.err, GE_INVALID_ARGUMENT, call.node, text.c_str());
    }
    const auto* values = reinterpret_cast<const char*>(call.p[3]);
    auto* y = reinterpret_cast<char*>(call.p[0]);
    const int64_t block = cut_.dim * cut_.inner;  // elements of one place of the outer axes
    // A job has blocks of at least a piece, so that none is too small.
    const int64_t each = std::max<int64_t>(1, kWholeBytes / (block * size_));
    ForRange(cut_.outer * block * size_ > kParallelBytes, CeilDiv(cut_.outer, each),
             [&](int64_t i) {
               const int64_t first = i * each, end = std::min(cut_.outer, first + each);
               char* const to = y + first * block * size_;
               WholeRow(values, 0, size_, (end - first) * block, to);
               for (int64_t o = first; o < end; ++o) Mark(call.p[1], o, values + size_, y);
             });
    return GE_OK;
  }

 private:
  static int64_t At(const float* p, bool wide, int64_t i) {
    return wide ? reinterpret_cast<const int64_t*>(p)[i] : reinterpret_cast<const int32_t*>(p)[i];
  }

  void Mark(const float* indices, int64_t outer, const char* on, char* y) const {
    for (int64_t j = 0; j < cut_.inner; ++j) {
      int64_t k = At(indices, wide_index_, outer * cut_.inner + j);
      if (k < 0) k += cut_.dim;
      if (k < 0 || k >= cut_.dim) continue;
      const int64_t at = (outer * cut_.dim + k) * cut_.inner + j;
      std::memcpy(y + at * size_, on, static_cast<size_t>(size_));
    }
  }

  AxisCut cut_;  // of the result
  int size_;     // bytes of an element
  bool wide_index_, wide_depth_;
};

class OneHotKind final : public KindOf<OneHotSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    const double marks = static_cast<double>(Product(parser.dims(unit.in[0])));
    const double bytes = BytesOf(parser, unit.out[0]) + BytesOf(parser, unit.in[0]);
    return WorkPrice(unit, parser, machine, {marks * 4 + bytes * 0.03, bytes});
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    const Parser& p = b->parser();
    b->AddPlain(
        u, "one hot",
        std::make_unique<OneHots>(AxisCut(u.dims, SpecOf(u).axis), p.size(u.out[0]),
                                  p.dtype(u.in[0]) == GE_I64, p.dtype(u.in[1]) == GE_I64),
        {b->GetDense(u.in[0]).place, b->GetDense(u.in[1]).place, b->GetDense(u.in[2]).place});
  }
};

const OneHotKind kOneHotKind;
}  // namespace

GE_NATIVE_KINDS(one_hot, &kOneHotKind)

}  // namespace ge_engines::cpu::native
