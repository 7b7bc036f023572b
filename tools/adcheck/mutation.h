// Mutation: what the plugin of mutants (mutant_plugin.cc) is to break, and what it has seen. Plain
// data, shared between the tool and the plugin by the symbol ge_adcheck_mutation; used while nobody
// else derives. The plugin of the product knows nothing of it.
#pragma once

#include <cstdint>

namespace ge::adcheck {

enum class Break : int32_t {
  kNone = 0,
  kSign,    // the result with the other sign; a condition turned round
  kSwap,    // the first two operands of what does not commute; the ways of a Where
  kFirst,   // the first operand instead of the result: the others are dropped
  kSecond,  // the second one
};
inline constexpr int32_t kBreaks = 5;

// The longest rule of the cases, a cubic GridSample, emits some 900 nodes. Beyond, the run fails.
inline constexpr int32_t kMostNodes = 2048, kMostEmitted = 32768;

struct Mutation {
  char op[64];  // whose rule: "ge.SumToShape"; "" = none
  // The node to break: what the rule has emitted in one call up to it, "Mul Neg Sum ". "" = none.
  char node[kMostEmitted];
  Break how;
  bool applied;
  // What the rule emitted in its first call, and, by node, which breaks there are (bits by Break).
  char emitted[kMostEmitted];
  uint32_t breaks[kMostNodes];
  int32_t calls, nodes;
};

}  // namespace ge::adcheck
