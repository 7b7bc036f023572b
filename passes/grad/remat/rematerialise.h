// Rematerialise: less memory for more work. Forward values read by the backward pass are computed
// again, a segment at a time, instead of being kept. One thread.
#pragma once

#include <string>
#include <vector>

#include "passes/grad/reverse.h"

namespace ge::grad {

// The kept and the repeated values, as stated by an option.
struct RematPolicy {
  enum Kind {
    kNone,    // keeps all
    kPieces,  // segments of equal bytes; keeps values of each read by a later one
    kAll,     // as kPieces, with as many segments as need the least memory together
    kDots,    // results of products, convolutions and control flow
    kNames,   // values and nodes of these names, and values read across them
    kBytes,   // as much as there is room for
  };
  Kind kind = kNone;
  int64_t pieces = 0;              // of kPieces
  std::vector<std::string> names;  // of kNames: patterns with * and ?
  double bytes = 0;                // of kBytes
  int64_t rows = 0;                // assumed for an unknown size; 0 = nothing

  // "none", "all", "dots", "names:A+B", "bytes:800M" (K, M, G: powers of 1024), or a number of
  // pieces. Throws a Refusal.
  static RematPolicy Of(const std::string& text, int64_t rows);
};

// For a function with its backward pass: puts copies of forward nodes ahead of the backward nodes
// that read values not kept. `kept` stays in any case. Answers the number of nodes present twice.
// Throws a Refusal where it cannot keep to the bytes.
//
// kBytes bounds the bytes of computed values at any one time when nodes run in their order: without
// parameters, constants, states, and views of other values. It counts bytes visible to the pass;
// engines need more beside them.
size_t Rematerialise(Fn& fn, const Reverse& sweep, const RematPolicy& policy,
                     const std::vector<Val>& kept);

}  // namespace ge::grad
