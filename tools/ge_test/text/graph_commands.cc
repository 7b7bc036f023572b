// Commands on a Graph alone: round trips, verify, infer, bind, rewrite.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "frontend/proto/proto.h"
#include "frontend/text/diff.h"
#include "frontend/text/text.h"
#include "ge/compile/decompose/decomposition.h"
#include "ge/compile/fold/evaluator.h"
#include "ge/compile/rewrite/price_each.h"
#include "ge/engine/engine_list.h"
#include "ge/engine/pass/pass_plugin.h"
#include "ge/engine/plugin/discovery.h"
#include "ge/infer/infer.h"
#include "ge/session/session.h"
#include "ge/stage/pass_order.h"
#include "ge/stage/runner.h"
#include "ge/verify/verify.h"
#include "tools/ge_test/text/case.h"
#include "tools/ge_test/text/commands.h"

namespace ge::test {
namespace {

// `made` must be the graph that it was made from, and print as it.
Status SameGraph(const std::string& way, const Graph& graph, const Graph& made,
                 const std::string& text) {
  const std::string difference = DiffGraphs(graph, made);
  if (!difference.empty()) return CaseError(way + " gives another graph: " + difference);
  const std::string again = PrintText(made);
  if (again == text) return Status();
  return CaseError(way + " prints otherwise (- first, + again):\n" + LineDiff(text, again));
}

// "[1,3]"
bool ParseDims(const std::string& word, std::vector<int64_t>* out) {
  if (word.size() < 2 || word.front() != '[' || word.back() != ']') return false;
  const char* p = word.data() + 1;
  const char* end = word.data() + word.size() - 1;
  while (p < end) {
    const auto r = std::from_chars(p, end, out->emplace_back());
    if (r.ec != std::errc() || (r.ptr < end && *r.ptr != ',')) return false;
    p = r.ptr + 1;
  }
  return true;
}

}  // namespace

Status RunRoundTrip(CaseState* state, const std::vector<std::string>&) {
  const Graph& graph = *state->graph;
  const std::string text = PrintText(graph);
  auto reparsed = ParseText(text, "printed text");
  if (!reparsed.ok()) {
    return CaseError("the printed text does not parse: " + reparsed.status().ToString() + "\n" +
                     text);
  }
  GE_RETURN_IF_ERROR(SameGraph("text -> Graph -> text", graph, *reparsed, text));
  auto bytes = WriteProto(graph);
  if (!bytes.ok()) return CaseError("WriteProto: " + bytes.status().ToString());
  auto read = ReadProto(std::as_bytes(std::span(bytes->data(), bytes->size())), ReadOptions());
  if (!read.ok()) return CaseError("ReadProto: " + read.status().ToString());
  GE_RETURN_IF_ERROR(SameGraph("Graph -> proto -> Graph", graph, *read, text));
  auto again = WriteProto(*read);
  if (!again.ok() || *again != *bytes) return CaseError("a second WriteProto gives other bytes");
  return Status();
}

Status RunPrint(CaseState* state, const std::vector<std::string>& args) {
  PrintOptions options;
  for (const std::string& arg : args) {
    if (arg != "elide" && arg != "ints") return CaseError("print takes 'elide' and 'ints'");
    (arg == "elide" ? options.elide : options.show_ints) = true;
  }
  state->output = PrintText(*state->graph, options);
  return Status();
}

Status RunVerify(CaseState* state, const std::vector<std::string>&) {
  return Verify(*state->graph);
}

Status RunInfer(CaseState* state, const std::vector<std::string>&) { return Infer(&*state->graph); }

Status RunBind(CaseState* state, const std::vector<std::string>& args) {
  if (args.empty()) return CaseError("bind takes an entry and a shape for each input");
  std::vector<std::vector<int64_t>> shapes;
  for (size_t i = 1; i < args.size(); ++i) {
    if (!ParseDims(args[i], &shapes.emplace_back())) {
      return CaseError(fmt::format("found the shape '{}', wanted numbers as in [1,3]", args[i]));
    }
  }
  return Bind(&*state->graph, args[0], shapes);
}

Status RunDecompose(CaseState* state, const std::vector<std::string>&) {
  Graph* graph = &*state->graph;
  DecompositionNotes notes;
  // Coded weights stay: nobody is here who would make their floats.
  const FloatsOfWeight none = [](const Graph&, const Function&, const Node&) {
    return Result<std::optional<Const>>(std::optional<Const>());
  };
  for (FunctionId fn = 1; fn < graph->functions.size(); ++fn) {
    GE_RETURN_IF_ERROR(ExpandAll(none, graph, fn, "", &notes).status());
  }
  GE_RETURN_IF_ERROR(Verify(*graph));
  return Infer(graph);
}

// Takes "NAME=VALUE" from the front of the arguments; false where it is not there.
static bool TakeOption(std::vector<std::string>* args, std::string_view name, std::string* value) {
  if (args->empty() || args->front().rfind(name, 0) != 0) return false;
  *value = args->front().substr(name.size());
  args->erase(args->begin());
  return true;
}

static Status AddPassesOfPlugins(const std::string& list, PassList* passes) {
  GE_ASSIGN_OR_RETURN(const auto plugins, FindPlugins(list));
  for (const auto& plugin : plugins) {
    GE_ASSIGN_OR_RETURN(const auto records, ReadPasses(*plugin));
    for (const auto& record : records) {
      auto pass = MakePass(record);
      if ((pass->phases() & kWhenAsked) == 0) passes->push_back(std::move(pass));
    }
  }
  return OrderPasses(passes);
}

Status RunRewrite(CaseState* state, const std::vector<std::string>& given) {
  std::vector<std::string> args = given;
  // Constants are folded by running nodes on ref; passes that ask hear the prices of named engines.
  SessionOptions options;
  std::string engines_named, plugins;
  const bool asks = TakeOption(&args, "engines=", &engines_named);
  GE_ASSIGN_OR_RETURN(options.engines, ParseEngineList(asks ? engines_named : "ref"));
  std::vector<std::unique_ptr<Pass>> passes = MakePipeline();
  if (TakeOption(&args, "plugins=", &plugins)) {
    GE_RETURN_IF_ERROR(AddPassesOfPlugins(plugins, &passes));
  }
  if (!args.empty()) {
    for (auto& pass : MakeAskedPasses()) passes.push_back(std::move(pass));
  }
  for (const std::string& name : args) {
    const bool known = std::any_of(passes.begin(), passes.end(),
                                   [&](const auto& pass) { return pass->name() == name; });
    if (!known)
      return CaseError(fmt::format("found the pass '{}', which the pipeline lacks", name));
  }
  if (!args.empty()) {
    std::erase_if(passes, [&](const auto& pass) {
      return std::find(args.begin(), args.end(), pass->name()) == args.end();
    });
  }
  auto session = Session::Create(std::move(options));
  if (!session.ok()) return CaseError("rewrite: " + session.status().ToString());
  const auto engines = (*session)->Engines();
  if (!engines.ok()) return CaseError("rewrite: " + engines.status().ToString());
  const std::unique_ptr<Evaluator> evaluator = MakeEvaluator(**engines);
  PassContext context;
  context.evaluator = evaluator.get();
  context.infer_node = InferNode;
  if (asks) {
    context.price_each = [&](const Graph& graph, FunctionId fn, const auto& as) {
      return PriceEach(graph, fn, as, **engines);
    };
  }
  FoldBudget budget(/*model_bytes=*/0);
  context.budget = &budget;
  Runner runner{Runner::Options()};
  return runner.RunPasses(
      &*state->graph, passes, context, [](const Graph& g) { return Verify(g); },
      [](Graph* g) { return Infer(g); });
}

}  // namespace ge::test
