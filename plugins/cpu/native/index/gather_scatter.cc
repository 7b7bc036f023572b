#include "plugins/cpu/native/index/gather_scatter.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <type_traits>
#include <vector>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/kit/thresholds.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/price.h"

namespace ge_engines::cpu::native {

namespace {

int64_t Count(const Dims& d, size_t from, size_t to) {
  int64_t n = 1;
  for (size_t k = from; k < to; ++k) n *= d[k];
  return n;
}

// A copy of `bytes` by pieces, on threads where it is long.
void CopyAll(const char* from, char* to, int64_t bytes) {
  if (from == to) return;
  constexpr int64_t kPiece = 1 << 16;
  ForRange(bytes > kParallelBytes, (bytes + kPiece - 1) / kPiece, [&](int64_t i) {
    const int64_t n = std::min(kPiece, bytes - i * kPiece);
    std::memcpy(to + i * kPiece, from + i * kPiece, static_cast<size_t>(n));
  });
}

// The first index that lies outside of its axis, for the message.
struct Outside {
  std::atomic<bool> seen{false};
  int64_t index = 0, dim = 0;
  int64_t Say(int64_t i, int64_t d) {
    if (!seen.exchange(true)) {
      index = i;
      dim = d;
    }
    return -1;
  }
  ge_rc Result(const Call& call) const {
    if (!seen) return GE_OK;
    return ge::plugin::Fail(
        call.err, GE_INVALID_ARGUMENT, call.node,
        "index %lld is outside an axis of %lld elements; give indices inside it",
        static_cast<long long>(index), static_cast<long long>(dim));
  }
};

inline int64_t Inside(int64_t i, int64_t dim, Outside* bad) {
  const int64_t at = i < 0 ? i + dim : i;
  return at >= 0 && at < dim ? at : bad->Say(i, dim);
}

// An element and its update; T is float, double or an integer.
template <Update kUpdate, class T>
T Updated(T old, T given) {
  if constexpr (kUpdate == Update::kReplace) return given;
  if constexpr (kUpdate == Update::kMax) return given > old || given != given ? given : old;
  if constexpr (kUpdate == Update::kMin) return given < old || given != given ? given : old;
  if constexpr (std::is_floating_point_v<T>) {
    return kUpdate == Update::kAdd ? old + given : old * given;
  } else {  // in a wide unsigned number: signed overflow is no part of the language
    const auto a = static_cast<uint64_t>(old), b = static_cast<uint64_t>(given);
    return static_cast<T>(kUpdate == Update::kAdd ? a + b : a * b);
  }
}

// call(std::integral_constant<Update, update>).
template <class F>
void WithUpdate(Update update, F call) {
  switch (update) {
    case Update::kReplace:
      return call(std::integral_constant<Update, Update::kReplace>());
    case Update::kAdd:
      return call(std::integral_constant<Update, Update::kAdd>());
    case Update::kMul:
      return call(std::integral_constant<Update, Update::kMul>());
    case Update::kMax:
      return call(std::integral_constant<Update, Update::kMax>());
    case Update::kMin:
      return call(std::integral_constant<Update, Update::kMin>());
  }
}

// n elements behind each other.
template <class T>
void UpdateRow(Update update, const char* from, char* to, int64_t n) {
  const auto* x = reinterpret_cast<const T*>(from);
  auto* y = reinterpret_cast<T*>(to);
  WithUpdate(update, [&](auto how) {
    for (int64_t i = 0; i < n; ++i) y[i] = Updated<how.value>(y[i], x[i]);
  });
}
using RowUpdate = void (*)(Update update, const char* from, char* to, int64_t n);
RowUpdate RowUpdateOf(int32_t dtype) {
  return dtype == GE_F32   ? UpdateRow<float>
         : dtype == GE_F64 ? UpdateRow<double>
         : dtype == GE_I32 ? UpdateRow<int32_t>
         : dtype == GE_I64 ? UpdateRow<int64_t>
         : dtype == GE_I8  ? UpdateRow<int8_t>
                           : UpdateRow<uint8_t>;
}

// One index along an axis; the indices' tensor may be shorter than x along the others.
template <class I, class T, bool kScatter>
class Elements final : public Kernel {
 public:
  explicit Elements(const IndexPlan& p)
      : x_(p.x),
        index_(p.index),
        axis_(static_cast<size_t>(p.spec.axis)),
        stride_(StridesOf(p.x)),
        update_(p.spec.update) {
    n_ = index_.back();
    last_ = axis_ + 1 == index_.size();
    // Rows of different outer places meet no place of one another.
    outer_ = last_ ? Count(index_, 0, index_.size() - 1) : Count(index_, 0, axis_);
    inner_ = last_ ? 1 : Count(index_, axis_, index_.size() - 1);
  }
  ge_rc Do(const Call& call) const override {
    char* y = reinterpret_cast<char*>(call.p[0]);
    const char* x = reinterpret_cast<const char*>(call.p[1]);
    if (kScatter) CopyAll(x, y, Product(x_) * static_cast<int64_t>(sizeof(T)));
    Outside bad;
    // So do different places behind the axis.
    const int64_t wide = last_ ? n_ : std::max<int64_t>(kColumns, CeilDiv(n_, kMostStrips));
    const int64_t strips = CeilDiv(n_, wide);
    ForRange(outer_ * inner_ * n_ > kParallel, outer_ * strips, [&](int64_t o) {
      const int64_t from = o % strips * wide, to = std::min(n_, from + wide);
      for (int64_t i = 0; i < inner_; ++i) Row(call, o / strips * inner_ + i, from, to, &bad);
    });
    return bad.Result(call);
  }

