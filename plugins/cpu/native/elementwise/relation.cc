#include "plugins/cpu/native/elementwise/relation.h"

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/native/broadcast.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/price.h"

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
    broadcast_.ForEach([&](int64_t o, int64_t ox, int64_t oz) {
      ForRun(x + ox, z + oz, y + o, broadcast_.dim.back(), broadcast_.x.back(), broadcast_.z.back(),
             [](T a, T b) { return static_cast<R>(Holds<kOp>(a, b)); });
    });
  }

 private:
  Broadcast broadcast_;
};

template <Relation kOp, class T>
std::unique_ptr<Loop> RelatedAs(bool as_float, Broadcast nest) {
  if (as_float) return std::make_unique<Related<kOp, T, float>>(std::move(nest));
  return std::make_unique<Related<kOp, T, uint8_t>>(std::move(nest));
}

template <Relation kOp>
std::unique_ptr<Loop> RelatedBy(int32_t dtype, bool as_float, Broadcast nest) {
  switch (dtype) {
    case GE_F32:
      return RelatedAs<kOp, float>(as_float, std::move(nest));
    case GE_I32:
      return RelatedAs<kOp, int32_t>(as_float, std::move(nest));
    case GE_I64:
      return RelatedAs<kOp, int64_t>(as_float, std::move(nest));
    default:
      return RelatedAs<kOp, uint8_t>(as_float, std::move(nest));
  }
}

}  // namespace

std::unique_ptr<Loop> RelationLoop(Relation op, int32_t dtype, bool as_float, const Dims& result,
                                   const Dims& x, const Dims& dims) {
  Broadcast nest(result, x, dims);
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
    return WorkPrice(unit, parser, machine, {n * 0.2});
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    const RelationSpec& spec = SpecOf(u);
    const uint32_t z = u.in.back();  // of Not the same as x
    b->AddPlain(
        u, "relation",
        RelationLoop(spec.op, b->parser().dtype(u.in[0]), b->parser().dtype(u.out[0]) == GE_F32,
                     u.dims, b->parser().dims(u.in[0]), b->parser().dims(z)),
        {b->GetDense(u.in[0]).place, b->GetDense(z).place});
  }
};

const RelationKind kRelationKind;
}  // namespace

GE_NATIVE_KINDS(relation, &kRelationKind)

}  // namespace ge_engines::cpu::native
