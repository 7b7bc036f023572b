// ge-adcheck: proves the gradient rules of passes/grad. This file parses the command line.
#include <CLI/CLI.hpp>
#include <filesystem>

#include "tools/adcheck/command.h"

namespace {

// Plugins lie beside this program: in build/release/bin and build/release/lib/graphengine.
std::string PluginPath(const char* program, const char* name) {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto bin = error ? std::filesystem::path(program) : self;
  return (bin.parent_path().parent_path() / "lib" / "graphengine" / name).string();
}

}  // namespace

int main(int argc, char** argv) {
  ge::adcheck::Options o;
  o.model.plugin = PluginPath(argv[0], "grad.so");
  o.mutant_plugin = PluginPath(argv[0], "adcheck/grad_mutant.so");
  CLI::App app(
      "Checks gradients against dual numbers.\n\n"
      "Example: ge-adcheck --ops MatMul,Gemm --order 2 -v");
  app.add_option("--ops", o.ops, "all, core, or names: MatMul,ge.SumToShape")->type_name("LIST");
  app.add_option("--order", o.order, "2: Hessians, too")->check(CLI::Range(1, 2));
  app.add_option("--engines", o.model.engines, "engines that run it (default ref)");
  app.add_option("--seed", o.seed, "of everything that is drawn (default 1)");
  app.add_option("--cases", o.cases, "the folder of cases")->type_name("DIR");
  app.add_option("--plugin", o.model.plugin, "the plugin with the pass grad")->type_name("FILE");
  app.add_option("--programs", o.programs, "random programs with control flow, so many")
      ->check(CLI::Range(1, 100000000));
  app.add_option("--program", o.program, "one of them, by the number that it failed with")
      ->type_name("NUMBER");
  app.add_flag("--recursion", o.recursion, "programs may have functions that call themselves");
  app.add_flag("--closures", o.closures, "programs may have functions as values");
  app.add_option("--save", o.save, "keep programs that fail in this folder")->type_name("DIR");
  app.add_option("--model", o.file, "one .gt file: its first output by all its inputs")
      ->type_name("FILE");
  app.add_flag("--mutate", o.mutate, "break what rules emit, node by node, and see who notices");
  app.add_flag("--list", o.list, "what is said of each operator's gradient");
  app.add_flag("--json", o.json, "one JSON object");
  app.add_flag("-v", o.verbose, "each case");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  if (o.list) return ge::adcheck::ListOps(o);
  if (o.mutate) return ge::adcheck::MutateRules(o);
  if (!o.file.empty()) return ge::adcheck::CheckFile(o);
  if (o.programs > 0 || o.program != 0) return ge::adcheck::CheckPrograms(o);
  if (!o.ops.empty()) return ge::adcheck::CheckOps(o);
  std::fputs(
      "ge-adcheck: nothing is asked for; give --ops, --list, --programs, "
      "--model or --mutate\n",
      stderr);
  return 2;
}
