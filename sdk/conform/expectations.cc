#include "expectations.h"

#include <fmt/format.h>

#include <fstream>
#include <sstream>

namespace ge::conform {

bool Matches(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern[0] != '*') {
    return !text.empty() && pattern[0] == text[0] && Matches(pattern.substr(1), text.substr(1));
  }
  for (size_t skip = 0; skip <= text.size(); ++skip) {
    if (Matches(pattern.substr(1), text.substr(skip))) return true;
  }
  return false;
}

std::string Expectations::Read(const std::string& path) {
  std::ifstream in(path);
  if (!in) return fmt::format("'{}' cannot be read", path);
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string what;
    if (!(words >> what)) continue;
    Expectation e;
    e.exclude = what == "exclude";
    if ((what != "xfail" && what != "exclude") || !(words >> e.pattern)) {
      return fmt::format("{}:{}: wanted 'xfail LEVEL/CASE REASON' or 'exclude LEVEL/CASE REASON'",
                         path, number);
    }
    std::getline(words >> std::ws, e.reason);
    if (e.reason.empty()) {
      return fmt::format("{}:{}: '{}' has no reason; say why", path, number, e.pattern);
    }
    list_.push_back(std::move(e));
  }
  return "";
}

const Expectation* Expectations::Find(const Case& sample, bool exclude) const {
  for (const Expectation& e : list_) {
    if (e.exclude == exclude && Matches(e.pattern, sample.id())) return &e;
  }
  return nullptr;
}

const Expectation* Expectations::Excluded(const Case& sample) const { return Find(sample, true); }

Outcome Expectations::Judged(const Case& sample, Outcome outcome) const {
  const Expectation* e = Find(sample, false);
  if (e == nullptr) return outcome;
  if (IsBad(outcome.verdict)) {
    return {Verdict::kXfail,
            fmt::format("{}: {} ({})", e->reason, outcome.reason, NameOf(outcome.verdict))};
  }
  if (outcome.verdict != Verdict::kPass) return outcome;
  return Fail(fmt::format("passes unexpectedly; it was expected to fail: {}", e->reason));
}

}  // namespace ge::conform
