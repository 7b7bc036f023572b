#include "tools/ge/rank_run.h"

#include <fmt/format.h>

#include <utility>

#include "ge/run/tensor_view.h"
#include "tools/ge/train/digest.h"

namespace ge::tool {
namespace {

// Initializers among the inputs that are given.
std::vector<std::string> InitializersOf(const Options& o, const Session& session) {
  std::vector<std::string> names;
  for (const std::string& input : o.inputs) {
    const std::string name = input.substr(0, input.find('='));
    for (const DefaultInput& d : session.defaults()) {
      if (d.name == name) names.push_back(name);
    }
  }
  return names;
}

// The program of a rank is made for inputs of known sizes: they are looked at ahead of it.
Status AskForProgram(RankRun* run) {
  Options& o = run->options;
  GE_ASSIGN_OR_RETURN(const auto session, Open(o));
  GE_ASSIGN_OR_RETURN(const Entry* entry, session->FindEntry(o.entry));
  const Function& f = session->graph().fn(entry->fn);
  if (!AllNumbers(f) || f.params.empty()) {
    return Status(
        Code::kUnsupported,
        fmt::format("entry '{}' {}, and --mesh splits tensors of numbers; run it by one "
                    "process, without --mesh",
                    entry->name,
                    f.params.empty() ? "takes no input" : "has an input or output that is none"));
  }
  GE_ASSIGN_OR_RETURN(run->inputs, MakeInputs(*session, *entry, o));
  std::vector<std::vector<int64_t>> sizes;
  for (const Tensor& t : *run->inputs) sizes.push_back(t.view.dims);
  o.initializer_inputs = InitializersOf(o, *session);
  AskForRank(o.mesh, run->ranks, sizes, &o);
  return {};
}

}  // namespace

Result<RankRun> RankRunOf(const Options& given) {
  RankRun run;
  run.options = given;
  Options& o = run.options;
  GE_ASSIGN_OR_RETURN(run.ranks, RanksOf(o.mesh, "run"));
  if (!run.ranks.many()) return run;
  if (!o.look.watch.empty()) {
    return Status(Code::kInvalidArgument,
                  "--watch stops one process, and the others of --mesh would wait for it; watch "
                  "the model without --mesh");
  }
  // What another rank would print and write, nobody sees.
  if (!run.ranks.first()) {
    o.quiet = true;
    o.json = o.verbose = o.times = false;
    o.output_dir.clear();
    o.look = {};
  }
  GE_RETURN_IF_ERROR(AskForProgram(&run));
  return run;
}

Status CompareRanks(const RankRun& run, Session* session) {
  if (!run.ranks.many()) return {};
  const Options& o = run.options;
  uint64_t bytes = 0;
  GE_ASSIGN_OR_RETURN(const std::string model, DigestOfFile(o.model, &bytes));
  RankFacts facts = {{"the model", model},  // wherever the file lies
                     {"--repeat", std::to_string(o.repeat)},
                     {"--warmup", std::to_string(o.warmup)},
                     {"--precision", o.precision}};
  for (const Tensor& t : *run.inputs) {
    Digest digest;
    digest.Add({static_cast<const std::byte*>(t.view.data), t.view.bytes});
    facts.emplace_back(fmt::format("input '{}'", t.name), digest.Hex());
  }
  std::vector<double> mine = NumbersOf(facts);
  TensorView in;
  in.dtype = DType::kDouble;
  in.dims = {static_cast<int64_t>(mine.size())};
  in.data = mine.data();
  in.bytes = mine.size() * sizeof(double);
  std::vector<double> all[2];  // sums, least
  std::vector<TensorView> out;
  for (std::vector<double>& numbers : all) {
    numbers.resize(mine.size());
    out.push_back(in);
    out.back().data = numbers.data();
  }
  GE_RETURN_IF_ERROR(session->Run("agree", {&in, 1}, out));
  return WantSame(facts, all[0], all[1], run.ranks);
}

}  // namespace ge::tool
