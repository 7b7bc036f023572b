#include "plugins/cpu/native/elementwise/relation.h"

#include <optional>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/kit/price.h"
#include "plugins/cpu/native/broadcast.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/price.h"
#include "plugins/cpu/native/whole_rows.h"

namespace ge_engines::cpu::native {

namespace {

// Bools are read as any byte that is not zero.
template <Relation kOp, class T>
bool Holds(T a, T b) {
  if constexpr (std::is_same_v<T, uint8_t>) {
    if constexpr (kOp == Relation::kEqual) return (a != 0) == (b != 0);
  }
  switch (kOp) {
    case Relation::kEqual:
      return a == b;
    case Relation::kLess:
      return a < b;
    case Relation::kGreater:
      return a > b;
    case Relation::kLessOrEqual:
      return a <= b;
    case Relation::kGreaterOrEqual:
      return a >= b;
    case Relation::kAnd:
      return (a != 0) & (b != 0);
    case Relation::kOr:
      return (a != 0) | (b != 0);
    case Relation::kXor:
      return (a != 0) != (b != 0);
    case Relation::kNot:
      return a == 0;
  }
  return false;
}

template <Relation kOp, class T, class R>
class Related final : public Loop {
 public:
  explicit Related(Broadcast nest) : broadcast_(std::move(nest)) {}
  void Run(float* const* p) const override {
    auto* y = reinterpret_cast<R*>(p[0]);
    const auto* x = reinterpret_cast<const T*>(p[1]);
    const auto* z = reinterpret_cast<const T*>(p[2]);
    const bool parallel = broadcast_.rows * broadcast_.dim.back() > kParallel;
    broadcast_.ForPieces(parallel, kPiece, [&](int64_t o, int64_t n, int64_t ox, int64_t oz) {
      ForRun(x + ox, z + oz, y + o, n, broadcast_.x.back(), broadcast_.z.back(),
             [](T a, T b) { return static_cast<R>(Holds<kOp>(a, b)); });
    });
  }

 private:
  static constexpr int64_t kPiece = 4096;  // elements of one job
  Broadcast broadcast_;
};

// Comparisons of integers.
class RelatedWholes final : public Loop {
 public:
  RelatedWholes(const Simd& simd, Compare op, int32_t dtype, bool as_float, Broadcast nest)
      : simd_(simd),
        op_(op),
        dtype_(dtype),
        size_(static_cast<int>(gp::ElementBits(dtype) / 8)),
        as_float_(as_float),
        broadcast_(std::move(nest)) {}

  void Run(float* const* p) const override {
    const auto* x = reinterpret_cast<const char*>(p[1]);
    const auto* z = reinterpret_cast<const char*>(p[2]);
    const Broadcast& b = broadcast_;
    const bool parallel = b.rows * b.dim.back() * size_ > kParallelBytes;
    b.ForPieces(parallel, kWholeBytes / size_, [&](int64_t o, int64_t n, int64_t ox, int64_t oz) {
      alignas(64) char rooms[3][kWholeBytes];
      const char* left = WholeRow(x + ox * size_, b.x.back(), size_, n, rooms[0]);
      const char* right = WholeRow(z + oz * size_, b.z.back(), size_, n, rooms[1]);
      auto* const own = reinterpret_cast<uint8_t*>(rooms[2]);
      uint8_t* const y = as_float_ ? own : reinterpret_cast<uint8_t*>(p[0]) + o;
      simd_.compare_wholes(op_, dtype_, left, right, y, n);
      if (!as_float_) return;
      for (int64_t i = 0; i < n; ++i) p[0][o + i] = static_cast<float>(own[i]);
    });
  }

 private:
  const Simd& simd_;
  Compare op_;
  int32_t dtype_;
  int size_;
  bool as_float_;
  Broadcast broadcast_;
};

std::optional<Compare> ComparisonOf(Relation op) {
  switch (op) {
    case Relation::kEqual:
      return Compare::kEqual;
    case Relation::kLess:
      return Compare::kLess;
    case Relation::kGreater:
      return Compare::kGreater;
    case Relation::kLessOrEqual:
      return Compare::kLessOrEqual;
    case Relation::kGreaterOrEqual:
      return Compare::kGreaterOrEqual;
    default:
      return std::nullopt;
  }
}

template <Relation kOp, class T>
std::unique_ptr<Loop> RelatedAs(bool as_float, Broadcast nest) {
  if (as_float) return std::make_unique<Related<kOp, T, float>>(std::move(nest));
  return std::make_unique<Related<kOp, T, uint8_t>>(std::move(nest));
}

template <Relation kOp>
std::unique_ptr<Loop> RelatedBy(int32_t dtype, bool as_float, Broadcast nest) {
  if (dtype == GE_F32) return RelatedAs<kOp, float>(as_float, std::move(nest));
  return RelatedAs<kOp, uint8_t>(as_float, std::move(nest));
}

}  // namespace

std::unique_ptr<Loop> RelationLoop(const Simd& simd, Relation op, int32_t dtype, bool as_float,
                                   const Dims& result, const Dims& x, const Dims& dims) {
  Broadcast nest(result, x, dims);
  const std::optional<Compare> comparison = ComparisonOf(op);
  if (comparison && dtype != GE_F32 && dtype != GE_BOOL) {
    return std::make_unique<RelatedWholes>(simd, *comparison, dtype, as_float, std::move(nest));
  }
  switch (op) {
    case Relation::kEqual:
      return RelatedBy<Relation::kEqual>(dtype, as_float, std::move(nest));
    case Relation::kLess:
      return RelatedBy<Relation::kLess>(dtype, as_float, std::move(nest));
    case Relation::kGreater:
      return RelatedBy<Relation::kGreater>(dtype, as_float, std::move(nest));
    case Relation::kLessOrEqual:
      return RelatedBy<Relation::kLessOrEqual>(dtype, as_float, std::move(nest));
    case Relation::kGreaterOrEqual:
      return RelatedBy<Relation::kGreaterOrEqual>(dtype, as_float, std::move(nest));
    case Relation::kAnd:
      return RelatedAs<Relation::kAnd, uint8_t>(as_float, std::move(nest));
    case Relation::kOr:
      return RelatedAs<Relation::kOr, uint8_t>(as_float, std::move(nest));
    case Relation::kXor:
      return RelatedAs<Relation::kXor, uint8_t>(as_float, std::move(nest));
    case Relation::kNot:
      break;
  }
  return RelatedAs<Relation::kNot, uint8_t>(as_float, std::move(nest));
}

namespace {

class RelationKind final : public KindOf<RelationSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    const double n = static_cast<double>(Product(unit.dims));
    const int size = parser.size(unit.in[0]);
    const bool whole = parser.dtype(unit.in[0]) != GE_F32 && parser.dtype(unit.in[0]) != GE_BOOL;
    return WorkPrice(unit, parser, machine,
                     {n * (whole ? size * ByIsa(machine, 0.04, 0.05, 0.1) : 0.2)});
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    const RelationSpec& spec = SpecOf(u);
    const uint32_t z = u.in.back();  // of Not the same as x
    b->AddPlain(u, "relation",
                RelationLoop(b->simd(), spec.op, b->parser().dtype(u.in[0]),
                             b->parser().dtype(u.out[0]) == GE_F32, u.dims,
                             b->parser().dims(u.in[0]), b->parser().dims(z)),
                {b->GetDense(u.in[0]).place, b->GetDense(z).place});
  }
};

const RelationKind kRelationKind;
}  // namespace

GE_NATIVE_KINDS(relation, &kRelationKind)

}  // namespace ge_engines::cpu::native
