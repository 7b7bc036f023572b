// Analytic prices of what our CPU engines share: pointwise functions and the traffic of memory.
// An engine adds its own kernels. Measured on one host (see price.cc); the host corrects them.
// Pure.
#pragma once

#include "plugins/cpu/kit/engine.h"

namespace ge_engines::cpu {

inline constexpr double kLoopNs = 40;   // one step of ours, beside its elements
inline constexpr double kForkNs = 755;  // more with two threads (fork-join)

// One of three figures: for AVX-512, AVX2 and what every x86-64 has.
double ByIsa(const Machine& machine, double avx512, double avx2, double base);
// How many threads' worth of arithmetic a step of `elements` gets.
double Workers(const Machine& machine, double elements);
double ForkNs(const Machine& machine, double elements);
// A launch with a library's calls forks twice more, to set their threads' mode and to put it back.
inline double LibraryLaunchNs(const Machine& machine) {
  return machine.threads > 1 ? 2 * kForkNs : 0;
}
// To stream `bytes` that the step before left in the second or third cache, or in memory.
double StreamNs(const Machine& machine, double bytes);
double BytesOf(const Parser& parser, uint32_t value);
// No kernel's panels or blocks of weights of these dims take more: channels, which are the axes
// `first` and the next one, are padded to 64.
uint64_t PackedBound(const Dims& dims, size_t first);
inline size_t ProductChannels(const Dims& dims) { return dims.size() < 2 ? 0 : dims.size() - 2; }
// Of a unit's posts [from, end) on n elements, one thread, and the bytes of all posts' operands.
double PostOpsNs(const Unit& unit, const Machine& machine, double n, size_t from = 0,
                 size_t end = SIZE_MAX);
double PostOpBytes(const Unit& unit, const Parser& parser);

// What follows a convolution's sums, one thread: passes over the whole result, or kInPieces, where
// bias and the first posts are done while a piece is in a cache, or kInSums: the bias costs
// nothing.
enum class Finish { kPasses, kInPieces, kInSums };
double FinishNs(const Unit& unit, const Parser& parser, const Machine& machine, Finish how);

}  // namespace ge_engines::cpu
