// Writes the results of a run of the kit, as a table, as JSON and as one HTML page. One thread.
#pragma once

#include <string>
#include <vector>

#include "run_cases.h"

namespace ge::conform {

struct Report {
  Setup setup;
  std::string engine;  // the plugin's own name, empty where it could not be asked
  std::vector<Result> results;
};

// "L0-L3": the levels from L0 on that ran whole without FAIL, CRASH or HANG, each with a PASS or
// XFAIL; "none" if L0 is not among them. `all`: all cases of the kit.
std::string Badge(const Report& report, const std::vector<Case>& all);
// One line of the table, with colours where `colours`.
std::string Line(const Result& result, bool colours);
// "badge: L0-L3; 170 PASS, 12 UNSUPPORTED".
std::string LastLine(const Report& report, const std::string& badge);
std::string JsonOf(const Report& report, const std::string& badge);
// "", or why the file could not be written; it is replaced whole.
std::string WriteHtml(const Report& report, const std::string& badge, const std::string& path);

}  // namespace ge::conform
