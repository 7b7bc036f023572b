// ge-shardcheck --rules: every case of every rule that is asked for.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "passes/kit/refusal.h"
#include "tools/shardcheck/way_check.h"

namespace ge::shardcheck {
namespace {

struct RuleSummary {
  int cases = 0, ways = 0, failed = 0;
};

class RulesRun {
 public:
  explicit RulesRun(const Options& options) : options_(options) {}
  int Run();

 private:
  void RunCase(const ShardCase& c);
  void RunCases(const std::vector<ShardCase>& cases);
  void Fail(const std::string& where, const std::string& what);
  void WantCases();
  void Print() const;

  const Options& options_;
  std::vector<parallel::Mesh> meshes_;
  std::map<std::string, RuleSummary> rules_;
  std::vector<std::string> failures_;
  int passed_ = 0;
  std::mutex mutex_;  // of what is above and of what is printed
};

void RulesRun::Fail(const std::string& where, const std::string& what) {
  failures_.push_back(where + ": " + what);
  if (!options_.json) fmt::print("FAILED  {}\n", failures_.back());
}

// What differs between the ways that a case states and those there are; empty: nothing.
std::string Unstated(const ShardCase& c, const CaseView& view) {
  std::vector<std::string> found;
  for (const parallel::Way& way : view.Ways(2)) found.push_back(TextOf(way));
  std::sort(found.begin(), found.end());
  if (found == c.ways) return {};
  return fmt::format("the rule '{}' has | {}; the case states | {}", view.RuleText(),
                     fmt::join(found, " | "), fmt::join(c.ways, " | "));
}

void RulesRun::RunCase(const ShardCase& c) {
  const auto check = WayCheck::Make(c, options_);
  const std::string title = c.node.where + " " + c.node.line;
  std::vector<std::string> wrong;
  int ways = 0;
  if (!check.ok()) {
    wrong.push_back(check.status().message());
  } else if (!(*check)->view().known()) {
    wrong.push_back("the operator has no rule");
  } else {
    const std::string unstated = Unstated(c, (*check)->view());
    ++ways;
    if (!unstated.empty()) wrong.push_back(unstated);
    for (const parallel::Mesh& mesh : meshes_) {
      for (std::string& what : (*check)->RunAll(mesh, nullptr, false, &ways)) {
        wrong.push_back(std::move(what));
      }
    }
  }
  const std::unique_lock lock(mutex_);
  RuleSummary& rule = rules_[c.name];
  ++rule.cases;
  rule.ways += ways;
  rule.failed += static_cast<int>(wrong.size());
  passed_ += ways - std::min(ways, static_cast<int>(wrong.size()));
  for (const std::string& what : wrong) Fail(title, what);
  if (options_.verbose && !options_.json) fmt::print("{}: {} ways\n", title, ways);
}

// Cases know nothing of each other, so two threads take them in turns.
void RulesRun::RunCases(const std::vector<ShardCase>& cases) {
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i = next++; i < cases.size(); i = next++) {
      if (adcheck::IsListed(options_.ops, cases[i].name)) RunCase(cases[i]);
    }
  };
  std::thread other(work);
  work();
  other.join();
  std::sort(failures_.begin(), failures_.end());
}

// A rule that nothing tries is a failure; so is a name that nothing has.
void RulesRun::WantCases() {
  for (const std::string& name : parallel::RuleNames()) {
    if (!adcheck::IsListed(options_.ops, name) || rules_.count(name) != 0) continue;
    rules_[name].failed = 1;
    Fail(name, "it has a rule and no case; write one in " + options_.cases);
  }
  if (rules_.empty()) Fail(options_.ops, "no operator of this name has a rule or a case");
}

void RulesRun::Print() const {
  if (options_.json) {
    nlohmann::json all = {{"rules", nlohmann::json::array()}, {"failures", failures_}};
    for (const auto& [name, rule] : rules_) {
      all["rules"].push_back(
          {{"name", name}, {"cases", rule.cases}, {"ways", rule.ways}, {"failed", rule.failed}});
    }
    all["passed"] = passed_;
    all["failed"] = failures_.size();
    fmt::print("{}\n", all.dump());
    return;
  }
  for (const auto& [name, rule] : rules_) {
    fmt::print("{:<28} {:>3} cases  {:>5} ways{}\n", name, rule.cases, rule.ways,
               rule.failed != 0 ? "  FAILED" : "");
  }
  fmt::print("{} passed, {} failed, 0 skipped\n", passed_, failures_.size());
}

int RulesRun::Run() {
  const auto cases = ReadShardCases(options_.cases);
  if (!cases.ok()) {
    fmt::print(stderr, "ge-shardcheck: {}\n", cases.status().message());
    return 2;
  }
  try {
    for (const std::string& m : options_.meshes) meshes_.push_back(parallel::Mesh::Of(MeshText(m)));
  } catch (const passes::Refusal& r) {
    fmt::print(stderr, "ge-shardcheck: --meshes: {}\n", r.text);
    return 2;
  }
  RunCases(*cases);
  WantCases();
  Print();
  return failures_.empty() ? 0 : 1;
}

}  // namespace

int CheckRules(const Options& options) { return RulesRun(options).Run(); }

}  // namespace ge::shardcheck
