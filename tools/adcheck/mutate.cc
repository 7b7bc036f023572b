// ge-adcheck --mutate: breaks each node that a rule emits in each way that it admits, one at a
// time, and asks the cases of that rule whether they notice. A node is known by what its rule has
// emitted up to it, so that one line of a rule that several cases go through counts once.
#include <dlfcn.h>
#include <fmt/format.h>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "tools/adcheck/mutation.h"
#include "tools/adcheck/op_checks.h"

namespace ge::adcheck {
namespace {

const char* NameOf(Break b) {
  static constexpr const char* kNames[] = {"", "sign", "swap", "first operand only",
                                           "second operand only"};
  return kNames[static_cast<int>(b)];
}

// Of one mutant: processor time beside ten times what its checks take unbroken, and what the clock
// may show for a second of that on a busy host.
constexpr double kMoreSeconds = 20, kBusy = 10;
constexpr int kUnnoticed = 17;  // exit code of a process whose mutant nobody noticed

struct Mutant {
  std::string node;  // as Mutation::node
  Break how;
  bool operator<(const Mutant& o) const { return std::tie(node, how) < std::tie(o.node, o.how); }
};

// A check that passes as long as nothing is broken, with what the oracle said then.
struct Tried {
  OpCheck check;
  OracleAnswers answers;
  CheckResult whole;
  double seconds = 0;
};

// Of a node: all that was emitted up to it, or, of a long row, how many, its digest and its end.
std::string ShortName(const std::string& node) {
  constexpr size_t kMostWords = 60, kLastWords = 12;
  std::istringstream in(node);
  std::vector<std::string> words;
  for (std::string w; in >> w;) words.push_back(w);
  uint32_t digest = 2166136261u;  // FNV-1a
  for (const char c : node) digest = (digest ^ static_cast<unsigned char>(c)) * 16777619u;
  std::string text;
  size_t first = 0;
  if (words.size() > kMostWords) {
    first = words.size() - kLastWords;
    text = fmt::format("[{} of {:08x}]", words.size(), digest);
  }
  for (size_t k = first; k < words.size(); ++k) text += (text.empty() ? "" : " ") + words[k];
  return text;
}

// Of this process and those it has waited for.
double ProcessorSeconds() {
  double seconds = 0;
  for (const auto who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage used;
    getrusage(who, &used);
    for (const timeval& t : {used.ru_utime, used.ru_stime}) {
      seconds += static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    }
  }
  return seconds;
}

class MutateRun {
 public:
  MutateRun(const Options& options, Mutation* mutation)
      : options_(options), mutation_(mutation), rules_(AllOpRules()) {
    // Processes that are forked have no threads but one.
    options_.model.threads = 1;
    model_ = options_.model;
    model_.plugin = options.mutant_plugin;
    options_.order = 2;  // a wrong second derivative counts, too
  }
  int Run();

 private:
  Status Collect(const std::string& op, const std::vector<Case>& cases);
  void Sound(const std::string& op);
  Status AddMutants(const std::string& op);
  void Watch(const std::string& op, const std::string& node, Break how);
  bool Notices(const Tried& t, const Mutant& m, const std::string& op);
  pid_t Start(const Mutant& m, const std::vector<size_t>& through, const std::string& op);
  void TryAll(const std::string& op);
  void Report(const std::string& op, const std::vector<const Mutant*>& left, int late,
              double seconds);
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
  double began_ = 0;  // the present operator, in processor time
};

// The checks of each case. Those without elements say nothing of numbers.
Status MutateRun::Collect(const std::string& op, const std::vector<Case>& cases) {
  tried_.clear();
  mutants_.clear();
  for (const Case& c : cases) {
    if (FullName(c.domain, c.op) != op || IsEmpty(c) || !c.untested.empty()) continue;
    // As --ops draws them.
    std::mt19937_64 random(options_.seed * 1000003 + std::hash<std::string>()(c.line));
    GE_ASSIGN_OR_RETURN(auto checks, ChecksOf(c, FindOpRule(rules_, op), options_, random));
    for (OpCheck& check : checks) {
      check.spec.pairs = 3;
      check.name = c.where + " " + check.name;
      tried_.push_back({std::move(check), {}, {}});
    }
  }
  Sound(op);
  return AddMutants(op);
}

// A check that fails while nothing is broken would notice whatever is, so that it has no say. One
// that a rule refuses for sizes that are not known is none.
void MutateRun::Sound(const std::string& op) {
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t k = next++; k < tried_.size(); k = next++) {
      Tried& t = tried_[k];
      std::mt19937_64 random(options_.seed + 7);
      const auto start = std::chrono::steady_clock::now();
      t.whole = CheckModel(t.check.spec, options_.model, random, false, &t.answers);
      t.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }
  };
  std::thread other(work);
  work();
  other.join();
  malloc_trim(0);  // each process of a mutant begins with a table of the pages that are left
  for (const Tried& t : tried_) {
    const bool refused = t.check.symbolic && WantsSizes(t.whole);
    if (!t.whole.failure.empty() && !refused)
      broken_.push_back(
          fmt::format("{}: {} fails unbroken: {}", op, t.check.name, t.whole.failure));
  }
  std::erase_if(tried_, [](const Tried& t) { return !t.whole.failure.empty(); });
  // Quick ones first: most mutants are noticed by any.
  std::stable_sort(tried_.begin(), tried_.end(),
                   [](const Tried& a, const Tried& b) { return a.seconds < b.seconds; });
}