 private:
  static constexpr int64_t kColumns = 16, kMostStrips = 16;

  // Elements [from, to) of a row of indices.
  void Row(const Call& call, int64_t row, int64_t from, int64_t to, Outside* bad) const {
    int64_t base = 0, left = row;
    for (size_t k = index_.size() - 1; k-- > 0; left /= index_[k]) {
      if (k != axis_) base += left % index_[k] * stride_[k];
    }
    const auto* index = reinterpret_cast<const I*>(call.p[2]) + row * n_;
    const int64_t dim = x_[axis_], step = stride_[axis_];
    if constexpr (kScatter) {
      T* y = reinterpret_cast<T*>(call.p[0]) + base;
      const T* given = reinterpret_cast<const T*>(call.p[3]) + row * n_;
      WithUpdate(update_, [&](auto how) {
        for (int64_t j = from; j < to; ++j) {
          const int64_t at = Inside(index[j], dim, bad);
          if (at < 0) continue;
          T* place = &y[last_ ? at : at * step + j];
          *place = Updated<how.value>(*place, given[j]);
        }
      });
    } else {
      const T* x = reinterpret_cast<const T*>(call.p[1]) + base;
      T* y = reinterpret_cast<T*>(call.p[0]) + row * n_;
      for (int64_t j = from; j < to; ++j) {
        const int64_t at = Inside(index[j], dim, bad);
        if (at >= 0) y[j] = x[last_ ? at : at * step + j];
      }
    }
  }

  const Dims x_, index_;
  const size_t axis_;
  const Dims stride_;
  const Update update_;
  int64_t n_ = 1, outer_ = 1, inner_ = 1;
  bool last_ = false;
};

// A tuple names a slice of x, behind `axis` axes of batches.
template <class I, bool kScatter>
class Tuples final : public Kernel {
 public:
  explicit Tuples(const IndexPlan& p)
      : x_(p.x),
        batches_(static_cast<size_t>(p.spec.axis)),
        depth_(p.index.back()),
        update_(p.spec.update),
        update_row_(RowUpdateOf(p.dtype)) {
    const auto used = batches_ + static_cast<size_t>(depth_);
    slice_ = Count(x_, used, x_.size());
    row_ = slice_ * p.bytes;
    all_ = Product(x_) * p.bytes;
    tuples_ = Count(p.index, 0, p.index.size() - 1);
    each_ = tuples_ / std::max<int64_t>(1, Count(x_, 0, batches_));
    image_ = Count(x_, batches_, x_.size()) * p.bytes;
    for (size_t k = batches_; k < used; ++k) {
      dim_.push_back(x_[k]);
      step_.push_back(Count(x_, k + 1, x_.size()) * p.bytes);
    }
  }
  ge_rc Do(const Call& call) const override {
    char* y = reinterpret_cast<char*>(call.p[0]);
    const char* x = reinterpret_cast<const char*>(call.p[1]);
    Outside bad;
    if constexpr (kScatter) {
      CopyAll(x, y, all_);
      Scatter(call, y, &bad);
    } else {
      ForRange(tuples_ * row_ > kParallelBytes, (tuples_ + kJob - 1) / kJob, [&](int64_t job) {
        for (int64_t t = job * kJob; t < std::min(tuples_, (job + 1) * kJob); ++t) {
          const int64_t at = At(call, t, &bad);
          if (at >= 0) Move(x + at, y + t * row_, 0);
        }
      });
    }
    return bad.Result(call);
  }

