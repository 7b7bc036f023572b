// ge-test --parts N: what an operator's decomposition computes, on ref, must be what ref's own
// kernel computes for the whole node, within the bounds of the operator's random cases, and of the
// same type. An operator whose decomposition takes none of its cases fails.
#include <fmt/format.h>

#include "frontend/text/text.h"
#include "ge/compile/decompose/decomposition.h"
#include "ge/infer/infer.h"
#include "ge/ops/defaults.h"
#include "ge/verify/verify.h"
#include "tools/ge_test/random/bounds.h"

namespace ge::test {
namespace {

constexpr int kShownParts = 3;  // of an operator

class PartsOfOne {
 public:
  PartsOfOne(const SweepOptions& options, const OpDef& op) : options_(options), op_(op) {}

  void Run() {
    for (case_ = 0; case_ < options_.count; ++case_) {
      Random random(MixSeed(options_.seed, op_.name, case_));
      CaseMaker maker(op_, PickDType(op_, &random), &random);
      FindRandomOp(op_)->make(maker);
      One(maker.c, maker.dtype());
    }
    if (passed + failed > 0) return;
    ++failed;
    fmt::print("FAILED  {}: of {} cases none became parts\n", FullName(op_), options_.count);
  }

  int64_t passed = 0, failed = 0;

 private:
  void One(const RandomCase& c, DType dtype) {
    std::vector<std::shared_ptr<HostTensor>> inputs;
    Graph parts = ToGraph(c, DType::kUndefined, &inputs);
    FillDefaults(&parts);
    if (!Infer(&parts).ok()) return;  // ge-test --random tells
    std::vector<Type> types;
    const FunctionId fn = parts.entries[0].fn;
    for (const ValueId v : parts.fn(fn).results) types.push_back(parts.fn(fn).value(v).type);
    auto whole = RunRandomCase(c, DType::kUndefined, "ref");
    if (!whole.ok()) return;
    // Weights that are codes stay: nobody is here who would make their floats.
    const FloatsOfWeight none = [](const Graph&, const Function&, const Node&) {
      return Result<std::optional<Const>>(std::optional<Const>());
    };
    DecompositionNotes notes;
    auto expanded = ExpandAll(none, &parts, fn, "", &notes);
    if (expanded.ok() && !*expanded) return;
    Count(parts, expanded.ok() ? Differ(c, dtype, &parts, types, inputs, whole->outputs)
                               : expanded.status().ToString());
  }

  // What is wrong with the parts; "" when nothing is.
  std::string Differ(const RandomCase& c, DType dtype, Graph* parts, const std::vector<Type>& types,
                     const std::vector<std::shared_ptr<HostTensor>>& inputs,
                     const std::vector<HostTensor>& whole) {
    Status legal = Verify(*parts);
    if (legal.ok()) legal = Infer(parts);
    if (!legal.ok()) return "the parts are no legal graph: " + legal.ToString();
    const Function& f = parts->fn(parts->entries[0].fn);
    for (size_t i = 0; i < types.size(); ++i) {
      const std::string want = TypeToString(types[i], parts->dims);
      const std::string found = TypeToString(f.value(f.results[i]).type, parts->dims);
      if (types[i].is_static() && want != found) {
        return fmt::format("output {} of the parts is {}, wanted {}", i, found, want);
      }
    }
    std::vector<const HostTensor*> in;
    for (const auto& t : inputs) in.push_back(t.get());
    auto run = RunGraph(*parts, "ref", PassNames(std::in_place), in);
    if (!run.ok()) return "the parts do not run: " + run.status().ToString();
    return OutputsDiffer(*FindRandomOp(op_), c, dtype, run->outputs, whole, DType::kUndefined);
  }

  void Count(const Graph& parts, const std::string& why) {
    if (why.empty()) {
      ++passed;
      return;
    }
    if (++failed > kShownParts) return;
    fmt::print("FAILED  {}, seed {}, case {}: {}\n{}", FullName(op_), options_.seed, case_, why,
               PrintText(parts));
  }

  const SweepOptions& options_;
  const OpDef& op_;
  int64_t case_ = 0;
};

}  // namespace

int RunRandomParts(const SweepOptions& options) {
  fmt::print("seed {}, {} cases for each operator that has a decomposition\n", options.seed,
             options.count);
  int64_t passed = 0, failed = 0, matched = 0, ops = 0;
  for (const OpDef* op : AllOps()) {
    if (!options.op.empty() && options.op != FullName(*op)) continue;
    ++matched;
    if (!op->decompose || FindRandomOp(*op) == nullptr) continue;
    PartsOfOne one(options, *op);
    one.Run();
    passed += one.passed;
    failed += one.failed;
    ++ops;
    if (options.verbose) fmt::print("{:32} {:5} cases\n", FullName(*op), one.passed + one.failed);
  }
  if (matched == 0) {
    fmt::print(stderr, "ge-test: found no operator '{}'; `ge ops` lists them\n", options.op);
    return 2;
  }
  if (passed + failed < options.least) {
    ++failed;
    fmt::print("FAILED  only {} cases became parts, wanted {}\n", passed + failed - 1,
               options.least);
  }
  fmt::print("{} operators\n{} passed, {} failed, 0 skipped\n", ops, passed, failed);
  return failed == 0 ? 0 : 1;
}

}  // namespace ge::test
