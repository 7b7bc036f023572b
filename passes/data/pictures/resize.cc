#include "passes/data/pictures/resize.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "passes/data/pictures/resize_loops.h"

namespace ge::data {
namespace {

constexpr int32_t kHalf = 1 << (kWeightBits - 1);

uint8_t Clip(int32_t sum) {
  return static_cast<uint8_t>(std::clamp(sum >> kWeightBits, int32_t{0}, int32_t{255}));
}

void PlainRgb(const uint8_t* line, const Taps& taps, const int16_t*, uint8_t* to) {
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

void PlainRows(const uint8_t* const* lines, const int32_t* weight, int64_t count, int64_t bytes,
               uint8_t* to) {
  for (int64_t i = 0; i < bytes; ++i) {
    int32_t sum = kHalf;
    for (int64_t t = 0; t < count; ++t) sum += lines[t][i] * weight[t];
    to[i] = Clip(sum);
  }
}

// A row of interleaved places, `step` bytes apart, to the planes.
template <class T, class Of>
void Spread(const uint8_t* row, int64_t step, const Planes& to, T* out, const Of& of) {
  const int64_t w = to.width, plane = to.height * w;
  for (int64_t c = 0; c < to.channels; ++c, out += plane) {
    const uint8_t* from = row + c;
    if (to.flip) {
      for (int64_t x = 0; x < w; ++x) out[w - 1 - x] = of(from[x * step], c);
    } else {
      for (int64_t x = 0; x < w; ++x) out[x] = of(from[x * step], c);
    }
  }
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

ResizeLoops PlainLoops() { return {PlainRgb, PlainRows, 0}; }

const ResizeLoops& BestLoops() {
  static const ResizeLoops best = [] {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) return Avx2Loops();
#endif
    return PlainLoops();
  }();
  return best;
}

void Resampler::Begin(int64_t height, int64_t width, int64_t full_height, int64_t full_width,
                      int64_t top, int64_t left, const Planes& to) {
  to_ = to;
  rows_ = Taps(height, full_height, top, to.height);
  columns_ = Taps(width, full_width, left, to.width);
  next_ = rows_.first;
  out_ = 0;
  stride_ = to.width * (to.channels == 3 ? 4 : 1);
  const int64_t bytes = (columns_.end - columns_.first) * to.channels;
  line_.assign(static_cast<size_t>(bytes + BestLoops().padding), 0);
  // SIMD loops go beyond the last place.
  ring_.assign(static_cast<size_t>(rows_.most * stride_ + BestLoops().padding), 0);
  row_.assign(static_cast<size_t>(stride_ + BestLoops().padding), 0);
  taken_.resize(static_cast<size_t>(rows_.most + 1));
  const int64_t groups = PackedGroups(columns_), most = columns_.most;
  const int64_t places = static_cast<int64_t>(columns_.weight.size()) / most;
  packed_.assign(to.channels == 3 ? static_cast<size_t>(places * groups * 8) : 0, 0);
  for (int64_t x = 0; to.channels == 3 && x < places; ++x) {
    for (int64_t t = 0; t < most; ++t) {
      const int32_t k = columns_.weight[static_cast<size_t>(x * most + t)];
      const int64_t at = (x * groups + t / 4) * 8 + t % 4;
      packed_[static_cast<size_t>(at)] = static_cast<int16_t>(k >> 11);
      packed_[static_cast<size_t>(at + 4)] = static_cast<int16_t>(k & 2047);
    }
  }
}

void Resampler::Line() {
  uint8_t* to = ring_.data() + next_ % rows_.most * stride_;
  if (to_.channels == 3) {
    BestLoops().rgb(line_.data(), columns_, packed_.data(), to);
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
  for (int64_t t = 0; t < n; ++t) {
    taken_[static_cast<size_t>(t)] = ring_.data() + (rows_.begin[o] + t) % rows_.most * stride_;
  }
  BestLoops().rows(taken_.data(), rows_.of(out_), n, stride_, row_.data());
  const int64_t step = to_.channels == 3 ? 4 : 1, at = out_ * to_.width;
  if (to_.floats != nullptr) {
    const float* table = to_.table;
    Spread(row_.data(), step, to_, to_.floats + at,
           [&](uint8_t v, int64_t c) { return table[c * 256 + v]; });
  } else {
    Spread(row_.data(), step, to_, to_.bytes + at, [](uint8_t v, int64_t) { return v; });
  }
  ++out_;
}

}  // namespace ge::data
