// `--- run run [ENGINES [policy=NAME] [denormals=flush|keep] [numerics=fast|exact]
// [precision=f32|bf16] [plugins=LIST]]`: load, place, check and run the graph on the engines (ref
// alone when none are named), with the case's inputs. Leaves what `--- expect-value NAME` compares
// with.
// `--- run same-numbers [engines=LIST] PASS...`: runs with these passes and with none must agree.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "frontend/externals.h"
#include "frontend/text/text.h"
#include "tools/ge_test/tensor.h"
#include "tools/ge_test/text/case.h"
#include "tools/ge_test/text/commands.h"

namespace ge::test {
namespace {

// What the outputs are printed as and compared by.
struct Outputs {
  std::vector<std::pair<std::string, std::shared_ptr<HostTensor>>> named;
};

// 1e-5 of the value or of 1, whichever is greater: numbers in a case are written with six digits.
constexpr Tolerance kRunTolerance{1e-5, 1e-5, 0, 0};

std::string OneLine(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

Result<std::vector<HostTensor>> ReadInputs(const CaseState& state, const Function& f) {
  std::vector<HostTensor> inputs;
  for (const ValueId p : f.params) {
    const std::string& name = f.value(p).name;
    const auto it = state.inputs.find(name);
    if (it == state.inputs.end()) {
      return CaseError(fmt::format("the graph's input '{}' has no '--- input {}'", name, name));
    }
    auto c = ParseConst(it->second, state.file);
    if (!c.ok()) return CaseError("input '" + name + "': " + c.status().ToString());
    auto t = FromConst(*c);
    if (!t.ok()) return CaseError("input '" + name + "': " + t.status().ToString());
    inputs.push_back(*std::move(t));
  }
  for (const auto& [name, text] : state.inputs) {
    const bool known =
        std::any_of(f.params.begin(), f.params.end(),
                    [&f, &wanted = name](ValueId p) { return f.value(p).name == wanted; });
    if (!known) return CaseError(fmt::format("the graph has no input '{}'", name));
  }
  return inputs;
}

Result<std::vector<HostTensor>> InputsOf(const CaseState& state) {
  const Graph& graph = *state.graph;
  if (graph.entries.empty()) return CaseError("the graph has no entry to run");
  const FunctionId fn = graph.entries[0].fn;
  if (fn == 0 || fn >= graph.functions.size()) return CaseError("the entry has no function");
  return ReadInputs(state, graph.fn(fn));
}

std::vector<const HostTensor*> Pointers(const std::vector<HostTensor>& tensors) {
  std::vector<const HostTensor*> out;
  for (const HostTensor& t : tensors) out.push_back(&t);
  return out;
}

}  // namespace

Status RunRun(CaseState* state, const std::vector<std::string>& args) {
  for (size_t i = 1; i < args.size(); ++i) {
    const std::string name = args[i].substr(0, args[i].find('=') + 1);
    const bool option = name == "policy=" || name == "denormals=" || name == "numerics=" ||
                        name == "precision=" || name == "plugins=";
    if (option) continue;
    return CaseError(
        "run takes a list of engines, as in onednn,ref, then policy=NAME, denormals=flush|keep, "
        "numerics=fast|exact, precision=f32|bf16 and plugins=LIST");
  }
  GE_ASSIGN_OR_RETURN(std::vector<HostTensor> inputs, InputsOf(*state));
  Graph graph = *state->graph;
  GE_RETURN_IF_ERROR(
      OpenExternals(&graph, std::filesystem::path(state->file).parent_path().string()));
  GE_ASSIGN_OR_RETURN(RunResult result, RunGraph(graph, fmt::format("{}", fmt::join(args, " ")),
                                                 std::nullopt, Pointers(inputs)));
  Outputs outputs;
  std::string text;
  for (size_t i = 0; i < result.outputs.size(); ++i) {
    auto t = std::make_shared<HostTensor>(std::move(result.outputs[i]));
    text += fmt::format("{} : {}\n", result.names[i],
                        OneLine(PrintConst(ToConst(*t, ""), *state->graph)));
    outputs.named.emplace_back(result.names[i], std::move(t));
  }
  state->output = text;
  state->things["outputs"] = std::move(outputs);
  return Status();
}

Status RunSameNumbers(CaseState* state, const std::vector<std::string>& given) {
  std::vector<std::string> args = given;
  std::string engines = "ref";
  if (!args.empty() && args[0].rfind("engines=", 0) == 0) {
    engines = args[0].substr(8);
    args.erase(args.begin());
  }
  if (args.empty()) return CaseError("same-numbers takes the names of passes");
  GE_ASSIGN_OR_RETURN(std::vector<HostTensor> inputs, InputsOf(*state));
  auto plain = RunGraph(*state->graph, "ref", PassNames(std::in_place), Pointers(inputs));
  if (!plain.ok()) return CaseError("without passes: " + plain.status().ToString());
  GE_ASSIGN_OR_RETURN(RunResult rewritten,
                      RunGraph(*state->graph, engines, PassNames(args), Pointers(inputs)));
  for (size_t i = 0; i < plain->outputs.size(); ++i) {
    const std::string difference =
        Differs(rewritten.outputs[i], plain->outputs[i], Tolerance{0, 0, 1e-6, 0});
    if (difference.empty()) continue;
    return CaseError(fmt::format("output '{}' after the passes: {}", plain->names[i], difference));
  }
  return Status();
}

Status ExpectValue(const CaseState& state, const std::string& name, const std::string& text) {
  const auto it = state.things.find("outputs");
  if (it == state.things.end()) return CaseError("found 'expect-value' without 'run run' above");
  const auto* outputs = std::any_cast<Outputs>(&it->second);
  auto wanted = ParseConst(text, state.file);
  if (!wanted.ok()) return CaseError("the wanted value: " + wanted.status().ToString());
  auto tensor = FromConst(*wanted);
  if (!tensor.ok()) return CaseError("the wanted value: " + tensor.status().ToString());
  std::string known;
  for (const auto& [output, found] : outputs->named) {
    known += " " + output;
    if (output != name) continue;
    const std::string difference = Differs(*found, *tensor, kRunTolerance);
    if (difference.empty()) return Status();
    return CaseError(fmt::format("output '{}': {}\nthe run gave\n{}", name, difference,
                                 state.output.value_or("")));
  }
  return CaseError(fmt::format("found no output '{}'; there are:{}", name, known));
}

}  // namespace ge::test
