// Random numbers from a key and a position alone: Philox 4x32 with 10 rounds (Salmon and others,
// "Parallel random numbers: as easy as 1, 2, 3", SC 2011). Block j of a node encrypts the counter
// {j low, j high, 0, 0}; it gives elements 2 j and 2 j + 1 two words each. The key is {bits of the
// attribute seed as f32, 0} or, without a seed, FNV-1a of the node's name (of its id when it has
// none): every run of a model draws the same numbers. Pure; any thread.
#pragma once

#include <algorithm>
#include <array>
#include <bit>

#include "plugins/ref/checks.h"

namespace ref {

using PhiloxWords = std::array<uint32_t, 4>;

struct PhiloxKey {
  uint32_t low = 0, high = 0;
};

inline PhiloxWords Philox(PhiloxWords words, PhiloxKey key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53} * words[0], b = uint64_t{0xCD9E8D57} * words[2];
    words = {static_cast<uint32_t>(b >> 32) ^ words[1] ^ key.low, static_cast<uint32_t>(b),
             static_cast<uint32_t>(a >> 32) ^ words[3] ^ key.high, static_cast<uint32_t>(a)};
    key.low += 0x9E3779B9;
    key.high += 0xBB67AE85;
  }
  return words;
}

inline PhiloxKey KeyOf(const NodeView& n) {
  if (n.Has("seed")) return {std::bit_cast<uint32_t>(static_cast<float>(n.Float("seed"))), 0};
  const std::string_view name = ge::plugin::View(n.node().name);
  uint64_t h = 0xcbf29ce484222325u;
  const auto mix = [&](uint32_t byte) { h = (h ^ byte) * 0x100000001b3u; };
  for (const char ch : name) mix(static_cast<unsigned char>(ch));
  for (uint32_t shift = 0; name.empty() && shift < 32; shift += 8) mix(n.node().id >> shift & 255);
  return {static_cast<uint32_t>(h), static_cast<uint32_t>(h >> 32)};
}

// Two numbers of [0, 1) with 53 bits each, for elements 2 j and 2 j + 1.
inline void UniformPair(PhiloxKey key, uint64_t j, double* pair) {
  const PhiloxWords w =
      Philox({static_cast<uint32_t>(j), static_cast<uint32_t>(j >> 32), 0, 0}, key);
  for (size_t k = 0; k < 2; ++k) {
    const uint64_t bits = uint64_t{w[2 * k + 1]} << 32 | w[2 * k];
    pair[k] = static_cast<double>(bits >> 11) * 0x1p-53;
  }
}

// draw(element, number) for every element in order; normal: of the standard normal distribution
// instead, by the transform of Box and Muller.
template <class F>
void ForEachDraw(PhiloxKey key, int64_t count, bool normal, F&& draw) {
  for (int64_t i = 0; i < count; i += 2) {
    double pair[2];
    UniformPair(key, static_cast<uint64_t>(i) / 2, pair);
    if (normal) {
      const double r = std::sqrt(-2 * std::log(1 - pair[0])), t = 2 * M_PI * pair[1];
      pair[0] = r * std::cos(t);
      pair[1] = r * std::sin(t);
    }
    for (int64_t k = i; k < std::min(i + 2, count); ++k) draw(k, pair[k - i]);
  }
}

// y = at + width * draw; an optional input has the output's shape.
inline std::unique_ptr<Prepared> PrepareDraws(const NodeView& n, bool normal, double at,
                                              double width, Why* why) {
  if (!NeedPorts(n, 0, 1, why)) return nullptr;
  if (n.has_in(0) && !NeedSameDims(n.in(0), n.out(0), why)) return nullptr;
  const PhiloxKey key = KeyOf(n);
  std::unique_ptr<Prepared> made;
  if (!VisitFloat(n.out(0).dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        made = Make([key, normal, at, width](const Call& c) {
          T* y = c.out(0).as<T>();
          ForEachDraw(key, c.out(0).count, normal,
                      [&](int64_t i, double v) { y[i] = Narrow<T>(at + width * v); });
          return static_cast<ge_rc>(GE_OK);
        });
        made->const_align = 1;
      })) {
    NoDType(n.out(0), why);
  }
  return made;
}

inline std::unique_ptr<Prepared> PrepareRandomNormal(const NodeView& n, Why* why) {
  return PrepareDraws(n, true, n.Float("mean"), n.Float("scale"), why);
}

inline std::unique_ptr<Prepared> PrepareRandomUniform(const NodeView& n, Why* why) {
  const double low = n.Float("low");
  return PrepareDraws(n, false, low, n.Float("high") - low, why);
}

}  // namespace ref
