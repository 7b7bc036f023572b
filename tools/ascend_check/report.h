// Report: what was found, as aligned text and as one JSON object. Pure.
#pragma once

#include <string>
#include <vector>

#include "tools/ascend_check/child.h"

namespace ascend_check {

struct Tried {
  Check check;
  Run run;
};

struct Report {
  struct File {
    std::string library, file;  // `file`: links followed
    long long bytes = -1;
  };
  std::vector<File> files;
  std::string chip, home;
  long long devices = -1;  // below 0: not known
  bool simulated = false;
  std::vector<Tried> tried;

  size_t count(Outcome outcome) const;
  // Everything that is not pass, told or skipped.
  size_t wrong() const;
};

std::string HeadOf(const Report& report);
std::string LineOf(const Tried& tried);
std::string EndOf(const Report& report);
std::string JsonOf(const Report& report);

}  // namespace ascend_check
