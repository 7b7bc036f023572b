// ge-adcheck --ops: every case of every operator that is asked for.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "tools/adcheck/op_checks.h"

namespace ge::adcheck {
namespace {

// What the first gradients need: see issue 21.
constexpr const char* kCore =
    "Identity,Add,Sub,Mul,Div,Neg,MatMul,Gemm,ReduceSum,ReduceMean,Reshape,Transpose,Expand,"
    "ge.SumToShape,Cast,Exp,Log,Sqrt,Reciprocal,Pow,Where,Sum";

// What became of one operator's cases.
struct OpSummary {
  int cases = 0, checks = 0, failed = 0, only_static = 0;
  CheckResult worst;  // the greatest error of each kind
  bool dual = false, differences = false, stated = false;
  std::string why_not_dual;
  void Add(const CheckResult& r) {
    ++checks;
    worst.value = std::max(worst.value, r.value);
    worst.grad = std::max(worst.grad, r.grad);
    worst.jvp = std::max(worst.jvp, r.jvp);
    worst.adjoint = std::max(worst.adjoint, r.adjoint);
    worst.hvp = std::max(worst.hvp, r.hvp);
    worst.symmetry = std::max(worst.symmetry, r.symmetry);
    if (r.oracle == Oracle::kDual) dual = true;
    if (r.oracle == Oracle::kStated) stated = true;
    if (r.oracle == Oracle::kDifferences) {
      differences = true;
      why_not_dual = r.why_not_dual;
    }
  }
  std::string oracle() const {
    std::string text = dual ? "dual" : "";
    if (differences) text += text.empty() ? "differences" : ", differences";
    if (stated) text += text.empty() ? "stated" : ", stated";
    return text.empty() ? "none" : text;
  }
};

class OpsRun {
 public:
  explicit OpsRun(const Options& options) : options_(options), rules_(AllOpRules()) {}
  int Run();

 private:
  void RunCase(const Case& c);
  void RunCases(const std::vector<Case>& cases);
  void Fail(const std::string& where, const std::string& what);
  void WantCases();
  void Print();

  const Options& options_;
  const std::vector<OpRule> rules_;
  std::map<std::string, OpSummary> ops_;
  std::map<std::string, std::string> untested_;
  std::vector<std::string> failures_;
  int passed_ = 0;
  std::mutex mutex_;  // of what is above and of what is printed
};

void OpsRun::Fail(const std::string& where, const std::string& what) {
  failures_.push_back(where + ": " + what);
  if (!options_.json) fmt::print("FAILED  {}\n", failures_.back());
}

void OpsRun::RunCase(const Case& c) {
  const std::string name = FullName(c.domain, c.op);
  // By its own text, so that a case has the same numbers whatever runs before it.
  std::mt19937_64 random(options_.seed * 1000003 + std::hash<std::string>()(c.line));
  if (!c.untested.empty()) {
    const std::unique_lock lock(mutex_);
    untested_[name] = c.untested;
    return;
  }
  const OpRule* rule = FindOpRule(rules_, name);
  const auto checks = ChecksOf(c, rule, options_, random);
  std::unique_lock lock(mutex_);
  OpSummary& op = ops_[name];
  ++op.cases;
  if (!checks.ok()) return ++op.failed, Fail(c.where + " " + c.line, checks.status().message());
  if (checks->empty()) return ++op.failed, Fail(c.where + " " + c.line, "no input has a gradient");
  for (const OpCheck& check : *checks) {
    lock.unlock();
    const CheckResult r = CheckModel(check.spec, options_.model, random);
    lock.lock();
    if (check.symbolic && WantsSizes(r)) {
      ++op.only_static;
      continue;
    }
    op.Add(r);
    const std::string title = fmt::format("{} {} [{}]", c.where, c.line, check.name);
    if (r.failure.empty()) ++passed_;
    if (!r.failure.empty()) {
      ++op.failed;
      Fail(title, r.failure);
    }
    if (options_.verbose && !options_.json) {
      fmt::print(
          "{}: {}value {:.1e} grad {:.1e} jvp {:.1e} adjoint {:.1e} hvp {:.1e} symmetry "
          "{:.1e}\n",
          title, r.oracle == Oracle::kDifferences ? "differences (" + r.why_not_dual + ") " : "",
          r.value, r.grad, r.jvp, r.adjoint, r.hvp, r.symmetry);
    }
  }
}

// Cases know nothing of each other, so two threads take them in turns.
void OpsRun::RunCases(const std::vector<Case>& cases) {
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i = next++; i < cases.size(); i = next++) {
      if (IsAsked(options_, FullName(cases[i].domain, cases[i].op))) RunCase(cases[i]);
    }
  };
  std::thread other(work);
  work();
  other.join();
  std::sort(failures_.begin(), failures_.end());
}

