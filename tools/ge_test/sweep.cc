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

bool TakeWord(const std::string& arg, const std::string& word, SweepOptions* options) {
  if (arg == "--engines") return options->engines = word, true;
  if (arg == "--filter") return options->filter = word, true;
  if (arg == "--op") return options->op = word, true;
  return arg == "--seed" && ParseNumber(word, &options->seed);
}

}  // namespace

bool IsSweep(std::string_view arg) { return arg == "--onnx-node" || arg == "--random"; }

const char* SweepHelp() {
  return "usage: ge-test --onnx-node DIR [--engines LIST] [--filter TEXT] [--op NAME] [-v]\n"
         "       ge-test --random N [--engines LIST] [--op NAME] [--seed S] [-v]\n\n"
         "  --onnx-node DIR  ONNX's node tests in DIR: those whose operators are all known here\n"
         "  --random N       at least N random one-node graphs for each operator and engine;\n"
         "                   bounds are in tools/ge_test/cases\n"
         "  --engines LIST   engines to test, separated by commas (node tests: ref; random cases:\n"
         "                   every engine that is found)\n"
         "  --op NAME        only this operator\n"
         "  --seed S         of the random cases (default 1)\n";
}

int RunSweep(int argc, char** argv) {
  SweepOptions options;
  const std::string mode = argv[1];
  if (argc < 3) return Refuse(fmt::format("found nothing after {}", mode));
  options.path = argv[2];
  if (mode == "--random" && (!ParseNumber(options.path, &options.count) || options.count <= 0)) {
    return Refuse(fmt::format("found '{}' after --random, wanted a number above 0", argv[2]));
  }
  for (int i = 3; i < argc; ++i) {
    const std::string arg = argv[i];
    if (arg == "-v") {
      options.verbose = true;
    } else if (i + 1 >= argc || !TakeWord(arg, argv[i + 1], &options)) {
      return Refuse(fmt::format("found the argument '{}', which {} does not take", arg, mode));
    } else {
      ++i;
    }
  }
  return mode == "--random" ? RunRandomOps(options) : RunOnnxNodeTests(options);
}

}  // namespace ge::test
