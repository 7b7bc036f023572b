#include "plugins/ref/kernels/integer_conv.h"
#include "plugins/ref/kernels/quantize.h"

namespace ref {
namespace {

struct QLinearConvPlan {
  ConvPlan conv{};
  WholeRange range;
  CastCodec y;
};

template <class X, class W>
ge_rc RunQLinearConv(const QLinearConvPlan& p, const Call& c) {
  ConvZeros<W> zeros;
  zeros.x = *c.in(2).as<X>();
  zeros.w = c.in(5).as<W>();
  zeros.w_step = c.in(5).count == 1 ? 0 : 1;
  const float* w_scale = c.in(4).as<float>();
  const int64_t w_step = c.in(4).count == 1 ? 0 : 1;
  const double x_scale = Load(c.in(1).as<float>(), 0), y_scale = Load(c.in(6).as<float>(), 0);
  const double y_zero = RealAt(p.y, c.in(7).data, 0);
  const int32_t* bias = c.has_in(8) ? c.in(8).as<int32_t>() : nullptr;
  uint8_t* y = c.out(0).as<uint8_t>();
  IntegerConvolution(p.conv, c.in(0).as<X>(), c.in(3).as<W>(), zeros,
                     [&](int64_t i, int64_t filter, int64_t sum) {
                       if (bias != nullptr) sum += Load(bias, filter);
                       const double scale = x_scale * Load(w_scale, filter * w_step) / y_scale;
                       const double v = static_cast<double>(sum) * scale;
                       y[i] = static_cast<uint8_t>(p.range.Nearest(v, y_zero));
                     });
  return GE_OK;
}

bool CheckQLinearConv(const NodeView& n, Why* why) {
  for (const uint32_t i : {1u, 2u, 6u, 7u}) {
    if (!NeedOne(n, i, why)) return false;
  }
  const int64_t filters = n.in(3).dims[0];
  for (const uint32_t i : {4u, 5u}) {
    if (!NeedOneOrFilters(n, i, filters, why)) return false;
  }
  for (const uint32_t i : {1u, 4u, 6u}) {
    if (n.in(i).dtype != GE_F32) return NoDType(n.in(i), why);
  }
  if (n.has_in(8) && (n.in(8).dtype != GE_I32 || n.in(8).count != filters)) {
    return why->Say(GE_WHY_SHAPE, "B is not one i32 a filter");
  }
  return NeedSameDType(n.in(0), n.in(2), why) && NeedSameDType(n.in(3), n.in(5), why) &&
         NeedSameDType(n.in(7), n.out(0), why);
}

std::unique_ptr<Prepared> PrepareQLinearConv(const NodeView& n, Why* why) {
  QLinearConvPlan p;
  if (!NeedPorts(n, 8, 9, why) || !PlanConv(n, 0, 3, &p.conv, why) || !CheckQLinearConv(n, why)) {
    return nullptr;
  }
  const int32_t dtype = n.out(0).dtype;
  if (dtype != GE_I8 && dtype != GE_U8) return NoDType(n.out(0), why), nullptr;
  p.range = RangeOf(dtype);
  p.y = FindCastCodec(dtype);
  std::unique_ptr<Prepared> made;
  const bool x_taken = VisitByte(n.in(0).dtype, [&](auto x) {
    VisitByte(n.in(3).dtype, [&](auto w) {
      made = Make([p](const Call& c) {
        return RunQLinearConv<typename decltype(x)::type, typename decltype(w)::type>(p, c);
      });
    });
  });
  if (made == nullptr) return NoDType(n.in(x_taken ? 3 : 0), why), nullptr;
  made->const_align = 1;
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(q_linear_conv, "QLinearConv", PrepareQLinearConv)
