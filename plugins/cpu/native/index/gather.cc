#include "plugins/cpu/native/index/gather.h"

#include <algorithm>
#include <cstring>

#include "plugins/cpu/kit/builder.h"
#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/kit/price.h"
#include "plugins/cpu/kit/thresholds.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/price.h"
#include "plugins/units/index/gather.h"

namespace ge_engines::cpu::native {

namespace {

class Gathered final : public Kernel {
  // A copy of a run by the library costs as much as some four elements one by one.
  static constexpr int64_t kRunIndices = 4;

 public:
  explicit Gathered(const Gather& g) : g_(g) {}

  ge_rc Do(const Call& call) const override {
    return g_.wide ? Pick(call, reinterpret_cast<const int64_t*>(call.p[2]))
                   : Pick(call, reinterpret_cast<const int32_t*>(call.p[2]));
  }

 private:
  template <class Index>
  ge_rc Pick(const Call& call, const Index* index) const {
    const int64_t least = g_.backwards ? -g_.axis : 0;
    for (int64_t i = 0; i < g_.count; ++i) {
      const int64_t k = index[i];
      if (k >= least && k < g_.axis) continue;
      return ge::plugin::Fail(call.err, GE_INVALID_ARGUMENT, call.node,
                              "index %lld (number %lld of the indices) is outside [%lld, %lld), "
                              "the gathered axis; give indices inside it",
                              static_cast<long long>(k), static_cast<long long>(i),
                              static_cast<long long>(least), static_cast<long long>(g_.axis));
    }
    const auto* x = reinterpret_cast<const char*>(call.p[1]);
    auto* y = reinterpret_cast<char*>(call.p[0]);
    const int64_t row = g_.inner * g_.bytes;
    if (row == 4) {
      Spread<4>(index, x, y, row);
    } else if (row == 8) {
      Spread<8>(index, x, y, row);
    } else {
      Spread<0>(index, x, y, row);
    }
    return GE_OK;
  }

  // Indices and blocks of the axes before theirs are cut into pieces: what is found out about a
  // piece of indices serves a whole block. kRow > 0: the bytes of a row, known to the compiler.
  template <size_t kRow, class Index>
  void Spread(const Index* index, const char* x, char* y, int64_t row) const {
    const int64_t pieces = (g_.count + kGatherIndices - 1) / kGatherIndices;
    const int64_t blocks = (g_.outer + kGatherBlocks - 1) / kGatherBlocks;
    const bool parallel = g_.outer * g_.count * row > kParallelBytes;
    ForRange(parallel, blocks * pieces, [&](int64_t t) {
      const int64_t block = t / pieces * kGatherBlocks, first = t % pieces * kGatherIndices;
      const int64_t n = std::min(kGatherIndices, g_.count - first);
      const int64_t outer = std::min(kGatherBlocks, g_.outer - block);
      const char* from = x + block * g_.axis * row;
      char* to = y + (block * g_.count + first) * row;
      int64_t offset[kGatherIndices];
      for (int64_t i = 0; i < n; ++i) {
        const int64_t k = index[first + i];
        offset[i] = (k < 0 ? k + g_.axis : k) * row;
      }
      Runs runs;
      if (outer > 1 && FindRuns(offset, n, row, &runs)) return CopyRuns(runs, from, to, outer, row);
      for (int64_t o = 0; o < outer; ++o, from += g_.axis * row, to += g_.count * row) {
        for (int64_t i = 0; i < n; ++i) {
          if constexpr (kRow > 0) {
            std::memcpy(to + i * row, from + offset[i], kRow);
          } else {
            std::memcpy(to + i * row, from + offset[i], static_cast<size_t>(row));
          }
        }
      }
    });
  }

  // Indices that count up by ones: windows (unfold), rolls and slices come as such.
  struct Runs {
    int64_t from[kGatherIndices / kRunIndices + 1], bytes[kGatherIndices / kRunIndices + 1];
    int64_t n = 0;
  };

  // False where runs are shorter than kRunIndices in the mean.
  static bool FindRuns(const int64_t* offset, int64_t n, int64_t row, Runs* runs) {
    const int64_t most = n / kRunIndices;
    for (int64_t i = 0; i < n;) {
      if (runs->n == most) return false;
      int64_t end = i + 1;
      while (end < n && offset[end] == offset[end - 1] + row) ++end;
      runs->from[runs->n] = offset[i];
      runs->bytes[runs->n++] = (end - i) * row;
      i = end;
    }
    return true;
  }

  void CopyRuns(const Runs& runs, const char* from, char* to, int64_t outer, int64_t row) const {
    for (int64_t o = 0; o < outer; ++o, from += g_.axis * row, to += g_.count * row) {
      char* at = to;
      for (int64_t i = 0; i < runs.n; at += runs.bytes[i++]) {
        std::memcpy(at, from + runs.from[i], static_cast<size_t>(runs.bytes[i]));
      }
    }
  }

  const Gather g_;
};

}  // namespace

std::unique_ptr<Kernel> GatherLoop(const Gather& gather) {
  return std::make_unique<Gathered>(gather);
}

namespace {

// An index is looked at; then rows are copied, short ones (8 bytes and less) by moves of their own
// or in runs.
double GatherNs(const Unit& u, const GatherSpec& spec, const Parser& p) {
  const Dims x = p.dims(u.in[0]);
  const auto indices = static_cast<double>(Product(p.dims(u.in[1])));
  const Dims before(x.begin(), x.begin() + spec.axis), behind(x.begin() + spec.axis + 1, x.end());
  if (!spec.backwards) {  // single features of each row
    return indices * (3 + static_cast<double>(Product(before)) * 0.65) +
           static_cast<double>(Product(before)) * 0.7;
  }
  const double row = static_cast<double>(Product(behind) * p.size(u.in[0]));
  const double rows = indices * static_cast<double>(Product(before) - 1);
  return indices * 5 + std::max(rows, 0.0) * (row <= 8 ? 0.12 : 2);
}

class GatherKind final : public KindOf<GatherSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    // Of a table only what is looked up is read.
    const double bytes = BytesOf(parser, unit.in[1]) + 2 * BytesOf(parser, unit.out[0]);
    return WorkPrice(unit, parser, machine,
                     {.ns = GatherNs(unit, SpecOf(unit), parser), .bytes = bytes, .packs = false});
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    const GatherSpec& spec = SpecOf(u);
    const Dims x = b->parser().dims(u.in[0]);
    Gather g;
    g.outer = Product(Dims(x.begin(), x.begin() + spec.axis));
    g.axis = x[static_cast<size_t>(spec.axis)];
    g.inner = Product(Dims(x.begin() + spec.axis + 1, x.end()));
    g.count = Product(b->parser().dims(u.in[1]));
    g.bytes = b->parser().size(u.in[0]);
    g.wide = b->parser().dtype(u.in[1]) == GE_I64;
    g.backwards = spec.backwards;
    // A table is read in few places: ours would be a copy of a vocabulary.
    const Rep data =
        b->parser().constant(u.in[0]) ? b->KeptConstant(u.in[0]) : b->GetDense(u.in[0]);
    b->AddPlain(u, "gather", GatherLoop(g), {data.place, b->GetDense(u.in[1]).place});
  }
};

const GatherKind kGatherKind;
}  // namespace

GE_NATIVE_KINDS(gather, &kGatherKind)

}  // namespace ge_engines::cpu::native
