// Case: one case of the kit, its name and the function that judges a plugin. Cases know nothing of
// processes: run_cases.h runs each in one of its own. Plain data.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace ge::conform {

enum class Verdict { kPass, kFail, kUnsupported, kCrash, kHang, kExcluded, kXfail, kNotRun };
inline constexpr int kVerdicts = 8;
const char* NameOf(Verdict verdict);  // "PASS"
// FAIL, CRASH and HANG.
bool IsBad(Verdict verdict);

struct Outcome {
  Verdict verdict = Verdict::kPass;
  std::string reason;
};
inline Outcome Pass(std::string note = "") { return {Verdict::kPass, std::move(note)}; }
inline Outcome Fail(std::string why) { return {Verdict::kFail, std::move(why)}; }
inline Outcome Unsupported(std::string why) { return {Verdict::kUnsupported, std::move(why)}; }

class Subject;

struct Case {
  int level = 0;  // 0 to 8
  std::string name;
  Outcome (*run)(Subject& subject, int argument) = nullptr;
  int argument = 0;    // tells cases of one function apart
  bool alone = false;  // it measures time: no other case runs beside it

  std::string id() const { return "L" + std::to_string(level) + "/" + name; }
};

inline constexpr int kLevels = 9;
// The subject of each level, in a few words.
const char* LevelTitle(int level);
// All cases, by level.
std::vector<Case> AllCases();

// One table a level, each in a file of its own.
std::vector<Case> LoadCases();
std::vector<Case> SkewCases();
std::vector<Case> HonestyCases();
std::vector<Case> RuleCases();  // of level 2, too: operators and passes
std::vector<Case> NumericsCases();
std::vector<Case> MemoryCases();
std::vector<Case> OrderCases();    // of level 4, too
std::vector<Case> CaptureCases();  // of level 4, too: captures and stamps
std::vector<Case> CostCases();
std::vector<Case> OverheadCases();
std::vector<Case> FaultCases();
std::vector<Case> RandomCases();

}  // namespace ge::conform
