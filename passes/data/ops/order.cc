#include "passes/data/ops/order.h"

#include <bit>

namespace ge::data {
namespace {

constexpr uint32_t kOrder = 0x4f726465;  // "Orde": keeps the keys apart from draws

uint32_t Low(uint64_t x) { return static_cast<uint32_t>(x); }
uint32_t High(uint64_t x) { return static_cast<uint32_t>(x >> 32); }

uint64_t Mix(uint64_t z) {  // the finalizer of splitmix64
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

float Uniform(uint32_t word) { return static_cast<float>(word >> 8) * 0x1p-24f; }

}  // namespace

std::array<uint32_t, 4> Philox(std::array<uint32_t, 4> c, std::array<uint32_t, 2> key) {
  for (int i = 0; i < 10; ++i) {
    const uint64_t a = uint64_t{0xD2511F53} * c[0], b = uint64_t{0xCD9E8D57} * c[2];
    c = {High(b) ^ c[1] ^ key[0], Low(b), High(a) ^ c[3] ^ key[1], Low(a)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return c;
}

Permutation::Permutation(uint64_t seed, uint64_t epoch, uint64_t rows) : rows_(rows) {
  const int bits = std::bit_width(rows - 1);
  half_ = bits < 2 ? 1 : (bits + 1) / 2;
  mask_ = (uint64_t{1} << half_) - 1;
  for (uint32_t r = 0; r < kRounds; ++r) {
    const auto words = Philox({r, Low(epoch), High(epoch), kOrder}, {Low(seed), High(seed)});
    keys_[r] = words[0] | uint64_t{words[1]} << 32;
  }
}

uint64_t Permutation::Round(uint64_t i) const {
  uint64_t left = i >> half_, right = i & mask_;
  for (const uint64_t key : keys_) {
    const uint64_t next = left ^ (Mix(right ^ key) & mask_);
    left = right;
    right = next;
  }
  return left << half_ | right;
}

uint64_t Permutation::At(uint64_t i) const {
  do {
    i = Round(i);
  } while (i >= rows_);
  return i;
}

std::array<uint32_t, 2> DrawKey(uint64_t seed, std::string_view name) {
  uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a of 64 bits
  for (const char c : name) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3u;
  const uint64_t key = Mix(seed) ^ hash;
  return {Low(key), High(key)};
}

float DrawAt(std::array<uint32_t, 2> key, uint64_t position, uint32_t i) {
  return Uniform(Philox({i / 4, 0, Low(position), High(position)}, key)[i % 4]);
}

void Draws(std::array<uint32_t, 2> key, uint64_t position, uint32_t n, float* out) {
  for (uint32_t i = 0; i < n; i += 4) {
    const auto words = Philox({i / 4, 0, Low(position), High(position)}, key);
    for (uint32_t k = 0; k < 4 && i + k < n; ++k) out[i + k] = Uniform(words[k]);
  }
}

}  // namespace ge::data
