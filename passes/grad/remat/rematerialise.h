// Rematerialise: less memory for more work. What the way back reads of the way there is computed
// again, a segment at a time, instead of being kept. One thread.
#pragma once

#include <string>
#include <vector>

#include "passes/grad/reverse.h"

namespace ge::grad {

// What is kept and what is computed again, as an option says it.
struct RematPolicy {
  enum Kind {
    kNone,    // all is kept
    kPieces,  // segments of equal bytes; of each what a later one reads
    kAll,     // as kPieces, with as many segments as need the least memory together
    kDots,    // results of products, convolutions and control flow
    kNames,   // values and nodes of these names, and what is read across them
    kBytes,   // as much as there is room for
  };
  Kind kind = kNone;
  int64_t pieces = 0;              // of kPieces
  std::vector<std::string> names;  // of kNames: patterns with * and ?
  double bytes = 0;                // of kBytes
  int64_t rows = 0;                // what a size counts as that is not known; 0 = nothing

  // "none", "all", "dots", "names:A+B", "bytes:800M" (K, M, G: powers of 1024), or a number of
  // pieces. Throws a Refusal.
  static RematPolicy Of(const std::string& text, int64_t rows);
};

// Of a function whose way back is built: puts copies of forward nodes ahead of the nodes of the way
// back that read what is not kept. `kept` stays in any case. Answers how many nodes stand there
// twice. Throws a Refusal where the bytes cannot be kept to.
//
// kBytes bounds the bytes that computed values take at any one time when nodes run in their order:
// parameters, constants and states are not among them, views of other values neither. It counts
// what the pass can see; what engines need beside it they add.
size_t Rematerialise(Fn& fn, const Reverse& sweep, const RematPolicy& policy,
                     const std::vector<Val>& kept);

}  // namespace ge::grad
