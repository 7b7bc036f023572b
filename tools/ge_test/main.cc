// ge-test: runs the text cases of the files and folders that it is given.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "ge/base/exit_code.h"
#include "tools/ge_test/abi_layout.h"
#include "tools/ge_test/coverage.h"
#include "tools/ge_test/sweep.h"
#include "tools/ge_test/tensor.h"
#include "tools/ge_test/text/case.h"
#include "tools/ge_test/text/commands.h"

namespace ge::test {
namespace {

namespace fs = std::filesystem;

struct Options {
  bool update = false, verbose = false;
  std::string filter;
  std::vector<std::string> paths;
};

struct Totals {
  int passed = 0, failed = 0, skipped = 0;
};

void PrintHelp() {
  fmt::print(
      "usage: ge-test [--update] [--filter TEXT] [-v] PATH...\n\n"
      "Runs the .gt cases in the files and folders PATH. tools/ge_test/text/case.h says how a case "
      "is\n"
      "written.\n\n"
      "  --update       rewrites the expected texts that differ, and shows the differences\n"
      "  --filter TEXT  only cases whose path or name contains TEXT\n"
      "  -v             names passing cases, too\n"
      "  --shipped      runs as `ge run` does by default: prices of this machine, which is "
      "probed;\n"
      "                 plans may then differ, numbers may not (GE_CACHE_DIR names the cache)\n"
      "  --threads N    compute threads\n"
      "  --precision NAME  f32, or bf16: products may round what they read; bounds of random "
      "MatMul,\n"
      "                 Gemm and Conv allow for it. These three go with every mode below, too\n\n"
      "example: ge-test tests/text/graph --filter effects\n\n{}\n"
      "usage: ge-test --coverage MODEL... [--bound PERCENT] [--input NAME=...] [--engines LIST]\n"
      "               [--prices NAME]\n\n"
      "  what share of each model's time no engine but ref takes, operator by operator, by the\n"
      "  prices of its plan (analytic; --prices measure times them first); MODEL may be a folder\n"
      "  of .onnx files. Exit code 1 where an operator is above --bound (default 2)\n\n"
      "example: ge-test --coverage build/models\n\n"
      "usage: ge-test --abi-layout GOLDEN [--update]\n\n"
      "  compares the structs of ge_plugin.h with tests/abi/layout.golden\n\n"
      "commands of `--- run`:\n",
      SweepHelp());
  for (const CommandInfo& c : AllCommands()) fmt::print("  {:<12} {}\n", c.name, c.summary);
}

// Files and folders (in order of their names) -> case files. False when a path does not exist.
bool ListFiles(const std::vector<std::string>& paths, std::vector<std::string>* out) {
  for (const std::string& path : paths) {
    std::error_code error;
    if (fs::is_regular_file(path, error)) {
      out->push_back(path);
      continue;
    }
    std::vector<std::string> found;
    fs::recursive_directory_iterator it(path, error);
    if (error) {
      fmt::print(stderr, "ge-test: {}: {}; wanted a .gt file or a folder\n", path, error.message());
      return false;
    }
    for (; it != fs::recursive_directory_iterator(); it.increment(error)) {
      if (error) break;
      if (it->path().extension() == ".gt") found.push_back(it->path().string());
    }
    std::sort(found.begin(), found.end());
    out->insert(out->end(), found.begin(), found.end());
  }
  return true;
}

void RunFile(const std::string& path, const Options& options, Totals* totals) {
  auto file = ReadCaseFile(path);
  if (!file.ok()) {
    ++totals->failed;
    fmt::print("FAILED  {}\n  {}\n", path, file.status().ToString());
    return;
  }
  std::vector<Replacement> replacements;
  for (const Case& c : file->cases) {
    const std::string name = c.name.empty() ? path : path + ": " + c.name;
    if (name.find(options.filter) == std::string::npos) continue;
    Outcome outcome = RunCase(*file, c, options.update);
    switch (outcome.kind) {
      case Outcome::Kind::kPassed:
        ++totals->passed;
        if (options.verbose || !outcome.why.empty()) {
          fmt::print("passed  {}\n{}", name, outcome.why);
        }
        break;
      case Outcome::Kind::kFailed:
        ++totals->failed;
        fmt::print("FAILED  {}\n{}", name, outcome.why);
        break;
      case Outcome::Kind::kSkipped:
        ++totals->skipped;
        fmt::print("skipped {}: {}\n", name, outcome.why);
        break;
    }
    replacements.insert(replacements.end(), outcome.replacements.begin(),
                        outcome.replacements.end());
  }
  if (replacements.empty()) return;
  const Status written = WriteUpdated(*file, replacements);
  if (written.ok()) return;
  ++totals->failed;
  fmt::print("FAILED  {}\n", written.ToString());
}

// False when the arguments make no sense; the message is printed.
bool ParseArguments(int argc, char** argv, Options* options) {
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (arg == "--update") {
      options->update = true;
    } else if (arg == "-v") {
      options->verbose = true;
    } else if (arg == "--filter" && i + 1 < argc) {
      options->filter = argv[++i];
    } else if (arg.rfind('-', 0) == 0) {
      fmt::print(stderr, "ge-test: found the argument '{}'; `ge-test --help` lists them\n", arg);
      return false;
    } else {
      options->paths.push_back(arg);
    }
  }
  if (options->paths.empty()) fmt::print(stderr, "ge-test: name at least one .gt file or folder\n");
  return !options->paths.empty();
}

int Main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--help") == 0) {
    PrintHelp();
    return 0;
  }
  if (argc >= 2 && IsSweep(argv[1])) return RunSweep(argc, argv);
  if (argc >= 2 && std::strcmp(argv[1], "--abi-layout") == 0) return RunAbiLayout(argc, argv);
  if (argc >= 2 && std::strcmp(argv[1], "--coverage") == 0) return RunCoverage(argc, argv);
  Options options;
  std::vector<std::string> files;
  if (!ParseArguments(argc, argv, &options) || !ListFiles(options.paths, &files)) return 2;
  Totals totals;
  for (const std::string& path : files) RunFile(path, options, &totals);
  fmt::print("{} passed, {} failed, {} skipped\n", totals.passed, totals.failed, totals.skipped);
  return totals.failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace ge::test

int main(int argc, char** argv) {
  return ge::ExitCodeOf("ge-test", [&] {
    std::vector<char*> arguments(argv, argv + argc);
    if (!ge::test::TakeSettings(&arguments)) return 2;
    return ge::test::Main(static_cast<int>(arguments.size()), arguments.data());
  });
}
