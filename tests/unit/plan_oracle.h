// Plan oracle, for tests only: judges a plan without the prover (ge/plan/check), for comparison.
// Happens-before is reachability in an explicit graph of starts and ends. A race is a pair of
// unordered accesses to common bytes with at least one write. An overlap is a read of another
// value's bytes when the instructions run one by one in a legal order. A plan without races has one
// outcome, so one legal order shows every overlap.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ge/plan/plan.h"

namespace ge::test {

struct OracleFault {
  enum class Kind {
    kStructure,
    kEarlyWait,
    kUnfinished,
    kRace,
    kOverlap,
    kOrder
  } kind = Kind::kStructure;
  std::string a, b;                // names of the two values (equal: two uses of one value)
  uint32_t first = 0, second = 0;  // instructions of kRace, kOverlap and kOrder
  std::string text;
};

struct OracleVerdict {
  std::vector<OracleFault> faults;
  bool safe() const { return faults.empty(); }
  bool has(OracleFault::Kind kind) const;
  std::string ToString() const;  // one fault a line, or "safe"
};

// Judges functions[0].
OracleVerdict Judge(const Plan& plan);

// Bytes of a domain's heaviest set of arena values in which no two may share bytes. It tries sets,
// in exponential time: for small plans that Judge finds safe.
int64_t HeaviestSet(const Plan& plan, DomainId domain);

}  // namespace ge::test
