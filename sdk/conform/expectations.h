// Expectations: the file of --xfail. It lists cases that fail (the kit verifies that they do) and
// cases to leave out.
//   xfail LEVEL/CASE REASON
//   exclude LEVEL/CASE REASON      # CASE may hold *
// Plain data; any thread may read it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "case.h"

namespace ge::conform {

// Whether `text` matches `pattern`; * stands for any characters.
bool Matches(std::string_view pattern, std::string_view text);

struct Expectation {
  bool exclude = false;
  std::string pattern, reason;
};

class Expectations {
 public:
  // Returns "", or the fault of the file with its line.
  std::string Read(const std::string& path);
  // The expectation that excludes the case; nullptr: run it.
  const Expectation* Excluded(const Case& sample) const;
  // The outcome after expectations: an expected failure becomes XFAIL, an unexpected pass
  // FAIL.
  Outcome Judged(const Case& sample, Outcome outcome) const;

 private:
  const Expectation* Find(const Case& sample, bool exclude) const;
  std::vector<Expectation> list_;
};

}  // namespace ge::conform
