// ge-shardcheck --programs: random nets and steps on ranks against one process.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "tools/shardcheck/command.h"
#include "tools/shardcheck/draw.h"
#include "tools/shardcheck/shrink.h"

namespace ge::shardcheck {
namespace {

// Of a hundred programs, how many may be of no use, and how many have to move something.
constexpr int kMostIdle = 5, kLeastMoving = 50, kLeastOfAKind = 3;

// What has become of a program.
struct Outcome {
  std::string failure;  // empty: none
  std::string idle;     // why it says nothing; empty: it does
  double difference = 0;
  Moves moves;
  int refused = 0;  // pins that cannot be, refused by their names
};

class ProgramsRun {
 public:
  explicit ProgramsRun(const Options& options) : options_(options) {}
  int Run();

 private:
  Outcome Check(RankProgram p) const;
  std::string DropIllegal(RankProgram* p, int* refused) const;
  bool IsRounding(const RankProgram& p, const Trained& whole, double difference) const;
  void Take(const std::string& name, const RankProgram& p);
  bool TakeFiles();
  void Report(const std::string& name, const RankProgram& p, const Outcome& o);
  void AddUp(const RankProgram& p, const Outcome& o);
  int WantEnough();
  void Print(int failed) const;

  const Options& options_;
  int drawn_ = 0, passed_ = 0, failed_ = 0, moving_ = 0, shares_ = 0, boxes_ = 0;
  std::map<std::string, int> ops_, idle_, meshes_, optimizers_, collectives_, pinned_, kinds_;
  int refused_ = 0;
  double worst_ = 0;
};

// What follows a failure's place and numbers.
std::string KindOf(const std::string& failure) {
  std::string kind;
  for (const char c : failure.substr(0, 200)) {
    if (c < '0' || c > '9') kind += c;
  }
  return kind.substr(0, 48);
}

// A pin that leaves ranks without a share is refused by its name, and is gone then.
std::string ProgramsRun::DropIllegal(RankProgram* p, int* refused) const {
  for (size_t i = 0; i < p->pins.size();) {
    const ProgramPin pin = p->pins[i];
    if (pin.legal) {
      ++i;
      continue;
    }
    RankProgram one = *p;
    one.pins = {pin};
    const auto trained = TrainRanks(one, options_.train, nullptr);
    const std::string said = trained.ok() ? "" : trained.status().message();
    if (said.find("pin '" + pin.name + "=" + pin.dims + "'") == std::string::npos ||
        said.find("too few to give some to each") == std::string::npos) {
      return fmt::format("pin '{}={}' leaves ranks without a share, and {}", pin.name, pin.dims,
                         said.empty() ? "is taken" : "what is said is: " + said);
    }
    ++*refused;
    p->pins.erase(p->pins.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return {};
}

// Whether one process that begins a bit beside moves about as far: then the program says nothing,
// as a sign or a greatest that hangs on the last bit.
bool ProgramsRun::IsRounding(const RankProgram& p, const Trained& whole, double difference) const {
  constexpr uint64_t kTries = 4;
  double most = 0;
  for (uint64_t nudge = 1; nudge <= kTries; ++nudge) {
    const auto moved = TrainWhole(p, options_.train, nudge);
    std::string where;
    if (moved.ok()) most = std::max(most, Difference(whole, *moved, &where));
  }
  return most > difference / 10;
}

Outcome ProgramsRun::Check(RankProgram p) const {
  Outcome o;
  auto whole = TrainWhole(p, options_.train, 0);
  if (!whole.ok() && p.symbolic) {  // where a setting has the batch's number in it
    p.symbolic = false;
    whole = TrainWhole(p, options_.train, 0);
  }
  if (!whole.ok()) o.idle = "refused by one process: " + whole.status().message().substr(0, 160);
  if (whole.ok() && !IsFinite(*whole)) o.idle = "numbers are too large";
  if (!o.idle.empty()) return o;
  o.failure = DropIllegal(&p, &o.refused);
  if (!o.failure.empty()) return o;
  const auto ranks = TrainRanks(p, options_.train, &o.moves);
  if (!ranks.ok()) {
    o.failure = ranks.status().message();
    return o;
  }
  std::string where;
  o.difference = Difference(*whole, *ranks, &where);
  if (o.difference <= 1) return o;
  if (std::isfinite(o.difference) && IsRounding(p, *whole, o.difference)) {
    if (options_.verbose && !options_.json) fmt::print("# {}\n", where);
    o.idle = "rounding moves it as far";
  } else {
    o.failure = "ranks differ from one process: " + where;
  }
  return o;
}

void ProgramsRun::Report(const std::string& name, const RankProgram& p, const Outcome& o) {
  ++failed_;
  if (options_.json) return;
  fmt::print("FAILED  {}: {}\n", name, o.failure);
  const std::string kind = KindOf(o.failure);
  // One of each kind is made small: the others tell little more.
  if (!p.said_text.empty() || kinds_[kind]++ > 0) return;
  const RankProgram less = Shrink(p, [&](const RankProgram& q) {
    const Outcome now = Check(q);
    return !now.failure.empty() && KindOf(now.failure) == kind;
  });
  fmt::print("# {}, made small: {}\n{}", name, Check(less).failure, FileTextOf(less));
  std::fflush(stdout);
}

void ProgramsRun::AddUp(const RankProgram& p, const Outcome& o) {
  ++passed_;
  worst_ = std::max(worst_, o.difference);
  const std::set<std::string> live = p.Live();
  for (const NetNode& n : p.nodes) {
    const bool read = std::any_of(n.out.begin(), n.out.end(),
                                  [&](const NetValue& v) { return live.count(v.name) != 0; });
    if (read) ++ops_[n.op];
  }
  ++meshes_[fmt::format("{}", fmt::join(p.sizes, "x"))];
  if (!p.options.empty()) ++optimizers_[p.options[0].substr(p.options[0].find('=') + 1)];
  moving_ += !o.moves.collectives.empty();
  for (const auto& [kind, n] : o.moves.collectives) ++collectives_[kind];
  shares_ += !p.states.empty();
  boxes_ += o.moves.states_in_boxes;
  refused_ += o.refused;
  for (const ProgramPin& pin : p.pins) {
    if (!pin.legal) continue;
    ++pinned_[pin.name[0] == 'w' ? "states" : pin.name[0] == 'v' ? "values" : "constants"];
  }
}

// So that a run that draws nothing of use is no proof.
int ProgramsRun::WantEnough() {
  if (options_.program != 0 || !options_.file.empty()) return 0;
  int failed = 0;
  const auto want = [&](const std::string& what, int found, int least) {
    if (found >= least) return;
    ++failed;
    if (!options_.json) {
      fmt::print("FAILED  {}: {} of {} programs, wanted {}\n", what, found, drawn_, least);
    }
  };
  want("that say something", passed_ + failed_, drawn_ * (100 - kMostIdle) / 100);
  want("that move anything", moving_ + failed_, drawn_ * kLeastMoving / 100);
  for (const char* kind : {"AllReduce", "AllGather", "ReduceScatter", "AllToAll"}) {
    want(std::string("with ") + kind, collectives_[kind] + failed_, drawn_ * kLeastOfAKind / 100);
  }
  want("whose states lie in boxes", boxes_ + failed_, drawn_ * kLeastMoving / 100);
  for (const char* of : {"states", "values", "constants"}) {
    want(std::string("pins of ") + of, pinned_[of] + failed_, drawn_ * kLeastOfAKind / 100);
  }
  want("pins that are refused", refused_ + failed_, drawn_ * kLeastOfAKind / 100);
  return failed;
}

std::string CountsText(const std::map<std::string, int>& counts) {
  std::string text;
  for (const auto& [name, n] : counts) text += fmt::format("  {} {}", name, n);
  return text;
}

void ProgramsRun::Print(int failed) const {
  int idle = 0, operators = 0;
  for (const auto& [why, n] : idle_) idle += n;
  for (const auto& [op, n] : ops_) operators += n;
  if (options_.json) {
    fmt::print("{}\n", nlohmann::json{{"passed", passed_},
                                      {"failed", failed},
                                      {"idle", idle_},
                                      {"moving", moving_},
                                      {"collectives", collectives_},
                                      {"operators", ops_},
                                      {"meshes", meshes_},
                                      {"optimizers", optimizers_},
                                      {"states_in_shares", shares_},
                                      {"states_in_boxes", boxes_},
                                      {"pins", pinned_},
                                      {"pins_refused", refused_},
                                      {"greatest", worst_}}
                           .dump());
    return;
  }
  fmt::print("{} programs with {} operators of {} kinds:{}\n", passed_, operators, ops_.size(),
             CountsText(ops_));
  fmt::print("meshes:{}; optimizers:{}\n", CountsText(meshes_), CountsText(optimizers_));
  fmt::print("{} move something; with{}; {} with states in shares, {} states in boxes\n", moving_,
             CountsText(collectives_), shares_, boxes_);
  fmt::print("pins:{}; {} refused, which leave ranks without a share\n", CountsText(pinned_),
             refused_);
  for (const auto& [why, n] : idle_) fmt::print("{} say nothing: {}\n", n, why);
  fmt::print("greatest difference: {:.3f} of what is allowed\n", worst_);
  fmt::print("{} passed, {} failed, 0 skipped\n", passed_, failed);
}

void ProgramsRun::Take(const std::string& name, const RankProgram& p) {
  if (options_.verbose && !options_.json) {
    fmt::print("# {}\n{}", name, FileTextOf(p));
    std::fflush(stdout);
  }
  ++drawn_;
  Outcome o = Check(p);
  // A file is there because it says something.
  if (!o.idle.empty() && !p.said_text.empty()) o.failure = "it says nothing: " + o.idle;
  if (!o.failure.empty()) {
    Report(name, p, o);
  } else if (!o.idle.empty()) {
    ++idle_[o.idle];
    if (options_.verbose && !options_.json) fmt::print("# it says nothing: {}\n", o.idle);
  } else {
    AddUp(p, o);
  }
}

// False, and a message: there are none, or one that cannot be read.
bool ProgramsRun::TakeFiles() {
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  std::error_code error;
  if (fs::is_directory(options_.file, error)) {
    for (const auto& entry : fs::directory_iterator(options_.file, error)) {
      if (entry.path().extension() == ".gt") files.push_back(entry.path().string());
    }
    std::sort(files.begin(), files.end());
  } else if (fs::exists(options_.file, error)) {
    files.push_back(options_.file);
  }
  if (files.empty()) {
    fmt::print(stderr, "ge-shardcheck: {} is no .gt file and no folder of them\n", options_.file);
  }
  for (const std::string& file : files) {
    std::ifstream in(file);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    RankProgram p;
    const std::string wrong = ReadProgram(text, &p);
    if (!wrong.empty()) {
      fmt::print(stderr, "ge-shardcheck: {}: {}\n", file, wrong);
      return false;
    }
    Take(fs::path(file).filename().string(), p);
  }
  return !files.empty();
}

int ProgramsRun::Run() {
  if (!options_.file.empty()) {
    if (!TakeFiles()) return 2;
  } else {
    const bool one = options_.program != 0;
    uint64_t seed = one ? options_.program : options_.seed * 1000000007ull;
    // Those that say nothing are drawn again.
    const int wanted = one ? 1 : options_.programs;
    for (; passed_ + failed_ < wanted && drawn_ < 2 * wanted; ++seed) {
      Take(fmt::format("program {}", seed), DrawProgram(seed, {}));
    }
  }
  const int failed = failed_ + WantEnough();
  Print(failed);
  return failed == 0 ? 0 : 1;
}

}  // namespace

int CheckPrograms(const Options& options) { return ProgramsRun(options).Run(); }

}  // namespace ge::shardcheck
