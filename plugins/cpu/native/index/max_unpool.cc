// MaxUnpool: zeros, and what was pooled at the places that its indices name.
#include "plugins/units/index/max_unpool.h"

#include <atomic>
#include <cstring>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/kit/thresholds.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/price.h"

namespace ge_engines::cpu::native {

namespace {

// Buffers: result, x, indices. Where places repeat the last one stays. As pools make them, indices
// of a plane lie in that plane: planes are shared by threads. Indices of others send all through
// one thread, in order.
template <class T>
class Unpooling final : public Kernel {
 public:
  Unpooling(const MaxUnpoolSpec& spec, const Dims& x, const Dims& y)
      : dims_(spec.dims.begin() + 2, spec.dims.end()),
        size_(y.begin() + 2, y.end()),
        step_(StridesOf(size_)),
        planes_(x[0] * x[1]),
        each_(Product(x) / planes_),
        area_(Product(dims_)),
        room_(Product(size_)) {}

  ge_rc Do(const Call& call) const override {
    const auto* x = reinterpret_cast<const T*>(call.p[1]);
    const auto* index = reinterpret_cast<const int64_t*>(call.p[2]);
    T* y = reinterpret_cast<T*>(call.p[0]);
    std::atomic<bool> leaves{false};
    ForRange(planes_ * room_ > kParallel, planes_, [&](int64_t plane) {
      std::memset(y + plane * room_, 0, static_cast<size_t>(room_) * sizeof(T));
      if (!Plane(plane, x, index, y)) leaves = true;
    });
    return leaves ? InOrder(call, x, index, y) : ge_rc(GE_OK);
  }

 private:
  // False where an index leaves the plane.
  bool Plane(int64_t plane, const T* x, const int64_t* index, T* y) const {
    const int64_t first = plane * area_, from = plane * each_;
    T* to = y + plane * room_;
    for (int64_t i = from; i < from + each_; ++i) {
      const int64_t at = index[i] - first;
      if (at < 0 || at >= area_) return false;
      to[area_ == room_ ? at : Place(at)] = x[i];
    }
    return true;
  }
  ge_rc InOrder(const Call& call, const T* x, const int64_t* index, T* y) const {
    std::memset(y, 0, static_cast<size_t>(planes_ * room_) * sizeof(T));
    for (int64_t i = 0; i < planes_ * each_; ++i) {
      if (index[i] < 0 || index[i] >= planes_ * area_) {
        return ge::plugin::Fail(call.err, GE_INVALID_ARGUMENT, call.node,
                                "index %lld at %lld, wanted 0 to %lld",
                                static_cast<long long>(index[i]), static_cast<long long>(i),
                                static_cast<long long>(planes_ * area_ - 1));
      }
      y[index[i] / area_ * room_ + Place(index[i] % area_)] = x[i];
    }
    return GE_OK;
  }
  // In a plane of the result.
  int64_t Place(int64_t at) const {
    int64_t to = 0;
    for (size_t d = dims_.size(); d-- > 0; at /= dims_[d]) to += at % dims_[d] * step_[d];
    return to;
  }

  Dims dims_, size_, step_;  // of a plane that indices know, and of the result's
  int64_t planes_, each_, area_, room_;
};

class MaxUnpoolKind final : public KindOf<MaxUnpoolSpec> {
 public:
  bool Takes(const Unit& u, const Parser& p, const Machine&, Why* why) const override {
    return p.size(u.in[0]) != 1 || why->Say(GE_WHY_DTYPE, "numbers of one byte");
  }
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    const auto n = static_cast<double>(Product(parser.dims(unit.in[0])));
    return WorkPrice(unit, parser, machine, {n * 1.2 / machine.compute});
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    const Dims x = b->parser().dims(u.in[0]);
    const int size = b->parser().size(u.in[0]);
    std::unique_ptr<Kernel> kernel;
    if (size == 2) {
      kernel = std::make_unique<Unpooling<uint16_t>>(SpecOf(u), x, u.dims);
    } else if (size == 4) {
      kernel = std::make_unique<Unpooling<uint32_t>>(SpecOf(u), x, u.dims);
    } else {
      kernel = std::make_unique<Unpooling<uint64_t>>(SpecOf(u), x, u.dims);
    }
    b->AddPlain(u, "unpool", std::move(kernel),
                {b->GetDense(u.in[0]).place, b->GetDense(u.in[1]).place});
  }
};

const MaxUnpoolKind kMaxUnpoolKind;
}  // namespace

GE_NATIVE_KINDS(max_unpool, &kMaxUnpoolKind)

}  // namespace ge_engines::cpu::native
