// Random numbers from a key and a position alone: Philox 4x32 with 10 rounds (Salmon and others,
// "Parallel random numbers: as easy as 1, 2, 3", SC 2011). Block j of a node encrypts the counter
// {j low, j high, 0, 0}; it gives elements 2 j and 2 j + 1 two words each. The key is {bits of the
// attribute seed as f32, 0} or, without a seed, FNV-1a of the node's name (of its id when it has
// none): every run of a model draws the same numbers, on any engine. Pure; any thread.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "ge/ge_plugin.hpp"

namespace ge_engines {

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

inline PhiloxKey KeyOf(const ge_node& node) {
  if (ge::plugin::FindAttr(node, "seed", GE_ATTR_FLOAT) != nullptr) {
    return {std::bit_cast<uint32_t>(static_cast<float>(ge::plugin::AttrFloat(node, "seed"))), 0};
  }
  const std::string_view name = ge::plugin::View(node.name);
  uint64_t h = 0xcbf29ce484222325u;
  const auto mix = [&](uint32_t byte) { h = (h ^ byte) * 0x100000001b3u; };
  for (const char ch : name) mix(static_cast<unsigned char>(ch));
  for (uint32_t shift = 0; name.empty() && shift < 32; shift += 8) mix(node.id >> shift & 255);
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

// The same made numbers of the standard normal distribution, by the transform of Box and Muller.
inline void MakeNormal(double* pair) {
  const double r = std::sqrt(-2 * std::log(1 - pair[0])), t = 2 * M_PI * pair[1];
  pair[0] = r * std::cos(t);
  pair[1] = r * std::sin(t);
}

}  // namespace ge_engines
