// Mutation: orders to the plugin of mutants (mutant_plugin.cc), and its report. Plain data, shared
// between the tool and the plugin by the symbol ge_adcheck_mutation; used while nobody else
// derives. The product's plugin knows nothing of it.
#pragma once

#include <cstdint>

namespace ge::adcheck {

enum class Break : int32_t {
  kNone = 0,
  kSign,    // the negated result; a negated condition
  kSwap,    // the first two operands of what does not commute; the ways of a Where
  kFirst,   // the first operand instead of the result: the others are dropped
  kSecond,  // the second one
};
inline constexpr int32_t kBreaks = 5;

// The longest rule of the cases, a cubic GridSample, emits some 900 nodes. Beyond, the run fails.
inline constexpr int32_t kMostNodes = 2048, kMostEmitted = 32768;

struct Mutation {
  char op[64];  // whose rule: "ge.SumToShape"; "" = none
  // The node to break: all nodes emitted up to it in one call, "Mul Neg Sum ". "" = none.
  char node[kMostEmitted];
  Break how;
  bool applied;
  // All nodes emitted in the rule's first call, and the possible breaks of each (bits by Break).
  char emitted[kMostEmitted];
  uint32_t breaks[kMostNodes];
  int32_t calls, nodes;
};

}  // namespace ge::adcheck
