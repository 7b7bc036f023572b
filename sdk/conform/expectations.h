// The file of --xfail: cases that are known to fail, which is verified, and cases that are left
// out.
//   xfail LEVEL/CASE REASON
//   exclude LEVEL/CASE REASON      # CASE may hold *
// Plain data; any thread may read it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "case.h"

namespace ge::conform {

// Whether `text` is `pattern`, in which * stands for any characters.
bool Matches(std::string_view pattern, std::string_view text);

struct Expectation {
  bool exclude = false;
  std::string pattern, reason;
};

class Expectations {
 public:
  // Empty, or what is wrong with the file and in which line.
  std::string Read(const std::string& path);
  // nullptr: the case is run.
  const Expectation* Excluded(const Case& sample) const;
  // The outcome with what was expected of it: an expected failure is XFAIL, an unexpected pass
  // FAIL.
  Outcome Judged(const Case& sample, Outcome outcome) const;

 private:
  const Expectation* Find(const Case& sample, bool exclude) const;
  std::vector<Expectation> list_;
};

}  // namespace ge::conform
