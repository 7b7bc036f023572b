#include "passes/data/pictures/resize.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "ge/ge_plugin.h"
#include "passes/data/pictures/resize_loops.h"

namespace ge::data {
namespace {

constexpr int32_t kHalf = 1 << (kWeightBits - 1);

uint8_t Clip(int32_t sum) {
  return static_cast<uint8_t>(std::clamp(sum >> kWeightBits, int32_t{0}, int32_t{255}));
}

void PlainRgb(const uint8_t* line, const Taps& taps, const PackedTaps&, uint8_t* to) {
  for (size_t x = 0; x < taps.begin.size(); ++x, to += 4) {
    const int32_t* k = taps.of(static_cast<int64_t>(x));
    const uint8_t* from = line + 3 * (taps.begin[x] - taps.first);
    int32_t r = kHalf, g = kHalf, b = kHalf;
    for (int32_t i = 0; i < taps.count[x]; ++i, from += 3) {
      r += from[0] * k[i];
      g += from[1] * k[i];
      b += from[2] * k[i];
    }
    to[0] = Clip(r);
    to[1] = Clip(g);
    to[2] = Clip(b);
    to[3] = 0;
  }
}

void PlainGray(const uint8_t* line, const Taps& taps, uint8_t* to) {
  for (size_t x = 0; x < taps.begin.size(); ++x) {
    const int32_t* k = taps.of(static_cast<int64_t>(x));
    const uint8_t* from = line + (taps.begin[x] - taps.first);
    int32_t sum = kHalf;
    for (int32_t i = 0; i < taps.count[x]; ++i) sum += from[i] * k[i];
    to[x] = Clip(sum);
  }
}

void PlainRows(const uint8_t* const* lines, const Taps& taps, const PackedTaps&, int64_t place,
               int64_t bytes, uint8_t* to) {
  const int32_t* weight = taps.of(place);
  const int32_t count = taps.count[static_cast<size_t>(place)];
  for (int64_t i = 0; i < bytes; ++i) {
    int32_t sum = kHalf;
    for (int32_t t = 0; t < count; ++t) sum += lines[t][i] * weight[t];
    to[i] = Clip(sum);
  }
}

template <class T, class Of>
void Spread(const uint8_t* from, int64_t step, int64_t n, bool reverse, T* to, const Of& of) {
  if (reverse) {
    for (int64_t i = 0; i < n; ++i) to[n - 1 - i] = of(from[i * step]);
  } else {
    for (int64_t i = 0; i < n; ++i) to[i] = of(from[i * step]);
  }
}

void PlainLook(const uint8_t* from, int64_t step, int64_t n, bool reverse, const float* table,
               float* to) {
  Spread(from, step, n, reverse, to, [table](uint8_t v) { return table[v]; });
}

}  // namespace

Taps::Taps(int64_t in, int64_t out, int64_t from, int64_t kept) {
  const double scale = static_cast<double>(in) / static_cast<double>(out);
  const double reduction = std::max(scale, 1.0);
  // The filter of a reduction is as wide as it reduces: the triangle's support is 1.
  const double support = reduction, inverse = 1.0 / reduction;
  most = static_cast<int64_t>(std::ceil(support)) * 2 + 1;
  begin.assign(static_cast<size_t>(kept), 0);
  count.assign(static_cast<size_t>(kept), 0);
  inside = std::max<int64_t>(-from, 0);
  const int64_t places =
      std::max<int64_t>(std::min(out, from + kept) - std::max<int64_t>(from, 0), 0);
  weight.assign(static_cast<size_t>(places * most), 0);
  std::vector<double> share(static_cast<size_t>(most));
  bool any = false;
  for (int64_t i = 0; i < kept; ++i) {
    const int64_t place = from + i;
    if (place < 0 || place >= out) continue;
    const double center = (static_cast<double>(place) + 0.5) * scale;
    const int64_t low = std::max<int64_t>(static_cast<int64_t>(center - support + 0.5), 0);
    const int64_t high = std::min(static_cast<int64_t>(center + support + 0.5), in);
    double sum = 0;
    for (int64_t t = low; t < high; ++t) {
      const double away = std::abs((static_cast<double>(t) - center + 0.5) * inverse);
      const double w = away < 1.0 ? 1.0 - away : 0.0;
      share[static_cast<size_t>(t - low)] = w;
      sum += w;
    }
    for (int64_t t = 0; t < high - low; ++t) {
      double w = share[static_cast<size_t>(t)];
      if (sum != 0.0) w /= sum;
      weight[static_cast<size_t>((i - inside) * most + t)] =
          static_cast<int32_t>(0.5 + w * (int64_t{1} << kWeightBits));
    }
    begin[static_cast<size_t>(i)] = static_cast<int32_t>(low);
    count[static_cast<size_t>(i)] = static_cast<int32_t>(high - low);
    first = any ? std::min(first, low) : low;
    end = any ? std::max(end, high) : high;
    any = true;
  }
}

void PackHalves(const Taps& taps, PackedTaps* to) {
  const int64_t groups = PackedGroups(taps), most = taps.most;
  const int64_t places = static_cast<int64_t>(taps.weight.size()) / most;
  to->halves.assign(static_cast<size_t>(places * groups * 8), 0);
  for (int64_t x = 0; x < places; ++x) {
    for (int64_t t = 0; t < most; ++t) {
      const int32_t k = taps.weight[static_cast<size_t>(x * most + t)];
      const int64_t at = (x * groups + t / 4) * 8 + t % 4;
      to->halves[static_cast<size_t>(at)] = static_cast<int16_t>(k >> kHalfBits);
      to->halves[static_cast<size_t>(at + 4)] = static_cast<int16_t>(k & ((1 << kHalfBits) - 1));
    }
  }
}

void PackDigits(const Taps& taps, PackedTaps* to) {
  const auto places = static_cast<int64_t>(taps.begin.size());
  const int64_t quads = (places + kQuad - 1) / kQuad;
  const int64_t stride = PackedGroups(taps) * kDigits * kFours;
  to->from.assign(static_cast<size_t>(quads * (kQuad + 1)), 0);
  to->digits.assign(static_cast<size_t>(quads * stride), 0);
  for (int64_t x = 0; x < places; ++x) {
    const auto i = static_cast<size_t>(x);
    const int32_t n = taps.count[i];
    if (n == 0) continue;
    int32_t* quad = to->from.data() + x / kQuad * (kQuad + 1);
    quad[x % kQuad] = 3 * static_cast<int32_t>(taps.begin[i] - taps.first);
    quad[kQuad] = std::max(quad[kQuad], (n + 3) / 4);
    int8_t* digits = to->digits.data() + x / kQuad * stride + x % kQuad * 4;
    for (int32_t t = 0; t < n; ++t) {
      WeightDigits(taps.of(x)[t], digits + t / 4 * kDigits * kFours + t % 4, kFours);
    }
  }
}

const ResizeLoops& PlainLoops() {
  static constexpr ResizeLoops kLoops = {nullptr, PlainRgb, nullptr, PlainRows, PlainLook};
  return kLoops;
}

const ResizeLoops& LoopsOf(uint32_t isa_cap) {
#if defined(__x86_64__)
  const auto may = [isa_cap](uint32_t isa) { return isa_cap == GE_ISA_NATIVE || isa_cap >= isa; };
  static const bool avx512 = Avx512Loops() != nullptr && __builtin_cpu_supports("avx512vnni") &&
                             __builtin_cpu_supports("avx512bw") &&
                             __builtin_cpu_supports("avx512vl");
  static const bool avx2 = Avx2Loops() != nullptr && __builtin_cpu_supports("avx2");
  if (avx512 && may(GE_ISA_AVX512)) return *Avx512Loops();
  if (avx2 && may(GE_ISA_AVX2)) return *Avx2Loops();
#endif
  return PlainLoops();
}

void Resampler::Begin(int64_t height, int64_t width, int64_t full_height, int64_t full_width,
                      int64_t top, int64_t left, const Planes& to) {
  to_ = to;
  rows_ = Taps(height, full_height, top, to.height);
  columns_ = Taps(width, full_width, left, to.width);
  next_ = rows_.first;
  out_ = 0;
  stride_ = (to.width * (to.channels == 3 ? 4 : 1) + 63) / 64 * 64;
  const int64_t bytes = (columns_.end - columns_.first) * to.channels;
  line_.assign(static_cast<size_t>(bytes + LinePadding(columns_)), 0);
  ring_.assign(static_cast<size_t>(rows_.most * stride_ + 64), 0);
  row_.assign(static_cast<size_t>(stride_ + 64), 0);
  taken_.resize(static_cast<size_t>(4 * PackedGroups(rows_)));
  if (to.channels == 3 && to.loops->pack != nullptr) to.loops->pack(columns_, &packed_columns_);
  if (to.loops->pack_rows != nullptr) to.loops->pack_rows(rows_, &packed_rows_);
}

void Resampler::Line() {
  uint8_t* to = ring_.data() + next_ % rows_.most * stride_;
  if (to_.channels == 3) {
    to_.loops->rgb(line_.data(), columns_, packed_columns_, to);
  } else {
    PlainGray(line_.data(), columns_, to);
  }
  ++next_;
  while (out_ < to_.height) {
    const auto o = static_cast<size_t>(out_);
    if (rows_.begin[o] + rows_.count[o] > next_) return;
    Emit();
  }
}

void Resampler::Finish() {
  while (out_ < to_.height) Emit();
}

void Resampler::Emit() {
  const auto o = static_cast<size_t>(out_);
  const int64_t n = rows_.count[o];
  std::fill(taken_.begin(), taken_.end(), ring_.data());
  for (int64_t t = 0; t < n; ++t) {
    taken_[static_cast<size_t>(t)] = ring_.data() + (rows_.begin[o] + t) % rows_.most * stride_;
  }
  to_.loops->rows(taken_.data(), rows_, packed_rows_, out_, stride_, row_.data());
  const int64_t step = to_.channels == 3 ? 4 : 1, w = to_.width;
  for (int64_t c = 0; c < to_.channels; ++c) {
    const int64_t at = (c * to_.height + out_) * w;
    if (to_.floats != nullptr) {
      to_.loops->look(row_.data() + c, step, w, to_.flip, to_.table + c * 256, to_.floats + at);
    } else {
      Spread(row_.data() + c, step, w, to_.flip, to_.bytes + at, [](uint8_t v) { return v; });
    }
  }
  ++out_;
}

}  // namespace ge::data
