// ge-adcheck --mutate: breaks each node that a rule emits in each way that it admits, one at a
// time, and asks the cases of that rule whether they notice. A node is known by what its rule has
// emitted up to it, so that one line of a rule that several cases go through counts once.
#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tools/adcheck/mutation.h"
#include "tools/adcheck/op_checks.h"

namespace ge::adcheck {
namespace {

const char* NameOf(Break b) {
  static constexpr const char* kNames[] = {"", "sign", "swap", "first operand only",
                                           "second operand only"};
  return kNames[static_cast<int>(b)];
}

constexpr unsigned kMostSeconds = 60;  // of one mutant
constexpr int kUnnoticed = 17;         // exit code of a process whose mutant nobody noticed

struct Mutant {
  std::string node;  // as Mutation::node
  Break how;
  bool operator<(const Mutant& o) const { return std::tie(node, how) < std::tie(o.node, o.how); }
};

struct Tried {
  Case c;
  OpCheck check;
};

class MutateRun {
 public:
  MutateRun(const Options& options, Mutation* mutation)
      : options_(options), mutation_(mutation), rules_(AllOpRules()) {
    model_ = options.model;
    model_.plugin = options.mutant_plugin;
    options_.order = 2;  // a wrong second derivative counts, too
  }
  int Run();

 private:
  Status Collect(const std::string& op, const std::vector<Case>& cases);
  bool Notices(const Tried& t, const Mutant& m, const std::string& op);
  pid_t Start(const Mutant& m, const std::vector<size_t>& through, const std::string& op);
  void TryAll(const std::string& op);
  void ReadEqual();

