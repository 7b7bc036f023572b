// ge-test --random N --large: N random one-operator graphs of sizes at which engines take other
// ways than for a few elements: rows and columns behind whole tiles, weights too large for a cache,
// work that threads share. Each runs on every list of engines; all are compared with ref at f64
// where the case means the same there, else with ref itself.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ge/base/clock.h"
#include "ge/engine/plugin/discovery.h"
#include "tools/ge_test/random/bounds.h"

namespace ge::test {
namespace {

constexpr int kShownOfAnOp = 3;          // of an operator
constexpr int64_t kShownBytes = 4000;    // of a case's text: larger ones are drawn again by number
constexpr double kFloatsOfLarge = 0.85;  // of cases in f32: it has most of the kernels

struct LargeOp {
  const char* name;
  int64_t share;
  const OpDef* op = nullptr;
  const RandomOp* record = nullptr;
};

// Null when the operator or its file in cases/ is missing; the message is printed.
std::vector<LargeOp> LargeOps(const std::string& only) {
  std::vector<LargeOp> all = {
#define GE_LARGE_OP(name, share) {name, share},
#include "tools/ge_test/random/large_ops.def"
#undef GE_LARGE_OP
  };
  for (LargeOp& large : all) {
    for (const OpDef* op : AllOps()) {
      if (FullName(*op) == large.name) large.op = op;
    }
    if (large.op != nullptr) large.record = FindRandomOp(*large.op);
    if (large.record != nullptr) continue;
    fmt::print(stderr, "ge-test: large_ops.def names '{}', which has no file in cases/\n",
               large.name);
    return {};
  }
  std::erase_if(all, [&](const LargeOp& l) { return !only.empty() && only != l.name; });
  if (all.empty()) {
    fmt::print(stderr, "ge-test: found the operator '{}', which large_ops.def does not name\n",
               only);
  }
  return all;
}

// "a,ref;b,ref" -> lists; default: all engines together by price, and each by itself.
std::vector<std::string> Lists(const std::string& wish) {
  std::vector<std::string> lists;
  for (size_t at = 0; at < wish.size();) {
    const size_t end = std::min(wish.find(';', at), wish.size());
    lists.push_back(wish.substr(at, end - at));
    at = end + 1;
  }
  if (!lists.empty()) return lists;
  std::string all;
  for (const std::string& name : EnginesOfCases("")) {
    all += (all.empty() ? "" : ",") + name;
    if (name != "ref") lists.push_back(name);
  }
  if (!lists.empty()) lists.push_back(all);
  return lists;
}

class LargeSweep {
 public:
  LargeSweep(const SweepOptions& options, std::vector<LargeOp> ops, std::vector<std::string> lists)
      : options_(options), ops_(std::move(ops)), lists_(std::move(lists)) {
    for (const LargeOp& op : ops_) shares_ += op.share;
  }

  int Run() {
    fmt::print("seed {}, {} large cases from number {} on; engines: {}\n", options_.seed,
               options_.count, options_.first, fmt::join(lists_, "; "));
    const double begin = NowMs();
    for (int64_t i = options_.first; i < options_.first + options_.count; ++i) One(i);
    for (const std::string& list : lists_) {
      fmt::print("{}: took {} cases, {} differ\n", list, taken_[list], wrong_[list]);
      if (taken_[list] > 0 || !options_.op.empty()) continue;
      fmt::print("FAILED  {} took no case at all\n", list);
      ++failed_;
    }
    if (options_.verbose) PrintOps();
    fmt::print("{} large cases, {:.0f} s\n", options_.count, (NowMs() - begin) / 1e3);
    fmt::print("{} passed, {} failed, 0 skipped\n", passed_, failed_);
    return failed_ == 0 ? 0 : 1;
  }

 private:
  struct OpCount {
    int64_t cases = 0, failed = 0;
    double ms = 0;
  };

