// ge-test --random N: random one-node graphs. An engine under test is compared with ref; ref itself
// with the same case at another element type, and with plain loops of its own where its
// file in cases/ has them. A case that an engine declines is not counted.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "ge/control/host_op.h"
#include "ge/engine/engine_list.h"
#include "ge/engine/plugin/discovery.h"
#include "tools/ge_test/random/bounds.h"

namespace ge::test {
namespace {

// No engine takes an operator that it declined this often.
constexpr int64_t kTriesForFirst = 300;
constexpr int64_t kTriesPerCase = 40;
constexpr int kShownFailures = 3;  // of an operator and engine
// Cases of an operator and element type on which faults are planted, and how many of them tell
// most.
constexpr int64_t kPlantedCases = 8, kPlantedLeast = 3;
// A wrong element is off by this share of the output's greatest magnitude.
constexpr double kPlantedError = 0.02;

// The other element type at which ref must give the same numbers; kUndefined when there is none.
DType OtherDType(const RandomCase& c, DType dtype) {
  if (!c.typed) return DType::kUndefined;
  static const std::vector<DType> kReal = {DType::kDouble, DType::kFloat};
  static const std::vector<DType> kWhole = {DType::kInt64, DType::kInt32, DType::kDouble,
                                            DType::kFloat};
  static const std::vector<DType> kTruth = {DType::kUint8, DType::kInt32};
  const DTypeSet legal = c.op->inputs.empty() ? c.op->outputs[0].dtypes : c.op->inputs[0].dtypes;
  const auto& choices = dtype == DType::kBool ? kTruth : IsFloat(dtype) ? kReal : kWhole;
  for (const DType t : choices) {
    if (t != dtype && (legal & Bit(t)) != 0) return t;
  }
  return DType::kUndefined;
}

class OneOp {
 public:
  OneOp(const SweepOptions& options, const OpDef& op, const std::string& engine)
      : options_(options), op_(op), engine_(engine), record_(FindRandomOp(op)) {}

  // False when there is no record of the operator in cases/.
  bool Run() {
    if (record_ == nullptr) return false;
    for (tries_ = 0; accepted_ < options_.count; ++tries_) {
      if (accepted_ == 0 && tries_ >= kTriesForFirst) break;
      if (tries_ >= kTriesForFirst + kTriesPerCase * options_.count) break;
      Random random(MixSeed(options_.seed, op_.name, tries_));
      CaseMaker maker(op_, PickDType(op_, &random), &random);
      record_->make(maker);
      One(maker.c, maker.dtype());
    }
    if (accepted_ > 0 && accepted_ < options_.count) {
      ++failed_;
      fmt::print("FAILED  {} on {}: took only {} of {} random cases, wanted {}\n", FullName(op_),
                 engine_, accepted_, tries_, options_.count);
    }
    JudgePlanted();
    return true;
  }

  int64_t accepted() const { return accepted_; }
  int64_t failed() const { return failed_; }
  int64_t empty() const { return empty_; }
  int64_t scalar() const { return scalar_; }

 private:
  void One(const RandomCase& c, DType dtype) {
    auto found = RunRandomCase(c, DType::kUndefined, engine_);
    if (!found.ok()) {
      if (IsDecline(found.status())) return;
      return Count(c, found.status().ToString());
    }
    if (engine_ != "ref") return Count(c, DiffersFromRef(*record_, c, dtype, found->outputs));
    const DType other = OtherDType(c, dtype);
    const bool checked = record_->plain != nullptr;
    std::string why = checked ? PlainDiffers(c, found->outputs, dtype) : "";
    if (!why.empty()) return Count(c, "plain loops: " + why);
    if (other == DType::kUndefined) {
      if (checked) Count(c, "");
      return;  // nothing to compare with: not a case
    }
    auto wanted = RunRandomCase(c, other, "ref");
    if (!wanted.ok()) {
      if (IsDecline(wanted.status())) return;
      return Count(c, "ref: " + wanted.status().ToString());
    }
    why = OutputsDiffer(*record_, c, dtype, found->outputs, wanted->outputs, other);
    Count(c, why);
    if (why.empty() && record_->bound != 0) Plant(c, dtype, found->outputs);
  }

