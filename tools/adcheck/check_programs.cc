// ge-adcheck --programs: random programs with control flow; see program.h.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "tools/adcheck/command.h"
#include "tools/adcheck/program.h"

namespace ge::adcheck {
namespace {

// Nodes executed by the gradient for each of the model, both after rewriting: the price that
// reverse mode may take.
constexpr double kMostRatio = 4;

class ProgramsRun {
 public:
  explicit ProgramsRun(const Options& options) : options_(options) {}
  int Run();

 private:
  CheckResult Check(const Program& p) const;
  Status Count(const Program& p, const CheckResult& r);
  void Report(uint64_t seed, Program p, const CheckResult& r);

  const Options& options_;
  int passed_ = 0, failed_ = 0;
  CheckResult worst_;
  double sum_primal_ = 0, sum_grad_ = 0, greatest_ = 0;
  uint64_t greatest_seed_ = 0;
  std::map<std::string, int> kinds_;  // of failures
};

CheckSpec SpecOf(const Program& p, int order) {
  CheckSpec spec;
  spec.text = p.Text(), spec.of = "loss", spec.wrt = p.wrt, spec.inputs = p.inputs;
  spec.order = order, spec.pairs = 2;
  return spec;
}

// Failures of one kind have this in common.
std::string KindOf(const std::string& failure) {
  std::string kind;
  for (const char c : failure.substr(0, 160)) {
    if (c < '0' || c > '9') kind += c;
  }
  return kind.substr(0, 60);
}

CheckResult ProgramsRun::Check(const Program& p) const {
  std::mt19937_64 random(options_.seed);
  return CheckModel(SpecOf(p, options_.order), options_.model, random);
}

Status ProgramsRun::Count(const Program& p, const CheckResult&) {
  const std::string pass = "grad:of=loss;wrt=" + [&] {
    std::string list;
    for (const std::string& x : p.wrt) list += (list.empty() ? "" : "+") + x;
    return list;
  }();
  GE_ASSIGN_OR_RETURN(const auto model, Model::Load(p.Text(), pass, options_.model));
  GE_ASSIGN_OR_RETURN(const std::string text, model->Text());
  Arrays inputs = p.inputs;
  if (model->HasInput("grad", "ct.loss")) inputs["ct.loss"] = Array::Of({3});
  GE_ASSIGN_OR_RETURN(const uint64_t primal, CountNodes(text, "main", inputs));
  GE_ASSIGN_OR_RETURN(const uint64_t grad, CountNodes(text, "grad", inputs));
  sum_primal_ += static_cast<double>(primal), sum_grad_ += static_cast<double>(grad);
  const double ratio =
      static_cast<double>(grad) / static_cast<double>(std::max<uint64_t>(1, primal));
  if (ratio > greatest_) greatest_ = ratio;
  return {};
}

void ProgramsRun::Report(uint64_t seed, Program p, const CheckResult& r) {
  ++failed_;
  const std::string kind = KindOf(r.failure);
  if (!options_.json) fmt::print("FAILED  program {}: {}\n", seed, r.failure);
  // One of each kind is made small: the others tell little more.
  if (options_.save.empty() || kinds_[kind]++ > 0) return;
  Shrink(&p, [&](const Program& less) { return KindOf(Check(less).failure) == kind; });
  std::error_code error;
  std::filesystem::create_directories(options_.save, error);
  const std::string name = fmt::format("program_{}.gt", seed);
  std::ofstream(std::filesystem::path(options_.save) / name) << p.Text();
  std::ofstream(std::filesystem::path(options_.save) / "README", std::ios::app)
      << name << ": " << Check(p).failure.substr(0, 400) << "\n";
  if (!options_.json) fmt::print("        made small as {} of {}\n", name, options_.save);
}

int ProgramsRun::Run() {
  ProgramOptions how;
  how.recursion = options_.recursion, how.closures = options_.closures;
  const bool one = options_.program != 0;
  const uint64_t first = one ? options_.program : options_.seed * 1000000007ull;
  for (int i = 0; i < (one ? 1 : options_.programs); ++i) {
    const uint64_t seed = first + static_cast<uint64_t>(i);
    const Program p = MakeProgram(seed, how);
    if (options_.verbose) fmt::print("{}", p.Text());
    CheckResult r = Check(p);
    // Differences would look across branches: what the oracle cannot run is a failure here.
    if (r.failure.empty() && r.oracle != Oracle::kDual) r.failure = "the oracle: " + r.why_not_dual;
    if (r.failure.empty()) {
      const Status counted = Count(p, r);
      if (!counted.ok()) r.failure = "counting nodes: " + counted.message();
    }
    if (!r.failure.empty()) {
      Report(seed, p, r);
      continue;
    }
    ++passed_;
    worst_.grad = std::max(worst_.grad, r.grad), worst_.hvp = std::max(worst_.hvp, r.hvp);
    worst_.jvp = std::max(worst_.jvp, r.jvp), worst_.adjoint = std::max(worst_.adjoint, r.adjoint);
    worst_.symmetry = std::max(worst_.symmetry, r.symmetry);
  }
  const double mean = sum_primal_ > 0 ? sum_grad_ / sum_primal_ : 0;
  const bool cheap = mean <= kMostRatio;
  if (options_.json) {
    fmt::print("{}\n", nlohmann::json{{"passed", passed_},
                                      {"failed", failed_ + !cheap},
                                      {"grad", worst_.grad},
                                      {"jvp", worst_.jvp},
                                      {"adjoint", worst_.adjoint},
                                      {"hvp", worst_.hvp},
                                      {"symmetry", worst_.symmetry},
                                      {"ratio", mean},
                                      {"greatest_ratio", greatest_}}
                           .dump());
    return failed_ == 0 && cheap ? 0 : 1;
  }
  fmt::print(
      "greatest errors: grad {:.1e}  jvp {:.1e}  adjoint {:.1e}  hvp {:.1e}  symmetry {:.1e}\n",
      worst_.grad, worst_.jvp, worst_.adjoint, worst_.hvp, worst_.symmetry);
  fmt::print(
      "{}nodes executed, gradient / model: {:.2f} over all programs, at most {}; {:.2f} in the "
      "dearest\n",
      cheap ? "" : "FAILED  ", mean, kMostRatio, greatest_);
  fmt::print("{} passed, {} failed, 0 skipped\n", passed_, failed_ + !cheap);
  return failed_ == 0 && cheap ? 0 : 1;
}

}  // namespace

int CheckPrograms(const Options& options) { return ProgramsRun(options).Run(); }

}  // namespace ge::adcheck
