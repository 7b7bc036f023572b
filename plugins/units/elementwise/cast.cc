#include "plugins/units/elementwise/cast.h"

#include "plugins/units/movement/reshape.h"
#include "plugins/units/parser.h"

namespace ge_engines {

namespace {

// float32, float64, bool and integers are cast to and from each other, but for floats to uint64;
// float16 and bfloat16 to and from float32 alone, but where an engine takes them as it takes that.
bool IsCast(int32_t from, int32_t to, bool halves) {
  const auto whole = [](int32_t t) {
    return t == GE_BOOL || t == GE_I8 || t == GE_U8 || t == GE_I16 || t == GE_U16 || t == GE_I32 ||
           t == GE_U32 || t == GE_I64 || t == GE_U64;
  };
  const auto half = [](int32_t t) { return t == GE_F16 || t == GE_BF16; };
  const auto real = [&](int32_t t) { return t == GE_F32 || t == GE_F64 || (halves && half(t)); };
  if (!halves && (half(from) || half(to))) return from == GE_F32 || to == GE_F32;
  return (real(from) || whole(from)) && (real(to) || whole(to)) && !(real(from) && to == GE_U64);
}

bool ParseCast(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  u->spec = CastSpec();
  const int32_t from = g.dtype(n.in[0]), to = g.dtype(n.out[0]);
  if (from == to) {
    u->spec = ViewSpec();
  } else if (!IsCast(from, to, g.halves())) {
    return why->Say(GE_WHY_DTYPE,
                    std::string("a cast of ") + gp::DTypeName(from) + " to " + gp::DTypeName(to) +
                        ", only among float32, float64, bool and integers, not of floats "
                        "to uint64; of 16-bit floats only from or to float32");
  }
  if (n.n_in != 1 || g.dims(n.in[0]) != u->dims) return why->Say(GE_WHY_SHAPE, "dims differ");
  return true;
}

constexpr Operator kCastOperators[] = {
    {"Cast", ParseCast, Types::kAny, 0},
};
}  // namespace

const UnitKind CastSpec::kKind = {.name = "cast", .operators = kCastOperators};

}  // namespace ge_engines