  Options options_;
  ModelOptions model_;
  Mutation* mutation_;
  const std::vector<OpRule> rules_;
  std::map<Mutant, std::vector<size_t>> mutants_;  // of the present operator: what goes through it
  std::vector<Tried> tried_;
  nlohmann::json report_ = nlohmann::json::array();
  std::vector<std::string> unnoticed_, broken_;
  struct Equal {
    std::string why;
    bool met = false;
  };
  std::map<std::string, Equal> equal_;
  int all_ = 0, noticed_ = 0, unknown_ = 0;
};

// What the rule emits in each of its cases. Those without elements say nothing of numbers.
Status MutateRun::Collect(const std::string& op, const std::vector<Case>& cases) {
  tried_.clear(), mutants_.clear();
  std::mt19937_64 random(options_.seed);
  for (const Case& c : cases) {
    if (FullName(c.domain, c.op) != op || IsEmpty(c) || !c.untested.empty()) continue;
    GE_ASSIGN_OR_RETURN(const auto checks, ChecksOf(c, FindOpRule(rules_, op), options_, random));
    for (const OpCheck& check : checks) {
      *mutation_ = {};
      std::strncpy(mutation_->op, op.c_str(), sizeof mutation_->op - 1);
      std::string wrt;
      for (const std::string& x : check.spec.wrt) wrt += (wrt.empty() ? "" : "+") + x;
      const auto made = Model::Load(check.spec.text,
                                    fmt::format("grad:of={};wrt={}", check.spec.of, wrt), model_);
      if (!made.ok()) continue;
      tried_.push_back({c, check});
      std::istringstream words(mutation_->emitted);
      std::string word, prefix;
      for (int k = 0; k < mutation_->nodes && words >> word; ++k) {
        prefix += word + " ";
        for (int b = 1; b < kBreaks; ++b) {
          if ((mutation_->breaks[k] >> b & 1) == 0 || prefix.size() >= sizeof mutation_->node)
            continue;
          mutants_[{prefix, static_cast<Break>(b)}].push_back(tried_.size() - 1);
        }
      }
    }
  }
  return {};
}

bool MutateRun::Notices(const Tried& t, const Mutant& m, const std::string& op) {
  *mutation_ = {};
  std::strncpy(mutation_->op, op.c_str(), sizeof mutation_->op - 1);
  std::strncpy(mutation_->node, m.node.c_str(), sizeof mutation_->node - 1);
  mutation_->how = m.how;
  std::mt19937_64 random(options_.seed + 7);
  CheckSpec spec = t.check.spec;
  spec.pairs = 3;
  const CheckResult r = CheckModel(spec, model_, random);
  return !r.failure.empty();
}

// In a process of its own: what a broken rule hands on may be more than the rest of it can take.
// True where some case notices, by a crash or by going on for too long, too.
pid_t MutateRun::Start(const Mutant& m, const std::vector<size_t>& through, const std::string& op) {
  const pid_t child = fork();
  if (child != 0) return child;
  alarm(kMostSeconds);
  bool seen = false;
  for (size_t k = 0; k < through.size() && !seen; ++k) seen = Notices(tried_[through[k]], m, op);
  _exit(seen ? 0 : kUnnoticed);
}

void MutateRun::TryAll(const std::string& op) {
  std::map<pid_t, const Mutant*> running;
  std::vector<const Mutant*> left;
  const auto wait_for_one = [&] {
    int status = 0;
    const pid_t done = waitpid(-1, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == kUnnoticed) left.push_back(running[done]);
    running.erase(done);
  };
  for (const auto& [mutant, through] : mutants_) {
    if (running.size() == 2) wait_for_one();
    const pid_t child = Start(mutant, through, op);
    if (child < 0) left.push_back(&mutant);
    if (child > 0) running[child] = &mutant;
  }
  while (!running.empty()) wait_for_one();
  int known = 0;
  for (const Mutant* m : left) {
    const std::string name = fmt::format("{}: {}: {}", op, NameOf(m->how), m->node);
    const auto why = equal_.find(name.substr(0, name.size() - 1));
    known += why != equal_.end();
    if (why != equal_.end()) why->second.met = true;
    const std::string text = why != equal_.end()
                                 ? fmt::format("equal: {}# {}", name, why->second.why)
                                 : fmt::format("UNNOTICED  {}", name);
    if (!options_.json) fmt::print("{}\n", text);
    unnoticed_.push_back(text);
  }
  unknown_ += static_cast<int>(left.size()) - known;
  const int noticed = static_cast<int>(mutants_.size() - left.size());
  all_ += static_cast<int>(mutants_.size()), noticed_ += noticed;
  report_.push_back({{"name", op}, {"mutants", mutants_.size()}, {"noticed", noticed}});
  if (!options_.json) fmt::print("{:<28} {}/{}\n", op, noticed, mutants_.size());
  std::fflush(stdout);
}

// Lines "Op: break: Node Node # why it changes nothing".
void MutateRun::ReadEqual() {
  std::ifstream in(options_.cases + "/equal_mutants");
  for (std::string line; std::getline(in, line);) {
    const size_t hash = line.find(" # ");
    if (line.starts_with("#") || hash == std::string::npos) continue;
    equal_[line.substr(0, hash)].why = line.substr(hash + 3);
  }
}

int MutateRun::Run() {
  const auto cases = ReadCases(options_.cases);
  if (!cases.ok()) {
    fmt::print(stderr, "ge-adcheck: {}\n", cases.status().message());
    return 2;
  }
  ReadEqual();
  for (const OpRule& rule : rules_) {
    if (!rule.has_back || !IsAsked(options_, rule.name)) continue;
    const Status status = Collect(rule.name, *cases);
    if (!status.ok()) broken_.push_back(rule.name + ": " + status.message());
    TryAll(rule.name);
  }
  for (const auto& [name, equal] : equal_) {
    if (!equal.met && options_.ops.empty())
      broken_.push_back(name + ": listed as equal, and noticed or gone");
  }
  // One in a hundred may be one that changes nothing, and is listed with why.
  const bool good = all_ > 0 && broken_.empty() && unknown_ == 0 && 100 * noticed_ >= 99 * all_;
  if (options_.json) {
    fmt::print("{}\n", nlohmann::json{{"ops", report_},
                                      {"mutants", all_},
                                      {"noticed", noticed_},
                                      {"unnoticed", unnoticed_},
                                      {"broken", broken_}}
                           .dump());
  } else {
    for (const std::string& b : broken_) fmt::print("FAILED  {}\n", b);
    fmt::print("{} of {} mutants are noticed ({:.2f} %)\n", noticed_, all_,
               all_ ? 100.0 * noticed_ / all_ : 0.0);
    fmt::print("{} passed, {} failed, 0 skipped\n", noticed_, good ? 0 : all_ - noticed_ + 1);
  }
  return good ? 0 : 1;
}

}  // namespace

int MutateRules(const Options& options) {
  void* plugin = dlopen(options.mutant_plugin.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* symbol = plugin ? dlsym(plugin, "ge_adcheck_mutation") : nullptr;
  if (symbol == nullptr) {
    fmt::print(stderr,
               "ge-adcheck: '{}' is no plugin of mutants ({}); build the target grad_mutant\n",
               options.mutant_plugin, dlerror());
    return 2;
  }
  return MutateRun(options, static_cast<Mutation*>(symbol)).Run();
}

}  // namespace ge::adcheck
