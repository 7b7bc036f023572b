// ge-shardcheck: proves the rules of passes/parallel. This file parses the command line.
#include <CLI/CLI.hpp>
#include <filesystem>

#include "tools/shardcheck/command.h"

namespace {

// The engine `ranks` and plugins of tests lie beside this program: build/release/bin and
// build/release/lib/samples.
std::string SamplesFolder(const char* program) {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto bin = error ? std::filesystem::path(program) : self;
  return (bin.parent_path().parent_path() / "lib" / "samples" / "").string();
}

}  // namespace

int main(int argc, char** argv) {
  ge::shardcheck::Options o;
  std::string rules, mutants, found, tensors;
  CLI::App app(
      "Checks how operators split over ranks against the whole.\n\n"
      "Example: ge-shardcheck --rules MatMul,ge.AdamStep -v");
  app.add_option("--rules", rules, "all, or names: MatMul,ge.AdamStep")->type_name("LIST");
  app.add_option("--mutate", mutants,
                 "change letters of these rules, one by one, and see who notices")
      ->type_name("LIST");
  app.add_option("--search", found, "list ways of these operators that are right and not in a rule")
      ->type_name("LIST");
  app.add_option("--redistributions", tensors, "print as JSON how tensors of a file change layouts")
      ->type_name("FILE");
  app.add_option("--programs", o.programs, "random nets, steps and pins on ranks, so many")
      ->check(CLI::Range(1, 100000000));
  app.add_option("--program", o.program, "one of them, by the number that it failed with")
      ->type_name("NUMBER");
  app.add_option("--model", o.file, "programs of a .gt file or a folder, as failures print them")
      ->type_name("FILE");
  app.add_option("--meshes", o.meshes, "sizes of their axes (default 2,3,4,2x2,2x3,2x4)")
      ->delimiter(',')
      ->type_name("LIST");
  app.add_option("--engines", o.model.engines, "engines that run it (default ref)");
  app.add_option("--seed", o.seed, "of everything that is drawn (default 1)");
  app.add_option("--cases", o.cases, "the folder of cases")->type_name("DIR");
  app.add_flag("--json", o.json, "one JSON object");
  app.add_flag("-v", o.verbose, "each case");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  if (!rules.empty()) {
    o.ops = rules;
    return ge::shardcheck::CheckRules(o);
  }
  if (!mutants.empty()) {
    o.ops = mutants;
    return ge::shardcheck::MutateRules(o);
  }
  if (!found.empty()) {
    o.ops = found;
    return ge::shardcheck::SearchWays(o);
  }
  if (!tensors.empty()) return ge::shardcheck::PrintRedistributions(tensors);
  if (o.programs > 0 || o.program != 0 || !o.file.empty()) {
    o.train.whole_engines = o.model.engines;
    // A rank that fails ends the others; half a minute is for one that is never heard of again.
    o.train.samples = SamplesFolder(argv[0]);
    o.train.rank_engines = o.model.engines + "," + o.train.samples + "ranks.so:wait=30";
    return ge::shardcheck::CheckPrograms(o);
  }
  std::fputs(
      "ge-shardcheck: nothing is asked for; give --rules, --mutate, --search, "
      "--redistributions, --programs, --program or --model\n",
      stderr);
  return 2;
}
