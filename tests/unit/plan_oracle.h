// Plan oracle, for tests only: judges a plan by other means than the prover (ge/plan/check), so
// that the two can be compared. Happens-before is reachability in an explicit graph of starts and
// ends; a race is a pair of unordered accesses to common bytes of which one writes; an overlap is
// a read that finds another value's bytes when the instructions run one by one in a legal order.
// A plan without races has one outcome, so that one legal order shows every overlap.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ge/plan/plan.h"

namespace ge::test {

struct OracleFault {
  enum class Kind {
    kStructure,
    kDeadlock,
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

// Bytes of the heaviest set of arena values of a domain no two of which may share bytes, by trying
// sets: exponential, for small plans that Judge finds safe.
int64_t HeaviestSet(const Plan& plan, DomainId domain);

}  // namespace ge::test
