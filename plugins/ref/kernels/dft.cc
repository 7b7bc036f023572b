#include <algorithm>

#include "plugins/ref/kernels/rows.h"
#include "plugins/ref/kernels/twiddle.h"

namespace ref {
namespace {

struct DftPlan {
  bool inverse, onesided;
};

// What the scalar inputs say, for the shapes of this launch.
struct DftSizes {
  int64_t length;            // of the transform
  int64_t outer, in, inner;  // the input as [outer, in, inner, parts]
  int64_t out, in_parts, out_parts;
};

// False when the output's shape is not what the inputs say.
bool ReadDft(const DftPlan& p, const Call& c, DftSizes* s) {
  const Tensor x = c.in(0), y = c.out(0);
  const int64_t axis = NormalAxis(c.has_in(2) ? IntAt(c.in(2), 0) : -2, x.rank);
  if (axis < 0 || axis >= x.rank - 1) return false;
  s->in = x.dims[axis];
  s->length = p.inverse && p.onesided ? 2 * (s->in - 1) : s->in;
  if (c.has_in(1)) s->length = IntAt(c.in(1), 0);
  s->out = p.onesided && !p.inverse ? s->length / 2 + 1 : s->length;
  s->outer = PartCount(x.shape(), 0, static_cast<size_t>(axis));
  s->inner = PartCount(x.shape(), static_cast<size_t>(axis) + 1, static_cast<size_t>(x.rank) - 1);
  s->in_parts = x.dims[x.rank - 1];
  s->out_parts = p.onesided && p.inverse ? 1 : 2;
  bool ok = s->length > 0 && y.dims[axis] == s->out && y.dims[x.rank - 1] == s->out_parts;
  for (int d = 0; d < x.rank - 1; ++d) ok = ok && (d == axis || x.dims[d] == y.dims[d]);
  return ok;
}

// A real signal's spectrum from its first half: the rest mirrors it. row has room for length.
void MirrorSpectrum(double* row, int64_t length) {
  for (int64_t k = length / 2 + 1; k < length; ++k) {
    row[2 * k] = row[2 * (length - k)];
    row[2 * k + 1] = -row[2 * (length - k) + 1];
  }
}

ge_rc RunDft(const DftPlan& p, const Call& c) {
  DftSizes s{};
  if (!ReadDft(p, c, &s)) {
    return c.Fail(GE_INVALID_ARGUMENT, "axis or dft_length is not that of the output's shape");
  }
  const Tensor x = c.in(0), y = c.out(0);
  double* circle = static_cast<double*>(c.workspace());
  double* row = circle + 2 * s.length;
  FillCircle(circle, s.length);
  const bool mirrored = p.onesided && p.inverse;
  const int64_t known = std::min(s.in, mirrored ? s.length / 2 + 1 : s.length);
  const double scale = p.inverse ? 1.0 / static_cast<double>(s.length) : 1;
  for (int64_t i = 0; i < s.outer * s.inner; ++i) {
    const int64_t o = i / s.inner, r = i % s.inner;
    std::fill_n(row, 2 * s.length, 0.0);  // zeros past the signal's end
    for (int64_t k = 0; k < known; ++k) {
      LoadRow(x, ((o * s.in + k) * s.inner + r) * s.in_parts, s.in_parts, row + 2 * k);
    }
    if (mirrored) MirrorSpectrum(row, s.length);
    for (int64_t k = 0; k < s.out; ++k) {
      const FourierValue v = FourierSum(row, s.length, k, s.length, p.inverse ? 1 : -1, circle);
      Spend(s.length);
      const double parts[2] = {v.re * scale, v.im * scale};
      PutRow(y, ((o * s.out + k) * s.inner + r) * s.out_parts, s.out_parts, parts);
    }
  }
  return GE_OK;
}

std::unique_ptr<Prepared> PrepareDft(const NodeView& n, Why* why) {
  if (!NeedPorts(n, 1, 3, why) || !NeedOneFloatType(n, 6, why)) return nullptr;
  const TensorType x = n.in(0), y = n.out(0);
  for (uint32_t i = 1; i < 3; ++i) {
    if (!n.has_in(i)) continue;
    if (!IsIndexDType(n.in(i).dtype)) return NoDType(n.in(i), why), nullptr;
    if (n.in(i).count != 1) return why->Say(GE_WHY_SHAPE, "input %u is no scalar", i), nullptr;
  }
  if (x.rank < 2 || y.rank != x.rank || (x.dims[x.rank - 1] != 1 && x.dims[x.rank - 1] != 2)) {
    return NoRole(why), nullptr;
  }
  const DftPlan p{n.Int("inverse") != 0, n.Int("onesided") != 0};
  auto made = Make([p](const Call& c) { return RunDft(p, c); });
  // Which axis it is, only the launch knows. A half spectrum is of up to twice as many less one.
  int64_t most = 1;
  for (int d = 0; d < y.rank; ++d) most = std::max(most, y.dims[d]);
  if (most > int64_t{1} << 40) return why->Say(GE_WHY_SHAPE, "a dim is beyond 2^40"), nullptr;
  made->workspace = static_cast<uint64_t>(8 * most) * sizeof(double);
  made->const_align = 1;
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(dft, "DFT", PrepareDft)
