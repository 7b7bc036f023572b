#include "case.h"

#include <iterator>

namespace ge::conform {

const char* NameOf(Verdict verdict) {
  static constexpr const char* kNames[kVerdicts] = {"PASS", "FAIL",     "UNSUPPORTED", "CRASH",
                                                    "HANG", "EXCLUDED", "XFAIL",       "NOT_RUN"};
  return kNames[static_cast<int>(verdict)];
}

bool IsBad(Verdict verdict) {
  return verdict == Verdict::kFail || verdict == Verdict::kCrash || verdict == Verdict::kHang;
}

const char* LevelTitle(int level) {
  static constexpr const char* kTitles[kLevels] = {
      "load",     "older and newer hosts", "honest offers",
      "numerics", "order and memory",      "honest prices",
      "overhead", "faults and stop",       "random graphs"};
  return kTitles[level];
}

std::vector<Case> AllCases() {
  using Table = std::vector<Case> (*)();
  static constexpr Table kTables[] = {LoadCases,     SkewCases,     HonestyCases, RuleCases,
                                      NumericsCases, MemoryCases,   OrderCases,   CaptureCases,
                                      CostCases,     OverheadCases, FaultCases,   RandomCases};
  std::vector<Case> all;
  for (const Table table : kTables) {
    std::vector<Case> some = table();
    std::move(some.begin(), some.end(), std::back_inserter(all));
  }
  return all;
}

}  // namespace ge::conform
