#include "plugins/ref/kernels/integer_conv.h"

namespace ref {
namespace {

template <class X, class W>
ge_rc RunConvInteger(const ConvPlan& p, const Call& c) {
  ConvZeros<W> zeros;
  if (c.has_in(2)) zeros.x = *c.in(2).as<X>();
  if (c.has_in(3)) {
    zeros.w = c.in(3).as<W>();
    zeros.w_step = c.in(3).count == 1 ? 0 : 1;
  }
  int32_t* y = c.out(0).as<int32_t>();
  IntegerConvolution(p, c.in(0).as<X>(), c.in(1).as<W>(), zeros,
                     [&](int64_t i, int64_t, int64_t sum) { y[i] = static_cast<int32_t>(sum); });
  return GE_OK;
}

std::unique_ptr<Prepared> PrepareConvInteger(const NodeView& n, Why* why) {
  ConvPlan p{};
  if (!NeedPorts(n, 2, 4, why) || !PlanConv(n, 0, 1, &p, why)) return nullptr;
  if (n.out(0).dtype != GE_I32) return NoDType(n.out(0), why), nullptr;
  if (n.has_in(2) && (!NeedOne(n, 2, why) || !NeedSameDType(n.in(2), n.in(0), why))) {
    return nullptr;
  }
  if (n.has_in(3) &&
      (!NeedOneOrFilters(n, 3, n.in(1).dims[0], why) || !NeedSameDType(n.in(3), n.in(1), why))) {
    return nullptr;
  }
  std::unique_ptr<Prepared> made;
  const bool x_taken = VisitByte(n.in(0).dtype, [&](auto x) {
    VisitByte(n.in(1).dtype, [&](auto w) {
      made = Make([p](const Call& c) {
        return RunConvInteger<typename decltype(x)::type, typename decltype(w)::type>(p, c);
      });
    });
  });
  if (made == nullptr) return NoDType(n.in(x_taken ? 1 : 0), why), nullptr;
  made->const_align = 1;
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(conv_integer, "ConvInteger", PrepareConvInteger)
