#include "plugins/units/matmul/dft.h"

#include "plugins/units/parser.h"

namespace ge_engines {

namespace {

bool ParseDft(const Parser& g, uint32_t i, Unit* u, Why* why) {
  constexpr int64_t kLongest = int64_t{1} << 24;
  const ge_node& n = g.node(i);
  DftSpec s;
  const Dims x = g.dims(n.in[0]);
  if (g.dtype(n.in[0]) != GE_F32 || g.dtype(n.out[0]) != GE_F32) {
    return why->Say(GE_WHY_DTYPE, "only float32");
  }
  Dims length, axis = {-2};
  const bool has_length = n.n_in > 1 && n.in[1] != 0, has_axis = n.n_in > 2 && n.in[2] != 0;
  if ((has_length && !g.Integers(n.in[1], &length)) || (has_axis && !g.Integers(n.in[2], &axis)) ||
      (has_length && length.size() != 1) || axis.size() != 1) {
    return why->Say(GE_WHY_DYNAMIC, "dft_length or axis is not constant");
  }
  const auto rank = static_cast<int64_t>(x.size());
  const int64_t at = axis[0] < 0 ? axis[0] + rank : axis[0];
  if (rank < 2 || at < 0 || at >= rank - 1 || u->dims.size() != x.size()) {
    return why->Say(GE_WHY_SHAPE, "no axis before the last");
  }
  const auto a = static_cast<size_t>(at);
  s.inverse = gp::AttrInt(n, "inverse") != 0;
  s.mirrored = s.inverse && gp::AttrInt(n, "onesided") != 0;
  s.in = x[a];
  s.out = u->dims[a];
  s.length = has_length ? length[0] : s.mirrored ? 2 * (s.in - 1) : s.in;
  s.outer = Product(Dims(x.begin(), x.begin() + at));
  s.inner = Product(Dims(x.begin() + at + 1, x.end() - 1));
  s.in_parts = x.back();
  s.out_parts = u->dims.back();
  if (s.length < 1 || s.length > kLongest || (s.in_parts != 1 && s.in_parts != 2) ||
      (s.out_parts != 1 && s.out_parts != 2)) {
    return why->Say(GE_WHY_SHAPE, "only transforms of 1 to 2^24 real or complex numbers");
  }
  u->spec = s;
  return true;
}

constexpr Operator kDftOperators[] = {
    {"DFT", ParseDft, Types::kNumber, 0},
};
}  // namespace

const UnitKind DftSpec::kKind = {.name = "dft", .operators = kDftOperators};

}  // namespace ge_engines