  // A case counts as passed when all engines that took it agree with ref.
  void One(int64_t number) {
    Random random(MixSeed(options_.seed, "large", number));
    int64_t at = random.Int(0, shares_ - 1);
    size_t k = 0;
    while (at >= ops_[k].share) at -= ops_[k++].share;
    const LargeOp& large = ops_[k];
    const double begin = NowMs();
    CaseMaker maker(*large.op, PickDType(*large.op, &random, kFloatsOfLarge), &random, true);
    large.record->make(maker);
    const std::string why = Judge(large, maker);
    OpCount& count = counts_[large.name];
    ++count.cases;
    count.ms += NowMs() - begin;
    if (why.empty()) {
      ++passed_;
      return;
    }
    ++failed_;
    if (++count.failed > kShownOfAnOp) return;
    const bool shown = Elements(maker.c) <= kShownBytes;
    fmt::print("FAILED  {} {}, seed {}, case {}: {}\n{}", large.name, Describe(maker.c),
               options_.seed, number, why, shown ? ToTextCase(maker.c, lists_.back()) : "");
  }

  // "" when every list that takes the case gives what ref gives.
  std::string Judge(const LargeOp& large, const CaseMaker& maker) {
    const RandomCase& c = maker.c;
    const DType dtype = maker.dtype();
    const DType other = large.record->bound == 0 ? DType::kUndefined : WiderDType(c, dtype);
    auto wanted = RunRandomCase(c, other, "ref");
    if (!wanted.ok()) return "ref: " + wanted.status().ToString();
    std::string why;
    for (const std::string& list : lists_) {
      auto found = RunRandomCase(c, DType::kUndefined, list);
      if (!found.ok() && IsDecline(found.status())) continue;
      ++taken_[list];
      const std::string difference =
          found.ok()
              ? OutputsDiffer(*large.record, c, dtype, found->outputs, wanted->outputs, other)
              : found.status().ToString();
      if (difference.empty()) continue;
      ++wrong_[list];
      why += fmt::format("{}{}: {}", why.empty() ? "" : "; ", list, difference);
    }
    return why;
  }

  static int64_t Elements(const RandomCase& c) {
    int64_t n = 0;
    for (const auto& in : c.inputs) n += in.tensor ? in.tensor->count() : 0;
    return n;
  }

  // "f32[5,768] f32[768,768]! transB=1": shapes, constants with '!', attributes that are numbers.
  static std::string Describe(const RandomCase& c) {
    std::string text;
    for (const auto& in : c.inputs) {
      text += in.tensor ? TypeText(*in.tensor) + (in.constant ? "! " : " ") : "- ";
    }
    for (const Attr& a : c.attrs) {
      std::string value = "...";
      if (const auto* i = std::get_if<int64_t>(&a.value)) value = fmt::format("{}", *i);
      if (const auto* d = std::get_if<double>(&a.value)) value = fmt::format("{}", *d);
      if (const auto* s = std::get_if<std::string>(&a.value)) value = *s;
      if (const auto* v = std::get_if<std::vector<int64_t>>(&a.value)) {
        value = fmt::format("[{}]", fmt::join(*v, ","));
      }
      text += fmt::format("{}={} ", a.name, value);
    }
    if (!text.empty()) text.pop_back();
    return text;
  }

  void PrintOps() const {
    for (const auto& [name, c] : counts_) {
      fmt::print("{:40} {:6} cases {:4} failed {:8.1f} ms a case\n", name, c.cases, c.failed,
                 c.ms / static_cast<double>(c.cases));
    }
  }

  const SweepOptions& options_;
  const std::vector<LargeOp> ops_;
  const std::vector<std::string> lists_;
  int64_t shares_ = 0, passed_ = 0, failed_ = 0;
  std::map<std::string, int64_t> taken_, wrong_;  // by list
  std::map<std::string, OpCount> counts_;         // by operator
};

}  // namespace

int RunLargeOps(const SweepOptions& options) {
  auto ops = LargeOps(options.op);
  if (ops.empty()) return 2;
  auto lists = Lists(options.engines);
  if (lists.empty()) {
    fmt::print(stderr, "ge-test: no engine is found; set GE_PLUGIN_PATH to their folder\n");
    return 2;
  }
  return LargeSweep(options, std::move(ops), std::move(lists)).Run();
}

}  // namespace ge::test