void MutateRun::Watch(const std::string& op, const std::string& node, Break how) {
  *mutation_ = {};
  std::strncpy(mutation_->op, op.c_str(), sizeof mutation_->op - 1);
  std::strncpy(mutation_->node, node.c_str(), sizeof mutation_->node - 1);
  mutation_->how = how;
}

// What the rule emits in each of its checks.
Status MutateRun::AddMutants(const std::string& op) {
  for (size_t k = 0; k < tried_.size(); ++k) {
    const CheckSpec& spec = tried_[k].check.spec;
    std::string wrt;
    for (const std::string& x : spec.wrt) wrt += (wrt.empty() ? "" : "+") + x;
    Watch(op, {}, Break::kNone);
    GE_RETURN_IF_ERROR(
        Model::Load(spec.text, fmt::format("grad:of={};wrt={}", spec.of, wrt), model_).status());
    std::istringstream words(mutation_->emitted);
    std::string word, prefix;
    for (int n = 0; n < mutation_->nodes && words >> word; ++n) {
      prefix += word + " ";
      if (n >= kMostNodes || prefix.size() + 1 >= kMostEmitted) {
        return Status(Code::kLimitExceeded,
                      fmt::format("its rule emits more than {} nodes or "
                                  "{} bytes of names in {}",
                                  kMostNodes, kMostEmitted, tried_[k].check.name));
      }
      for (int b = 1; b < kBreaks; ++b) {
        if ((mutation_->breaks[n] >> b & 1) != 0)
          mutants_[{prefix, static_cast<Break>(b)}].push_back(k);
      }
    }
  }
  return {};
}

bool MutateRun::Notices(const Tried& t, const Mutant& m, const std::string& op) {
  Watch(op, m.node, m.how);
  std::mt19937_64 random(options_.seed + 7);
  OracleAnswers answers = t.answers;
  return !CheckModel(t.check.spec, model_, random, true, &answers).failure.empty();
}

// In a process of its own: what a broken rule hands on may be more than the rest of it can take.
// True where some case notices, by a crash or by going on for too long, too.
pid_t MutateRun::Start(const Mutant& m, const std::vector<size_t>& through, const std::string& op) {
  const pid_t child = fork();
  if (child != 0) return child;
  double seconds = kMoreSeconds;
  for (const size_t k : through) seconds += 10 * tried_[k].seconds;
  const rlimit most{static_cast<rlim_t>(seconds), static_cast<rlim_t>(seconds) + 5};
  setrlimit(RLIMIT_CPU, &most);
  alarm(static_cast<unsigned>(seconds * kBusy));
  bool seen = false;
  for (size_t k = 0; k < through.size() && !seen; ++k) seen = Notices(tried_[through[k]], m, op);
  _exit(seen ? 0 : kUnnoticed);
}

void MutateRun::TryAll(const std::string& op) {
  std::map<pid_t, const Mutant*> running;
  std::vector<const Mutant*> left;
  int late = 0;
  const auto wait_for_one = [&] {
    int status = 0;
    const pid_t done = waitpid(-1, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == kUnnoticed) left.push_back(running[done]);
    late += WIFSIGNALED(status) && (WTERMSIG(status) == SIGALRM || WTERMSIG(status) == SIGXCPU);
    running.erase(done);
  };
  for (const auto& [mutant, through] : mutants_) {
    if (running.size() == 2) wait_for_one();
    const pid_t child = Start(mutant, through, op);
    if (child < 0) left.push_back(&mutant);
    if (child > 0) running[child] = &mutant;
  }
  while (!running.empty()) wait_for_one();
  Report(op, left, late, ProcessorSeconds() - began_);
}

void MutateRun::Report(const std::string& op, const std::vector<const Mutant*>& left, int late,
                       double seconds) {
  int known = 0;
  for (const Mutant* m : left) {
    const std::string name = fmt::format("{}: {}: {}", op, NameOf(m->how), ShortName(m->node));
    const auto why = equal_.find(name);
    known += why != equal_.end();
    if (why != equal_.end()) why->second.met = true;
    const std::string text = why != equal_.end()
                                 ? fmt::format("equal: {} # {}", name, why->second.why)
                                 : fmt::format("UNNOTICED  {}", name);
    if (!options_.json) fmt::print("{}\n", text);
    unnoticed_.push_back(text);
  }
  unknown_ += static_cast<int>(left.size()) - known;
  const int noticed = static_cast<int>(mutants_.size() - left.size());
  all_ += static_cast<int>(mutants_.size());
  noticed_ += noticed;
  report_.push_back({{"name", op},
                     {"mutants", mutants_.size()},
                     {"noticed", noticed},
                     {"equal", known},
                     {"late", late},
                     {"seconds", seconds}});
  if (!options_.json) {
    fmt::print("{:<28} {}/{}, {} equal, {} went on too long, {:.1f} s of processor\n", op, noticed,
               mutants_.size(), known, late, seconds);
  }
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
    began_ = ProcessorSeconds();
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
