// ge-adcheck --programs: random programs with control flow; see program.h.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
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
  CheckResult Check(const Program& p, uint64_t seed) const;
  Status Count(const Program& p, const CheckResult& r);
  Status CheckWindows(const Program& p, uint64_t seed, uint64_t* primal, uint64_t* grad) const;
  void Report(uint64_t seed, Program p, const CheckResult& r);
  void AddUp(const CheckResult& r);  // one that passed

  const Options& options_;
  int passed_ = 0, failed_ = 0;
  CheckResult worst_;
  double sum_primal_ = 0, sum_grad_ = 0, greatest_ = 0;
  int windows_ = 0;                                  // programs with loops, run in windows
  double sum_windows_ = 0, sum_windows_primal_ = 0;  // nodes executed of these
  uint64_t greatest_seed_ = 0;
  std::map<std::string, int> kinds_;  // of failures
};

CheckSpec SpecOf(const Program& p, int order) {
  CheckSpec spec;
  spec.text = p.Text();
  spec.of = "loss";
  spec.wrt = p.wrt;
  spec.inputs = p.inputs;
  spec.order = order;
  spec.pairs = 2;
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

std::string PassOf(const Program& p) {
  std::string list;
  for (const std::string& x : p.wrt) list += (list.empty() ? "" : "+") + x;
  return "grad:of=loss;wrt=" + list;
}

Arrays InputsOf(const Program& p, const Model& model) {
  Arrays inputs = p.inputs;
  if (model.HasInput("grad", "ct.loss")) inputs["ct.loss"] = Array::Of({3});
  return inputs;
}

bool SameBits(const Array& a, const Array& b) {
  return a.dtype == b.dtype && a.dims == b.dims && a.i == b.i && a.f.size() == b.f.size() &&
         (a.f.empty() || std::memcmp(a.f.data(), b.f.data(), a.f.size() * sizeof a.f[0]) == 0);
}

// One in three: a program with loops, differentiated in windows of one to three rounds.
Status ProgramsRun::CheckWindows(const Program& p, uint64_t seed, uint64_t* primal,
                                 uint64_t* grad) const {
  const std::string text = p.Text(), pass = PassOf(p);
  if (seed % 3 != 0) return {};
  if (text.find(" = Loop(") == std::string::npos && text.find(" = Scan(") == std::string::npos) {
    return {};
  }
  const std::string windows = pass + ";loop-checkpoint=" + std::to_string(1 + seed / 3 % 3);
  GE_ASSIGN_OR_RETURN(const auto kept, Model::Load(text, pass, options_.model));
  GE_ASSIGN_OR_RETURN(const auto again, Model::Load(text, windows, options_.model));
  const Arrays inputs = InputsOf(p, *kept);
  GE_ASSIGN_OR_RETURN(const Arrays wanted, kept->Run("grad", inputs));
  GE_ASSIGN_OR_RETURN(const Arrays got, again->Run("grad", inputs));
  for (const auto& [name, array] : wanted) {
    const auto found = got.find(name);
    if (found == got.end() || !SameBits(array, found->second)) {
      return Status(Code::kInternal, fmt::format("'{}' has other bits with {}", name, windows));
    }
  }
  GE_ASSIGN_OR_RETURN(const std::string derived, again->Text());
  GE_ASSIGN_OR_RETURN(*primal, CountNodes(derived, "main", inputs));
  GE_ASSIGN_OR_RETURN(*grad, CountNodes(derived, "grad", inputs));
  return {};
}

CheckResult ProgramsRun::Check(const Program& p, uint64_t seed) const {
  std::mt19937_64 random(options_.seed);
  CheckResult r = CheckModel(SpecOf(p, options_.order), options_.model, random);
  // Differences would look across branches: what the oracle cannot run is a failure here.
  if (r.failure.empty() && r.oracle != Oracle::kDual) r.failure = "the oracle: " + r.why_not_dual;
  if (!r.failure.empty()) return r;
  uint64_t primal = 0, grad = 0;
  const Status same = CheckWindows(p, seed, &primal, &grad);
  if (!same.ok()) r.failure = "in windows: " + same.message();
  r.primal_nodes = primal;
  r.grad_nodes = grad;
  return r;
}

Status ProgramsRun::Count(const Program& p, const CheckResult&) {
  GE_ASSIGN_OR_RETURN(const auto model, Model::Load(p.Text(), PassOf(p), options_.model));
  GE_ASSIGN_OR_RETURN(const std::string text, model->Text());
  const Arrays inputs = InputsOf(p, *model);
  GE_ASSIGN_OR_RETURN(const uint64_t primal, CountNodes(text, "main", inputs));
  GE_ASSIGN_OR_RETURN(const uint64_t grad, CountNodes(text, "grad", inputs));
  sum_primal_ += static_cast<double>(primal);
  sum_grad_ += static_cast<double>(grad);
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
  Shrink(&p, [&](const Program& less) { return KindOf(Check(less, seed).failure) == kind; });
  std::error_code error;
  std::filesystem::create_directories(options_.save, error);
  const std::string name = fmt::format("program_{}.gt", seed);
  std::ofstream(std::filesystem::path(options_.save) / name) << p.Text();
  std::ofstream(std::filesystem::path(options_.save) / "README", std::ios::app)
      << name << ": " << Check(p, seed).failure.substr(0, 400) << "\n";
  if (!options_.json) fmt::print("        made small as {} of {}\n", name, options_.save);
}

void ProgramsRun::AddUp(const CheckResult& r) {
  ++passed_;
  windows_ += r.grad_nodes > 0;
  sum_windows_ += static_cast<double>(r.grad_nodes);
  sum_windows_primal_ += static_cast<double>(r.primal_nodes);
  worst_.grad = std::max(worst_.grad, r.grad);
  worst_.hvp = std::max(worst_.hvp, r.hvp);
  worst_.jvp = std::max(worst_.jvp, r.jvp);
  worst_.adjoint = std::max(worst_.adjoint, r.adjoint);
  worst_.symmetry = std::max(worst_.symmetry, r.symmetry);
}

int ProgramsRun::Run() {
  ProgramOptions how;
  how.recursion = options_.recursion;
  how.closures = options_.closures;
  const bool one = options_.program != 0;
  const uint64_t first = one ? options_.program : options_.seed * 1000000007ull;
  for (int i = 0; i < (one ? 1 : options_.programs); ++i) {
    const uint64_t seed = first + static_cast<uint64_t>(i);
    const Program p = MakeProgram(seed, how);
    if (options_.verbose) fmt::print("{}", p.Text());
    CheckResult r = Check(p, seed);
    if (r.failure.empty()) {
      const Status counted = Count(p, r);
      if (!counted.ok()) r.failure = "counting nodes: " + counted.message();
    }
    if (!r.failure.empty()) {
      Report(seed, p, r);
      continue;
    }
    AddUp(r);
  }
  const double mean = sum_primal_ > 0 ? sum_grad_ / sum_primal_ : 0;
  const double windows_ratio = windows_ > 0 ? sum_windows_ / sum_windows_primal_ : 0;
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
                                      {"greatest_ratio", greatest_},
                                      {"windows", windows_},
                                      {"windows_ratio", windows_ratio}}
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
  fmt::print(
      "{} programs with loops have the same bits in windows, with {:.2f} times the model's "
      "nodes\n",
      windows_, windows_ratio);
  fmt::print("{} passed, {} failed, 0 skipped\n", passed_, failed_ + !cheap);
  return failed_ == 0 && cheap ? 0 : 1;
}

}  // namespace

int CheckPrograms(const Options& options) { return ProgramsRun(options).Run(); }

}  // namespace ge::adcheck
