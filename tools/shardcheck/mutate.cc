// ge-shardcheck --mutate: changes each letter of each rule's text, one at a time, and asks the
// cases of that text whether they notice: by numbers, or by ways that they state and that are gone.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "tools/shardcheck/way_check.h"

namespace ge::shardcheck {
namespace {

// Where a change of ways is looked for; numbers are looked at on the first.
constexpr int64_t kShares[] = {2, 3, 4};

struct Text {
  std::string op, rule;
  std::vector<const ShardCase*> cases;
};

bool IsSign(const std::string& text, size_t at) {
  const char c = text[at];
  if (c == '.') return true;
  if (!std::isalpha(static_cast<unsigned char>(c))) return false;
  if (c == 'S') return false;  // a setting
  const size_t colon = text.find(':'), arrow = text.find("->");
  return !(colon != std::string::npos && at > arrow && at < colon);  // "max", "min"
}

// Every text with one letter changed: to each of the others, to none, to a fresh one; and with
// other terms.
std::vector<std::string> MutantsOf(const std::string& rule) {
  std::set<char> signs = {'.', 'y'};
  for (size_t k = 0; k < rule.size(); ++k) {
    if (IsSign(rule, k)) signs.insert(rule[k]);
  }
  std::vector<std::string> mutants;
  const size_t behind = rule.find("->") + 2, colon = rule.find(':');
  const size_t outputs = colon == std::string::npos ? behind : colon + 1;
  for (const char* terms : {"", " max:", " min:"}) {
    mutants.push_back(rule.substr(0, behind) + terms + rule.substr(outputs));
  }
  if (rule[0] == '~') mutants.push_back(rule.substr(1));
  if (const size_t plus = rule.find('+'); plus != std::string::npos) {
    mutants.push_back(rule.substr(0, plus) + rule.substr(plus + 1));
  }
  std::erase(mutants, rule);
  for (size_t k = 0; k < rule.size(); ++k) {
    if (!IsSign(rule, k)) continue;
    for (const char c : signs) {
      if (c == rule[k]) continue;
      mutants.push_back(rule);
      mutants.back()[k] = c;
    }
  }
  return mutants;
}

std::vector<std::string> WaysOf(const CaseView& view, int64_t shares, const std::string& rule) {
  std::vector<std::string> ways;
  const auto change = [&](const std::string&) { return rule; };
  for (const parallel::Way& way : view.Ways(shares, change)) ways.push_back(TextOf(way));
  std::sort(ways.begin(), ways.end());
  return ways;
}

class MutateRun {
 public:
  explicit MutateRun(const Options& options) : options_(options) {}
  int Run();

 private:
  void Try(const Text& text);
  bool ByNumbers(WayCheck& check, const std::string& mutant) const;
  void Print() const;

  const Options& options_;
  int mutants_ = 0, by_numbers_ = 0, by_ways_ = 0, equal_ = 0;
  std::vector<std::string> unnoticed_;
  std::mutex mutex_;
};

bool MutateRun::ByNumbers(WayCheck& check, const std::string& mutant) const {
  for (const int64_t shares : kShares) {
    int n = 0;
    const parallel::Mesh mesh = parallel::Mesh::Of(MeshText(std::to_string(shares)));
    const auto change = [&](const std::string&) { return mutant; };
    if (!check.RunAll(mesh, change, true, &n).empty()) return true;
  }
  return false;
}

void MutateRun::Try(const Text& text) {
  std::vector<std::unique_ptr<WayCheck>> checks;
  for (const ShardCase* c : text.cases) {
    auto made = WayCheck::Make(*c, options_);
    if (made.ok()) checks.push_back(*std::move(made));
  }
  for (const std::string& mutant : MutantsOf(text.rule)) {
    bool changes = false, numbers = false, ways = false;
    for (const auto& check : checks) {
      for (const int64_t shares : kShares) {
        const auto now = WaysOf(check->view(), shares, mutant);
        changes = changes || now != WaysOf(check->view(), shares, text.rule);
        if (shares == 2) ways = ways || now != check->sample().ways;
      }
    }
    for (const auto& check : checks) numbers = numbers || (changes && ByNumbers(*check, mutant));
    const std::unique_lock lock(mutex_);
    if (!changes) {
      ++equal_;
      continue;
    }
    ++mutants_;
    if (numbers) ++by_numbers_;
    if (!numbers && ways) ++by_ways_;
    if (numbers || ways) continue;
    unnoticed_.push_back(fmt::format("{}: '{}' as '{}'", text.op, text.rule, mutant));
  }
}

void MutateRun::Print() const {
  const int noticed = by_numbers_ + by_ways_;
  const double share = mutants_ == 0 ? 0 : 100.0 * noticed / mutants_;
  if (options_.json) {
    const nlohmann::json all = {{"mutants", mutants_},       {"noticed", noticed},
                                {"by_numbers", by_numbers_}, {"by_ways", by_ways_},
                                {"equal", equal_},           {"unnoticed", unnoticed_}};
    fmt::print("{}\n", all.dump());
    return;
  }
  for (const std::string& u : unnoticed_) fmt::print("UNNOTICED  {}\n", u);
  fmt::print(
      "{} of {} mutants are noticed, {:.2f} %: {} by numbers, {} by ways that are gone; {} "
      "more split as before\n",
      noticed, mutants_, share, by_numbers_, by_ways_, equal_);
  fmt::print("{} passed, {} failed, 0 skipped\n", noticed, unnoticed_.size());
}

int MutateRun::Run() {
  const auto cases = ReadShardCases(options_.cases);
  if (!cases.ok()) {
    fmt::print(stderr, "ge-shardcheck: {}\n", cases.status().message());
    return 2;
  }
  std::map<std::pair<std::string, std::string>, Text> texts;
  for (const ShardCase& c : *cases) {
    if (!adcheck::IsListed(options_.ops, c.name)) continue;
    const auto view = CaseView::Make(c);
    if (!view.ok()) continue;  // --rules tells
    const std::string rule = (*view)->RuleText();
    if (rule.empty()) continue;
    Text& text = texts[{c.name, rule}];
    text.op = c.name;
    text.rule = rule;
    text.cases.push_back(&c);
  }
  std::vector<const Text*> all;
  for (const auto& [key, text] : texts) all.push_back(&text);
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i = next++; i < all.size(); i = next++) Try(*all[i]);
  };
  std::thread other(work);
  work();
  other.join();
  std::sort(unnoticed_.begin(), unnoticed_.end());
  Print();
  // The bar is 99 in 100; the rest is listed.
  const bool enough = mutants_ > 0 && 100 * (by_numbers_ + by_ways_) >= 99 * mutants_;
  return enough ? 0 : 1;
}

}  // namespace

int MutateRules(const Options& options) { return MutateRun(options).Run(); }

}  // namespace ge::shardcheck
