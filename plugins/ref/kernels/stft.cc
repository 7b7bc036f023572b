#include <algorithm>

#include "plugins/ref/kernels/rows.h"
#include "plugins/ref/kernels/twiddle.h"

namespace ref {
namespace {

struct StftSizes {
  int64_t batch, samples, parts, frames, step, length, bins;
};

// What the scalar inputs say; false when it is not what the output's shape says.
bool ReadStft(const Call& c, bool onesided, StftSizes* s) {
  const Tensor x = c.in(0), y = c.out(0);
  const int64_t parts = x.rank == 3 ? x.dims[2] : 1;
  *s = {x.dims[0], x.dims[1], parts, y.dims[1], IntAt(c.in(1), 0), x.dims[1], y.dims[2]};
  if (c.has_in(2)) s->length = c.in(2).count;
  if (c.has_in(3)) s->length = IntAt(c.in(3), 0);
  return s->step > 0 && s->length > 0 && s->length <= s->samples &&
         (!c.has_in(2) || c.in(2).count == s->length) &&
         s->frames == (s->samples - s->length) / s->step + 1 &&
         s->bins == (onesided ? s->length / 2 + 1 : s->length);
}

ge_rc RunStft(bool onesided, const Call& c) {
  StftSizes s{};
  if (!ReadStft(c, onesided, &s)) {
    return c.Fail(GE_INVALID_ARGUMENT,
                  "frame_step, window and frame_length are not those of the "
                  "output's shape");
  }
  double* circle = static_cast<double*>(c.workspace());
  double *row = circle + 2 * s.length, *window = row + 2 * s.length;
  FillCircle(circle, s.length);
  std::fill_n(window, s.length, 1.0);
  if (c.has_in(2)) LoadRow(c.in(2), 0, s.length, window);
  for (int64_t i = 0; i < s.batch * s.frames; ++i) {
    const int64_t first = i / s.frames * s.samples + i % s.frames * s.step;
    for (int64_t k = 0; k < s.length; ++k) {
      double v[2] = {};
      LoadRow(c.in(0), (first + k) * s.parts, s.parts, v);
      row[2 * k] = v[0] * window[k];
      row[2 * k + 1] = v[1] * window[k];
    }
    for (int64_t k = 0; k < s.bins; ++k) {
      const FourierValue v = FourierSum(row, s.length, k, s.length, -1, circle);
      Spend(s.length);
      const double parts[2] = {v.re, v.im};
      PutRow(c.out(0), (i * s.bins + k) * 2, 2, parts);
    }
  }
  return GE_OK;
}

std::unique_ptr<Prepared> PrepareStft(const NodeView& n, Why* why) {
  if (!NeedPorts(n, 2, 4, why) || !NeedOneFloatType(n, 10, why)) return nullptr;
  const TensorType x = n.in(0), y = n.out(0);
  for (uint32_t i : {1u, 3u}) {
    if (!n.has_in(i)) continue;
    if (!IsIndexDType(n.in(i).dtype)) return NoDType(n.in(i), why), nullptr;
    if (n.in(i).count != 1) return why->Say(GE_WHY_SHAPE, "input %u is no scalar", i), nullptr;
  }
  const bool real = x.rank == 2 || (x.rank == 3 && x.dims[2] == 1);
  const bool ok = (real || (x.rank == 3 && x.dims[2] == 2)) && y.rank == 4 &&
                  y.dims[0] == x.dims[0] && y.dims[3] == 2 && (!n.has_in(2) || n.in(2).rank == 1) &&
                  y.dims[2] <= int64_t{1} << 40;
  if (!ok) return NoRole(why), nullptr;
  const bool onesided = n.Int("onesided") != 0;
  auto made = Make([onesided](const Call& c) { return RunStft(onesided, c); });
  // Half a spectrum is that of up to twice as many samples less one.
  made->workspace = static_cast<uint64_t>(10 * y.dims[2]) * sizeof(double);
  made->const_align = 1;
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(stft, "STFT", PrepareStft)
