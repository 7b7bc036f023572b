// Check: one rule that the engine relies on, tried by itself; Case: a run of one, in a process of
// its own. What a run finds is thrown as a Finding, or told and gone on with.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/ascend_check/vendor.h"

namespace ascend_check {

enum class Outcome : uint8_t {
  kPass,
  kDiffers,  // from what the engine relies on
  kTold,     // nothing was judged: an answer for who reads the report
  kSkipped,  // it needs what is not here
  kCrashed,
  kHung,
};
const char* NameOf(Outcome outcome);

struct Finding {
  Outcome outcome;
  std::string text;
};

class Case {
 public:
  explicit Case(std::string folder) : folder_(std::move(folder)) {}

  // The libraries; where one is missing, `otherwise`.
  const Vendor& runtime();
  const Vendor& operators(Outcome otherwise = Outcome::kSkipped);

  [[noreturn]] static void Differs(const std::string& text);
  [[noreturn]] static void Skip(const std::string& text);
  static void Need(bool holds, const std::string& otherwise);
  // The call succeeded.
  void Ok(acl::Status found, const std::string& call);
  // The call was refused; by that number, where one is wanted. The answer is told.
  void Refused(acl::Status found, const std::string& call, acl::Status wanted = acl::kSuccess);
  // What stands beside the outcome.
  void Tell(const std::string& text);
  // Nothing is judged from here on.
  void OnlyTell() { only_tells_ = true; }
  // A difference that does not end the run.
  void Note(const std::string& text);

  Finding Result() const;

 private:
  std::string Answer(acl::Status status, const std::string& call);

  const std::string folder_;
  Vendor vendor_;
  bool runtime_open_ = false, operators_open_ = false, only_tells_ = false;
  std::string told_, differs_;
};

struct Check {
  std::string name;      // as --only takes it
  std::string rule;      // of docs/ascend/sources.md
  std::string sentence;  // what holds where it passes
  std::function<void(Case&)> run;
};

// All of them, in the order of the report.
std::vector<Check> AllChecks();

std::vector<Check> SymbolChecks();
std::vector<Check> DeviceChecks();
std::vector<Check> QueueChecks();
std::vector<Check> MemoryChecks();
std::vector<Check> PhaseChecks();
std::vector<Check> ViewChecks();
std::vector<Check> PointwiseChecks();
std::vector<Check> RowChecks();
std::vector<Check> ProductChecks();
std::vector<Check> MoveChecks();
std::vector<Check> OpenQuestions();

}  // namespace ascend_check
