// Analytic prices shared by our CPU engines: pointwise functions and memory traffic. An
// engine adds its own kernels. Measured on one host (see price.cc); the host corrects them.
// Pure.
#pragma once

#include "plugins/cpu/kit/engine.h"

namespace ge_engines::cpu {

inline constexpr double kLoopNs = 40;   // one step of ours, beside its elements
inline constexpr double kForkNs = 755;  // more with two threads (fork-join)

// Chooses one of three figures: for AVX-512, for AVX2 and for any x86-64.
double ByIsa(const Machine& machine, double avx512, double avx2, double base);
// How many threads a step of `elements` keeps busy.
double Workers(const Machine& machine, double elements);
double ForkNs(const Machine& machine, double elements);
// A launch with a library's calls forks twice more, to set their threads' mode and to put it back.
inline double LibraryLaunchNs(const Machine& machine) {
  return machine.threads > 1 ? 2 * kForkNs : 0;
}
// ns to stream `bytes` written by the previous step, now in the second or third cache or in memory.
double StreamNs(const Machine& machine, double bytes);
double BytesOf(const Parser& parser, uint32_t value);
// Upper bound of any kernel's panels or blocks for weights of these dims: it pads the channels,
// axes `first` and the next one, to 64.
uint64_t PackedBound(const Dims& dims, size_t first);
inline size_t ProductChannels(const Dims& dims) { return dims.size() < 2 ? 0 : dims.size() - 2; }
// ns of post-ops [from, end) on n elements by one thread; bytes of all post-ops' operands.
double PostOpsNs(const Unit& unit, const Machine& machine, double n, size_t from = 0,
                 size_t end = SIZE_MAX);
double PostOpBytes(const Unit& unit, const Parser& parser);

// Where bias and post-ops of a convolution run, by one thread: in passes over the whole result,
// kInPieces (bias and first post-ops on a piece in a cache), or kInSums (the bias costs
// nothing).
enum class Finish { kPasses, kInPieces, kInSums };
double FinishNs(const Unit& unit, const Parser& parser, const Machine& machine, Finish how);

}  // namespace ge_engines::cpu