  // How the outputs differ from what the plain loops give; "" when they do not.
  std::string PlainDiffers(const RandomCase& c, const std::vector<HostTensor>& found,
                           DType dtype) const {
    const size_t checked = record_->plain_other != nullptr ? found.size() : 1;
    Bounds bounds(*record_, c, dtype);
    for (size_t i = 0; i < checked; ++i) {
      auto wanted = MakeTensor(found[i].dtype, found[i].dims);
      if (!wanted.ok()) return wanted.status().ToString();
      const bool shape =
          i == 0 ? record_->plain(c, &*wanted) : record_->plain_other(c, i, &*wanted);
      const std::string why =
          shape ? bounds.Differs(i, found[i], *wanted)
                : fmt::format("found {}, which is another shape", TypeText(found[i]));
      if (!why.empty()) return i == 0 ? why : fmt::format("output {}: {}", i, why);
    }
    return "";
  }

  // Whether an engine that answers zeros, or one element that is off by kPlantedError, would be
  // seen.
  void Plant(const RandomCase& c, DType dtype, const std::vector<HostTensor>& good) {
    Planted& planted = planted_[dtype];
    if (planted.cases >= kPlantedCases) return;
    Bounds bounds(*record_, c, dtype);
    Random random(MixSeed(options_.seed, op_.name, tries_));
    for (size_t o = 0; o < good.size(); ++o) {
      const HostTensor& g = good[o];
      double greatest = 0;
      for (int64_t i = 0, n = g.count(); i < n; ++i) {
        const double v = std::fabs(ElementAsDouble(g, i));
        if (std::isfinite(v)) greatest = std::max(greatest, v);
      }
      if (UnitOf(g.dtype) == 0 || greatest == 0) continue;
      auto zeros = MakeTensor(g.dtype, g.dims);
      auto off = Convert(g, g.dtype);
      const int64_t at = random.Int(0, g.count() - 1);
      const double by = (random.Chance(0.5) ? 1 : -1) * kPlantedError * greatest;
      SetElement(off.get(), at, ElementAsDouble(g, at) + by);
      ++planted.cases;
      planted.zeros += bounds.Differs(o, *zeros, g).empty();
      planted.off += std::isfinite(ElementAsDouble(g, at)) && bounds.Differs(o, *off, g).empty();
      planted.share.push_back(bounds.Share(o, g, g));
    }
  }

  // Counts an element type in whose cases planted faults mostly went unseen.
  void JudgePlanted() {
    for (auto& [dtype, p] : planted_) {
      if (p.cases == 0) continue;
      std::sort(p.share.begin(), p.share.end());
      const double middle = p.share[p.share.size() / 2];
      if (options_.verbose) {
        fmt::print("{:12} {:20} {}: may be off by {:.2g} of the greatest, at most {:.2g}\n",
                   engine_, FullName(op_), DTypeName(dtype), middle, p.share.back());
      }
      if (p.cases < kPlantedLeast || 2 * std::max(p.zeros, p.off) < p.cases) continue;
      ++failed_;
      fmt::print(
          "FAILED  {} in {}: of {} results, zeros instead would pass in {}, and an element that is "
          "off by {} of the greatest in {}\n",
          FullName(op_), DTypeName(dtype), p.cases, p.zeros, kPlantedError, p.off);
    }
  }

  void Count(const RandomCase& c, const std::string& why) {
    ++accepted_;
    bool empty = false, scalar = false;
    for (const auto& in : c.inputs) {
      empty |= in.tensor && in.tensor->count() == 0;
      scalar |= in.tensor && in.tensor->dims.empty();
    }
    empty_ += empty;
    scalar_ += scalar;
    if (why.empty()) return;
    if (++failed_ > kShownFailures) return;
    fmt::print("FAILED  {} on {}, seed {}, case {}: {}\n{}", FullName(op_), engine_, options_.seed,
               tries_, why, ToTextCase(c, engine_));
  }

