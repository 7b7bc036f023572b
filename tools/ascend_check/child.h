// A check's run in a process of its own, with a time limit: what crashes or hangs there is a result
// of that check. The caller's process opens no library of the vendor's. One thread.
#pragma once

#include <functional>

#include "tools/ascend_check/check.h"

namespace ascend_check {

struct Run {
  Finding finding;
  double seconds = 0;
};

// `loud`: what the libraries print is let through.
Run RunApart(const std::function<Finding()>& run, double seconds, bool loud);
// `check` by its libraries in `folder`.
Run RunCheck(const Check& check, const std::string& folder, double seconds, bool loud);

}  // namespace ascend_check