// A rule that nothing tries is a failure; so is a name that nothing has.
void OpsRun::WantCases() {
  for (const OpRule& rule : rules_) {
    if (rule.has_back && IsAsked(options_, rule.name) && ops_.count(rule.name) == 0 &&
        untested_.count(rule.name) == 0) {
      ops_[rule.name].failed = 1;
      Fail(rule.name, "it has a rule and no case; write one in " + options_.cases);
    }
  }
  if (ops_.empty() && untested_.empty())
    Fail(options_.ops, "no operator of this name has a rule or a case");
}

void OpsRun::Print() {
  if (options_.json) {
    nlohmann::json all = {
        {"ops", nlohmann::json::array()}, {"failures", failures_}, {"skipped", untested_}};
    for (const auto& [name, op] : ops_) {
      all["ops"].push_back({{"name", name},
                            {"cases", op.cases},
                            {"checks", op.checks},
                            {"failed", op.failed},
                            {"oracle", op.oracle()},
                            {"only_static", op.only_static},
                            {"value", op.worst.value},
                            {"grad", op.worst.grad},
                            {"jvp", op.worst.jvp},
                            {"adjoint", op.worst.adjoint},
                            {"hvp", op.worst.hvp},
                            {"symmetry", op.worst.symmetry}});
    }
    all["passed"] = passed_;
    all["failed"] = failures_.size();
    fmt::print("{}\n", all.dump());
    return;
  }
  for (const auto& [name, op] : ops_) {
    fmt::print("{:<28} {:>3} cases  {:<13} grad {:.1e}  jvp {:.1e}  adjoint {:.1e}", name, op.cases,
               op.oracle(), op.worst.grad, op.worst.jvp, op.worst.adjoint);
    if (options_.order > 1)
      fmt::print("  hvp {:.1e}  symmetry {:.1e}", op.worst.hvp, op.worst.symmetry);
    if (op.only_static) fmt::print("  {} want known sizes", op.only_static);
    if (op.differences) fmt::print("  ({})", op.why_not_dual);
    fmt::print("{}\n", op.failed ? "  FAILED" : "");
  }
  for (const auto& [name, why] : untested_) fmt::print("skipped: {}: {}\n", name, why);
  fmt::print("{} passed, {} failed, {} skipped\n", passed_, failures_.size(), untested_.size());
}

int OpsRun::Run() {
  const auto cases = ReadCases(options_.cases);
  if (!cases.ok()) {
    fmt::print(stderr, "ge-adcheck: {}\n", cases.status().message());
    return 2;
  }
  RunCases(*cases);
  WantCases();
  Print();
  return failures_.empty() ? 0 : 1;
}

}  // namespace

std::string FullName(const std::string& domain, const std::string& op) {
  return domain.empty() ? op : domain + "." + op;
}

bool IsAsked(const Options& options, const std::string& name) {
  return options.ops.empty() || IsListed(options.ops == "core" ? kCore : options.ops, name);
}

int CheckOps(const Options& options) { return OpsRun(options).Run(); }

}  // namespace ge::adcheck