  struct Planted {
    int64_t cases = 0, zeros = 0, off = 0;  // outputs; those in which the fault is not seen
    std::vector<double> share;
  };

  const SweepOptions& options_;
  const OpDef& op_;
  const std::string& engine_;
  const RandomOp* record_;
  int64_t tries_ = 0, accepted_ = 0, failed_ = 0, empty_ = 0, scalar_ = 0;
  std::map<DType, Planted> planted_;
};

}  // namespace

std::vector<std::string> EnginesOfCases(const std::string& list) {
  std::vector<std::string> names;
  if (list.empty()) {
    for (const Found& f : DiscoverPlugins()) {
      if (f.HasEngine()) names.push_back(f.plugin->name);
    }
    if (std::count(names.begin(), names.end(), "ref") == 0) {
      fmt::print(stderr,
                 "ge-test: the engine ref is not found; set GE_PLUGIN_PATH to its folder\n");
      return {};
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  auto specs = ParseEngineList(list);
  if (!specs.ok()) {
    fmt::print(stderr, "ge-test: {}\n", specs.status().ToString());
    return {};
  }
  for (const EngineSpec& s : *specs) {
    names.push_back(s.options.empty() ? s.name : s.name + ":" + s.options);
  }
  return names;
}

// Bodies, sequences and strings have text cases and ONNX's node tests; the ge domain holds states
// and transfers, beside gradients.
bool HasRandomCases(const OpDef& op, const std::string& engine) {
  const std::string_view name = op.name, domain = op.domain;
  if (domain == "ge") return FindRandomOp(op) != nullptr;
  if (domain.empty() &&
      (name == "If" || name == "Loop" || name == "Scan" || name == "SequenceMap")) {
    return false;
  }
  return !IsHostOnly(domain, name) || (engine == "ref" && FindRandomOp(op) != nullptr);
}

int RunRandomOps(const SweepOptions& options) {
  const std::vector<std::string> engines = EnginesOfCases(options.engines);
  if (engines.empty()) return 2;
  fmt::print("seed {}, {} cases for each operator and engine\n", options.seed, options.count);
  int64_t passed = 0, failed = 0, matched = 0;
  for (const std::string& engine : engines) {
    int64_t ops = 0, cases = 0, empty = 0, scalar = 0;
    for (const OpDef* op : AllOps()) {
      if (!HasRandomCases(*op, engine) || (!options.op.empty() && options.op != FullName(*op)))
        continue;
      ++matched;
      OneOp one(options, *op, engine);
      if (!one.Run()) {
        ++failed;
        fmt::print("FAILED  {}: tools/ge_test/cases has no file for it\n", FullName(*op));
        continue;
      }
      failed += one.failed();
      passed += std::max<int64_t>(0, one.accepted() - one.failed());
      ops += one.accepted() > 0;
      cases += one.accepted();
      empty += one.empty();
      scalar += one.scalar();
      if (options.verbose && one.accepted() > 0) {
        fmt::print("{:12} {:20} {:5} cases, {:4} with an empty tensor, {:4} with a scalar\n",
                   engine, FullName(*op), one.accepted(), one.empty(), one.scalar());
      }
      if (engine == "ref" && one.accepted() == 0) {
        ++failed;
        fmt::print("FAILED  {} on ref: no random case was taken\n", FullName(*op));
      }
    }
    if (ops == 0 && options.op.empty()) {
      ++failed;
      fmt::print("FAILED  {} took no case of any operator\n", engine);
    }
    fmt::print("{}: {} operators, {} cases, {} with an empty tensor, {} with a scalar\n", engine,
               ops, cases, empty, scalar);
  }
  if (matched == 0) {
    fmt::print(stderr, "ge-test: found no operator '{}'; `ge ops` lists them\n", options.op);
    return 2;
  }
  fmt::print("{} passed, {} failed, 0 skipped\n", passed, failed);
  return failed == 0 ? 0 : 1;
}

}  // namespace ge::test
