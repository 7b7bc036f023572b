// The modes of ge-test beside text cases, and their arguments.
#include "tools/ge_test/sweep.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

#include "tools/ge_test/tensor.h"

namespace ge::test {
namespace {

template <typename T>
bool ParseNumber(const std::string& word, T* out) {
  const char* end = word.data() + word.size();
  const auto r = std::from_chars(word.data(), end, *out);
  return !word.empty() && r.ec == std::errc() && r.ptr == end;
}

int Refuse(const std::string& what) {
  fmt::print(stderr, "ge-test: {}; `ge-test --help` shows the arguments\n", what);
  return 2;
}

constexpr const char* kModels = "--random-models";
constexpr const char* kTypes = "--types";
constexpr const char* kParts = "--parts";
constexpr const char* kAttributes = "--attributes";

// "native=500"
bool TakeLeast(const std::string& word, SweepOptions* options) {
  const size_t at = std::min(word.find('='), word.size() - 1);
  return at > 0 && at < word.size() &&
         ParseNumber(word.substr(at + 1), &options->least_taken[word.substr(0, at)]);
}

bool TakeWord(const std::string& arg, const std::string& word, SweepOptions* options) {
  if (arg == "--engines") return options->engines = word, true;
  if (options->models) {
    if (arg == "--save") return options->save = word, true;
    if (arg == "--first") return ParseNumber(word, &options->first) && options->first >= 0;
    return arg == "--seed" && ParseNumber(word, &options->seed);
  }
  if (arg == "--filter") return options->filter = word, true;
  if (arg == "--policy") return options->policy = word, true;
  if (arg == "--least-taken") return TakeLeast(word, options);
  if (arg == "--op") return options->op = word, true;
  if (arg == "--least") return ParseNumber(word, &options->least) && options->least > 0;
  if (arg == "--first") return ParseNumber(word, &options->first) && options->first >= 0;
  return arg == "--seed" && ParseNumber(word, &options->seed);
}

}  // namespace

bool IsSweep(std::string_view arg) {
  return arg == "--onnx-node" || arg == "--random" || arg == kModels || arg == kTypes ||
         arg == kParts || arg == kAttributes;
}

const char* SweepHelp() {
  return "usage: ge-test --onnx-node DIR [--engines LIST] [--filter TEXT] [--op NAME] [-v]\n"
         "               [--policy NAME] [--least-taken ENGINE=NODES]...\n"
         "       ge-test --random N [--engines LIST] [--op NAME] [--seed S] [-v]\n"
         "       ge-test --random N --large [--engines LIST[;LIST...]] [--op NAME] [--seed S]\n"
         "               [--first K] [-v]\n"
         "       ge-test --types N [--op NAME] [--seed S]\n"
         "       ge-test --parts N [--op NAME] [--seed S] [--least K] [-v]\n"
         "       ge-test --attributes N [--engines LIST] [--op NAME] [--seed S] [-v]\n"
         "       ge-test --random-models N [--engines LIST[;LIST...]] [--seed S] [--first K]\n"
         "               [--save DIR] [-v]\n\n"
         "  --onnx-node DIR  ONNX's node tests in DIR: those whose operators are all known here\n"
         "  --policy NAME    cost (default), or priority: the first of LIST that offers a node\n"
         "  --least-taken ENGINE=NODES  fails when fewer nodes of the tests ran on ENGINE\n"
         "  --random N       at least N random one-node graphs for each operator and engine;\n"
         "                   bounds are in tools/ge_test/cases\n"
         "  --large          N cases in all, of sizes at which engines take other ways; each runs\n"
         "                   on every LIST of engines (default: each, and all together)\n"
         "  --types N        what INFER says of N random cases of each operator where sizes, ranks "
         "or\n"
         "                   constants are not known must hold of the case\n"
         "  --parts N        N random cases of each operator that has a decomposition: its parts "
         "on\n"
         "                   ref must give what ref gives for the whole; at least K become parts\n"
         "  --attributes N   up to N random cases for each attribute and optional input, on each "
         "engine\n"
         "                   that takes the operator, whose answer is another without it; a table "
         "of\n"
         "                   what no case reaches\n"
         "  --random-models N  N random graphs of many operators, each run on ref and on every "
         "LIST\n"
         "                   of engines, which must agree (default: each engine with ref, all of\n"
         "                   them, and half the nodes on devsim); a difference is shrunk and "
         "printed\n"
         "  --first K        number of the first graph or large case (default 0)\n"
         "  --save DIR       writes each graph, its inputs and ref's outputs to DIR/NUMBER, and\n"
         "                   shrunk differences to DIR/failed\n"
         "  --engines LIST   engines to test, separated by commas (node tests: ref; random cases:\n"
         "                   every engine that is found)\n"
         "  --op NAME        only this operator\n"
         "  --seed S         of the random cases and graphs (default 1)\n";
}

int RunSweep(int argc, char** argv) {
  SweepOptions options;
  const std::string mode = argv[1];
  if (argc < 3) return Refuse(fmt::format("found nothing after {}", mode));
  options.path = argv[2];
  options.models = mode == kModels;
  const bool counted = options.models || mode == "--random" || mode == kTypes || mode == kParts ||
                       mode == kAttributes;
  if (counted && (!ParseNumber(options.path, &options.count) || options.count <= 0)) {
    return Refuse(fmt::format("found '{}' after {}, wanted a number above 0", argv[2], mode));
  }
  for (int i = 3; i < argc; ++i) {
    const std::string arg = argv[i];
    if (arg == "-v") {
      options.verbose = true;
    } else if (arg == "--large" && mode == "--random") {
      options.large = true;
    } else if (i + 1 >= argc || !TakeWord(arg, argv[i + 1], &options)) {
      return Refuse(fmt::format("found the argument '{}', which {} does not take", arg, mode));
    } else {
      ++i;
    }
  }
  if (options.models) return RunRandomModels(options);
  if (mode == kTypes) return RunRandomTypes(options);
  if (mode == kParts) return RunRandomParts(options);
  if (mode == kAttributes) return RunRandomAttributes(options);
  if (options.large) return RunLargeOps(options);
  return mode == "--random" ? RunRandomOps(options) : RunOnnxNodeTests(options);
}

}  // namespace ge::test