 private:
  static constexpr int64_t kJob = 64;  // tuples
  // In order: where tuples repeat, the last one stays, or is added last. So each part of y is one
  // thread's, which looks at all tuples.
  void Scatter(const Call& call, char* y, Outside* bad) const {
    const char* from = reinterpret_cast<const char*>(call.p[3]);
    const int64_t parts = row_ >= kRowOfItsOwn ? omp_get_max_threads() : 1;
    const int64_t part = CeilDiv(all_, parts);
    ForRange(tuples_ * row_ > kParallelBytes, parts, [&](int64_t k) {
      for (int64_t t = 0; t < tuples_; ++t) {
        const int64_t at = At(call, t, bad);
        if (at < k * part || at >= (k + 1) * part) continue;
        if (update_ == Update::kReplace) {
          Move(from + t * row_, y, at);
        } else {
          update_row_(update_, from + t * row_, y + at, slice_);
        }
      }
    });
  }
  // Bytes of a row that cost more than looking at its tuple once more.
  static constexpr int64_t kRowOfItsOwn = 256;

  int64_t At(const Call& call, int64_t t, Outside* bad) const {
    const auto* tuple = reinterpret_cast<const I*>(call.p[2]) + t * depth_;
    int64_t at = batches_ == 0 ? 0 : t / each_ * image_;
    for (size_t k = 0; k < dim_.size(); ++k) {
      const int64_t i = Inside(tuple[k], dim_[k], bad);
      if (i < 0) return -1;
      at += i * step_[k];
    }
    return at;
  }
  void Move(const char* from, char* to, int64_t at) const {
    if (at < 0) return;
    if (row_ == 4) {  // of a known length it is no call
      std::memcpy(to + at, from, 4);
    } else {
      std::memcpy(to + at, from, static_cast<size_t>(row_));
    }
  }

  const Dims x_;
  const size_t batches_;
  const int64_t depth_;
  const Update update_;
  const RowUpdate update_row_;
  int64_t slice_ = 0, row_ = 0, all_ = 0, tuples_ = 0, each_ = 1, image_ = 0;
  std::vector<int64_t> dim_, step_;
};

template <class I, class T>
std::unique_ptr<Kernel> ElementsOf(const IndexPlan& p) {
  if (p.spec.scatter) return std::make_unique<Elements<I, T, true>>(p);
  return std::make_unique<Elements<I, T, false>>(p);
}

template <class I>
std::unique_ptr<Kernel> IndexedBy(const IndexPlan& p) {
  if (p.spec.tuples && p.spec.scatter) return std::make_unique<Tuples<I, true>>(p);
  if (p.spec.tuples) return std::make_unique<Tuples<I, false>>(p);
  if (p.spec.update != Update::kReplace) {
    if (p.dtype == GE_F32) return ElementsOf<I, float>(p);
    if (p.dtype == GE_F64) return ElementsOf<I, double>(p);
    if (p.dtype == GE_I32) return ElementsOf<I, int32_t>(p);
    if (p.dtype == GE_I64) return ElementsOf<I, int64_t>(p);
    if (p.dtype == GE_I8) return ElementsOf<I, int8_t>(p);
  }
  if (p.bytes == 1) return ElementsOf<I, uint8_t>(p);
  if (p.bytes == 2) return ElementsOf<I, uint16_t>(p);
  if (p.bytes == 4) return ElementsOf<I, uint32_t>(p);
  return ElementsOf<I, uint64_t>(p);
}

}  // namespace

std::unique_ptr<Kernel> GatherScatterKernel(const IndexPlan& plan) {
  return plan.wide ? IndexedBy<int64_t>(plan) : IndexedBy<int32_t>(plan);
}

namespace {

class GatherScatterKind final : public KindOf<IndexSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    const auto places = static_cast<double>(Product(parser.dims(unit.in[1])));
    const double depth = static_cast<double>(parser.dims(unit.in[1]).back());
    const double ns = SpecOf(unit).tuples ? places / depth * (2 + 0.8 * depth) : places;
    return WorkPrice(unit, parser, machine, {ns / machine.compute});
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    const IndexSpec& spec = SpecOf(u);
    IndexPlan plan;
    plan.spec = spec;
    plan.x = b->parser().dims(u.in[0]);
    plan.index = b->parser().dims(u.in[1]);
    plan.dtype = b->parser().dtype(u.in[0]);
    plan.bytes = b->parser().size(u.in[0]);
    plan.wide = b->parser().dtype(u.in[1]) == GE_I64;
    std::vector<BufferRef> reads;
    for (uint32_t v : u.in) reads.push_back(b->GetDense(v).place);
    b->AddPlain(u, spec.scatter ? "scatter" : "gather by index", GatherScatterKernel(plan),
                std::move(reads));
  }
};

const GatherScatterKind kGatherScatterKind;
}  // namespace

GE_NATIVE_KINDS(gather_scatter, &kGatherScatterKind)

}  // namespace ge_engines::cpu::native
