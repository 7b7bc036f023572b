#include "plugins/units/matmul/stft.h"

#include "plugins/units/parser.h"

namespace ge_engines {

namespace {

bool ParseSpectrum(const Parser& g, uint32_t i, Unit* u, Why* why) {
  // A table of this many samples has 16 MB; what is longer asks for a fast transform.
  constexpr int64_t kLongest = 2048;
  const ge_node& n = g.node(i);
  auto& s = u->spec.emplace<SpectrumSpec>();
  const Dims x = g.dims(n.in[0]);
  const uint32_t window = n.n_in > 2 ? n.in[2] : 0, given = n.n_in > 3 ? n.in[3] : 0;
  Dims step, length = {x.size() < 2 ? 0 : x[1]};
  if (window != 0) length = g.dims(window);
  if (n.n_in < 2 || !g.Integers(n.in[1], &step) || (given != 0 && !g.Integers(given, &length)) ||
      step.size() != 1 || length.size() != 1) {
    return why->Say(GE_WHY_DYNAMIC, "frame_step or frame_length is not constant");
  }
  s.step = step[0];
  s.length = length[0];
  const bool one = gp::AttrInt(n, "onesided") != 0;
  const bool real = x.size() == 2 || (x.size() == 3 && x[2] == 1);
  if (!real || s.step < 1 || s.length < 1 || s.length > kLongest || s.length > x[1] ||
      (window != 0 && g.dims(window) != Dims{s.length}) ||
      u->dims != Dims{x[0], (x[1] - s.length) / s.step + 1, one ? s.length / 2 + 1 : s.length, 2}) {
    return why->Say(GE_WHY_SHAPE, "only real samples in windows of up to 2048");
  }
  if (g.dtype(n.in[0]) != GE_F32 || g.dtype(n.out[0]) != GE_F32 ||
      (window != 0 && g.dtype(window) != GE_F32)) {
    return why->Say(GE_WHY_DTYPE, "only float32");
  }
  if (window != 0) u->in.push_back(window);
  return true;
}

constexpr Operator kStftOperators[] = {
    {"STFT", ParseSpectrum, Types::kNumber, 0},
};
}  // namespace

const UnitKind SpectrumSpec::kKind = {.name = "stft", .operators = kStftOperators};

}  // namespace ge_engines
