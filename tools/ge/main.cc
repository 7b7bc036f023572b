// ge: one binary, subcommands. This file parses the command line and nothing else.
#include <CLI/CLI.hpp>
#include <cstring>

#include "ge/base/exit_code.h"
#include "ge/ge.h"
#include "ge/stage/runner.h"
#include "tools/ge/command.h"
#include "tools/ge/command_line.h"
#include "tools/ge/data/data.h"
#include "tools/ge/mesh_flags.h"
#include "tools/ge/plugin_new.h"
#include "tools/ge/price_flags.h"
#include "tools/ge/train/train.h"

namespace {

using ge::tool::Options;
using ge::tool::SubcommandList;

void AddPluginFlag(CLI::App* app, Options* o) {
  app->add_option("--plugins", o->plugins,
                  "plugins with operators or passes, by path: ./acme_ops.so,./mine.so")
      ->type_name("LIST");
}

void AddEngineFlags(CLI::App* app, Options* o) {
  app->add_option("--engines", o->engines,
                  "engines to use, in any order: onednn,ref; NAME:key=value;key=value passes "
                  "options; a path with a slash loads that plugin")
      ->type_name("LIST");
  AddPluginFlag(app, o);
  app->add_option("--threads", o->threads,
                  "compute threads, at most 4096 (default 0: the cores we may use)");
  app->add_option("--isa", o->isa, "cap of the instruction set: native, sse4.2, avx2, avx512");
}

void AddInputFlags(CLI::App* app, Options* o) {
  app->add_option("--input", o->inputs,
                  "NAME=FILE.npy, NAME=1x3x224x224:rand or NAME=4:zeros; may be repeated")
      ->take_all();
  app->add_flag("--strict-dims", o->strict_dims,
                "refuse inputs that show dims of one name at two sizes (default: warn)");
  app->add_option("--data-root", o->data_roots,
                  "folder that symbolic links of external data may lead into, beside the model's "
                  "own; may be repeated")
      ->take_all()
      ->type_name("DIR");
  app->add_option("--seed", o->seed, "of random inputs (default 1)");
}

void AddPolicyFlag(CLI::App* app, Options* o) {
  app->add_option("--policy", o->policy,
                  "cost (default): the cheapest whole plan; priority: the first of --engines that "
                  "offers a node takes it");
}

void AddModelFlags(CLI::App* app, Options* o) {
  app->add_option("MODEL", o->model,
                  "model file: .onnx, .gepb (own protobuf), .gt (text) or .gecap (capsule)")
      ->required();
  app->add_option("--entry", o->entry, "entry of the model (default: its first)");
  AddInputFlags(app, o);
  app->add_option("--skip", o->skip, "name of a pass not to run; may be repeated")->take_all();
  app->add_option("--pass", o->passes,
                  "NAME or NAME:option=value;option=value of a pass that runs on request, or "
                  "options of any pass; may be repeated")
      ->take_all()
      ->type_name("NAME");
  app->add_flag("--kv-cache{256}", o->kv_cache,
                "keep the past of a decoder (inputs given out with new rows behind) in "
                "states of this capacity; a full one doubles (--kv-cache=1024; without a "
                "number 256)");
  app->add_option("--memory-limit", o->memory_limit_bytes,
                  "memory of one run, 2GB (default: 768 MB and 64 bytes for each byte of the "
                  "weights and inputs)")
      ->transform(CLI::AsSizeValue(false));
  app->add_option("--max-streams", o->max_streams, "streams a device may use (default 3)");
  AddPolicyFlag(app, o);
  app->add_option("--pin", o->pins,
                  "NODE=ENGINE or NODE=ENGINE/DEVICE runs the node there; NODE is a name of ge "
                  "explain, #ID, an operator, or a pattern of names or operators with * and ?; "
                  "@LAYOUT behind it (@plain, @channels-last, as ge explain prints them) pins "
                  "the layout, too; an operator taken by the engine only in parts runs as "
                  "these; may be repeated")
      ->take_all();
  app->add_flag("--no-fuse", o->no_fuse, "each node is a segment of its own");
  ge::tool::AddPriceFlags(app, o);
  app->add_option("--denormals", o->denormals,
                  "flush (default): numbers below 1.2e-38 count as zero, on every engine; keep");
  app->add_option("--numerics", o->numerics,
                  "fast (default): convolutions may use Winograd's transforms, and MatMulNBits "
                  "with accuracy_level 4 may take its inputs in 8 bits; exact: only sums of an "
                  "operator's own products (docs/numerics.md)");
  app->add_option("--precision", o->precision,
                  "f32 (default); bf16: products may round their inputs to bfloat16 where that "
                  "is faster (docs/numerics.md)");
  app->add_flag("--replan", o->replan,
                "runs may replace a plan whose time differs from the prediction, or that "
                "other offers may beat; those offers are timed for up to 200 ms");
  app->add_option("--time-limit", o->time_limit_s,
                  "seconds for the load, the compile and each run (default: no limit)");
  app->add_flag("--strict", o->strict,
                "refuse a compiled model that does not fit this machine, its engines or options "
                "(default: warn, and plan anew)");
  app->add_flag("-v,--verbose", o->verbose, "print decisions on stderr");
  AddEngineFlags(app, o);
}

std::string StageNames() {
  std::string out = "\nStages:\n";
  for (ge::StageId id : ge::AllStages()) {
    out += std::string("  ") + ge::StageName(id) +
           std::string(12 - std::strlen(ge::StageName(id)), ' ') + ge::StageSummary(id) + "\n";
  }
  return out;
}

void AddRun(SubcommandList* to, Options* o, int* code) {
  CLI::App* run = to->Add("run", "load a model, run it, print times and outputs");
  if (run == nullptr) return;
  AddModelFlags(run, o);
  run->add_option("--output", o->output_dir,
                  "folder for NAME.npy of each output (NAME.json for texts, sequences and maps)");
  run->add_option("--repeat", o->repeat, "runs in all (default 1)");
  run->add_option("--warmup", o->warmup, "runs before the counted ones");
  run->add_flag("--json", o->json, "one JSON object on stdout, nothing else");
  run->add_flag("--accuracy", o->accuracy,
                "with --precision bf16: also run in float32, and print each output's distance");
  run->add_flag("--times", o->times, "time of each stage and pass, on stderr");
  ge::tool::AddMeshFlags(run, &o->mesh);
  run->add_option("--trace", o->look.trace,
                  "also write a trace of the load, the compile and every counted run, for "
                  "ui.perfetto.dev")
      ->type_name("F.pftrace");
  run->add_flag(
      "--profile", o->look.profile,
      "print where the time goes, by nodes and operators, instead of the outputs: medians "
      "of the runs behind the first (--repeat, default 11)");
  run->add_option("--watch", o->look.watch,
                  "stop behind the first value that is nan, inf or larger than a bound "
                  "(nan,inf,abs>1e4), and name its node; exit code 1")
      ->type_name("CONDITIONS");
  run->add_option("--watch-file", o->look.watch_file,
                  "where --watch records the run that it stops (default watch.gecap)")
      ->type_name("F.gecap");
  run->footer(
      "\nExample:\n  ge run resnet50.onnx --input x=1x3x224x224:rand --repeat 30 "
      "--threads 1\n  ge run lenet.onnx --trace lenet.pftrace\n"
      "  ge run lenet.onnx --profile\n  ge run lenet.onnx --watch 'nan,inf,abs>1e4'\n"
      "  mpirun -np 2 ge run lenet.onnx --mesh data=2 --input x=4x1x28x28:rand --threads 1\n");
  run->callback([=] {
    constexpr uint32_t kProfiledRuns = 11;
    if (o->look.profile && run->count("--repeat") == 0) o->repeat = kProfiledRuns;
    *code = ge::tool::Run(*o);
  });
}

void AddExplain(SubcommandList* to, Options* o, int* code) {
  CLI::App* explain = to->Add("explain", "the engine of each node, its price, and why");
  if (explain == nullptr) return;
  AddModelFlags(explain, o);
  explain->add_flag("--json", o->json, "one JSON object on stdout, nothing else");
  explain->add_option("--plot", o->plot, "also draw the placed graph into this .svg file")
      ->type_name("F.svg");
  explain->footer(
      "\nExample:\n  ge explain lenet.onnx --engines onednn,ref\n"
      "  ge explain lenet.onnx --plot lenet.svg\n");
  explain->callback([=] { *code = ge::tool::Explain(*o); });
}

void AddDump(SubcommandList* to, Options* o, int* code) {
  CLI::App* dump = to->Add("dump", "the graph or plan as text after any stage");
  if (dump == nullptr) return;
  AddModelFlags(dump, o);
  dump->add_option("--to", o->to,
                   "print after this stage and stop (default memory);\nproto and onnx: load, "
                   "infer or rewrite (default); a model\nplanned piece by piece is run once for "
                   "its plans");
  dump->add_option("--format", o->format, "text, proto or onnx");
  dump->add_option("-o", o->output_file, "file to write instead of stdout");
  dump->add_flag("--values{all}", o->values,
                 "run the model once and record graphs, plan, inputs, outputs and all values that "
                 "the plan makes into the capsule -o F.gecap (=border: what segments hand on "
                 "alone; =stats: extremes and checksums; =none: no values)");
  dump->footer(StageNames() +
               "\nExample:\n  ge dump lenet.onnx --to partition\n"
               "  ge dump lenet.onnx --format onnx -o rewritten.onnx\n"
               "  ge dump lenet.onnx --values -o lenet.gecap\n");
  dump->callback([=] { *code = ge::tool::Dump(*o); });
}

void AddPlugins(SubcommandList* to, Options* o, int* code) {
  CLI::App* plugins =
      to->Add("plugins",
              "plugins of the search path, of PATH or of --engines: found, skipped, refused, why");
  if (plugins == nullptr) return;
  AddEngineFlags(plugins, o);
  plugins->add_option("PATH", o->plugin_paths, "files and folders in place of the search path");
  plugins->add_flag("--open", o->open_plugins,
                    "also open plugins with a manifest; listing does not need it");
  plugins->add_flag("--json", o->json, "one JSON object on stdout, nothing else");
  plugins->footer(
      "\nExample:\n  GE_PLUGIN_EXTRA=./my_engine.so ge plugins\n  ge plugins ./build "
      "./my_engine.so\n");
  plugins->callback([=] { *code = ge::tool::Plugins(*o); });
}

void AddOps(SubcommandList* to, Options* o, int* code) {
  CLI::App* ops = to->Add("ops", "the known operators");
  if (ops == nullptr) return;
  ops->add_flag("--json", o->json, "one JSON object on stdout, nothing else");
  AddPluginFlag(ops, o);
  ops->footer("\nExample:\n  ge ops --json\n  ge ops --plugins ./acme_ops.so\n");
  ops->callback([=] { *code = ge::tool::Ops(*o); });
}

void AddPasses(SubcommandList* to, Options* o, int* code) {
  CLI::App* passes = to->Add("passes", "rewrites in their running order, those of --plugins too");
  if (passes == nullptr) return;
  passes->add_option("--plugins", o->plugins, "plugins with passes: ./mine.so")->type_name("LIST");
  passes->add_flag("--json", o->json, "one JSON object on stdout, nothing else");
  passes->footer("\nExample:\n  ge passes --plugins ./square.so\n");
  passes->callback([=] { *code = ge::tool::Passes(*o); });
}

void AddCompile(SubcommandList* to, Options* o, int* code) {
  CLI::App* compile =
      to->Add("compile", "plan a model ahead into a file whose sessions begin to run at once");
  if (compile == nullptr) return;
  AddModelFlags(compile, o);
  compile->add_option("-o", o->output_file, "the compiled model, F.gecap")->required();
  compile->add_flag("--json", o->json, "one JSON object on stdout, nothing else");
  compile->footer(
      "\nAn input named twice asks for two signatures. Whatever takes a MODEL takes the file; on "
      "another\nprocessor, with other engines or threads it is planned anew.\nExample:\n  ge "
      "compile lenet.onnx -o lenet.gecap\n  ge run lenet.gecap\n");
  compile->callback([=] { *code = ge::tool::Compile(*o); });
}

// Of what looks for a fault.
void AddFaultFlags(CLI::App* app, Options* o) {
  app->add_option("--against", o->against, "engine that is taken to be right (default ref)");
  app->add_option("--expect", o->expect,
                  "values from elsewhere by their names, as numpy.savez writes them; see "
                  "docs/capsule.md")
      ->type_name("F.npz");
  app->add_option("--seconds", o->seconds_a_trial, "for each trial (default 600)")
      ->check(CLI::Range(0.1, 1e6));
}

void AddReplay(SubcommandList* to, Options* o, int* code) {
  CLI::App* replay = to->Add("replay", "repeat a run that a capsule has, and compare every value");
  if (replay == nullptr) return;
  replay->add_option("CAPSULE", o->model, "made by ge dump MODEL --values -o F.gecap")->required();
  replay->add_option("--from", o->from,
                     "plan (default, where there is one): the recorded placement; load: rewritten "
                     "and placed anew, "
                     "outputs alone are compared");
  replay->add_option("--rtol", o->rtol,
                     "bound of a float's difference by the largest magnitude of its tensor "
                     "(default by type: f64 1e-9, f32 1e-4, f16 0.01, bf16 0.04); on the machine "
                     "of the recorded run with --from plan bits must be equal");
  replay
      ->add_option("--pin", o->pins,
                   "as of ge run: nodes that go elsewhere; all are placed anew, and values of "
                   "the same names are compared")
      ->take_all();
  AddPolicyFlag(replay, o);
  replay->add_option("--runs", o->runs, "runs, each compared (default 1)")
      ->check(CLI::Range(1, 1000000));
  replay->add_flag("--lockstep", o->lockstep,
                   "each segment's recorded inputs go to its engine and, node by node, to the "
                   "reference: which errors are a node's own, and which are inherited");
  AddFaultFlags(replay, o);
  replay->add_flag("--json", o->json, "one JSON object on stdout, nothing else");
  AddEngineFlags(replay, o);
  replay->footer(
      "\nExit codes: 0 equal, or within the bounds on another machine or engine; 1 not.\n"
      "Example:\n  ge dump lenet.onnx --values -o lenet.gecap\n  ge replay lenet.gecap\n"
      "  ge replay lenet.gecap --from load --engines ref\n  ge replay lenet.gecap --lockstep\n");
  replay->callback([=] { *code = ge::tool::Replay(*o); });
}

void AddBisect(SubcommandList* to, Options* o, int* code) {
  CLI::App* bisect = to->Add(
      "bisect",
      "whose fault is a recorded run's result: a pass's, an engine's, the memory's, a pack's, or "
      "the model's as it was loaded");
  if (bisect == nullptr) return;
  bisect->add_option("CAPSULE", o->model, "made by ge dump MODEL --values -o F.gecap")->required();
  AddFaultFlags(bisect, o);
  bisect->add_option("--rtol", o->rtol, "as of ge replay");
  bisect
      ->add_option("--runs", o->runs,
                   "of each trial, for faults that come and go: one wrong run is enough "
                   "(default 1)")
      ->check(CLI::Range(1, 1000000));
  bisect->add_flag("--json", o->json, "one JSON object on stdout, nothing else");
  AddEngineFlags(bisect, o);
  bisect->footer(
      "\nThe loaded model, the graph after each recorded pass, then each segment of the plan on "
      "its "
      "recorded\ninputs, is run on the reference, every trial in a process of its own.\nExit "
      "codes: 0 no fault was found; 1 one was.\nExample:\n  ge bisect lenet.gecap\n");
  bisect->callback([=] { *code = ge::tool::Bisect(*o); });
}

void AddIsolate(SubcommandList* to, Options* o, int* code) {
  CLI::App* isolate = to->Add(
      "isolate", "a node or segment of a recorded run, with the values that it read and made");
  if (isolate == nullptr) return;
  isolate->add_option("CAPSULE", o->model, "made by ge dump MODEL --values -o F.gecap")->required();
  isolate->add_option("PIECE", o->piece, "a node's name, or #SEGMENT as ge explain numbers them")
      ->required();
  isolate->add_option("-o", o->output_file, "F.gecap, or F.gt: a case for ge-test")->required();
  AddEngineFlags(isolate, o);
  isolate->footer(
      "\nExample:\n  ge isolate lenet.gecap '#0' -o piece.gecap\n  ge replay piece.gecap "
      "--engines ref\n");
  isolate->callback([=] { *code = ge::tool::Isolate(*o); });
}

void AddReduce(SubcommandList* to, Options* o, int* code) {
  CLI::App* reduce = to->Add(
      "reduce", "the fewest nodes of a recorded run, or of a model, that fail for the same reason");
  if (reduce == nullptr) return;
  AddModelFlags(reduce, o);
  reduce
      ->add_option("-o", o->output_file,
                   "F.gecap, which ge replay repeats; F.gt: a case for ge-test; with --check "
                   "F.onnx, too")
      ->required();
  reduce
      ->add_option("--seconds", o->budget_s,
                   "for all of it: then the smallest that has failed is written (default 120)")
      ->check(CLI::Range(0.1, 1e6));
  auto* trial = reduce
                    ->add_option("--seconds-per-trial", o->seconds_a_trial,
                                 "a trial that takes longer hangs (default 20)")
                    ->check(CLI::Range(0.1, 1e6));
  reduce->add_option("--check", o->check,
                     "a command that fails on the fault, its exit code not 0, with {} for a file "
                     "as -o has it; it is asked instead of the engines");
  reduce->add_option("--against", o->against, "engine that is taken to be right (default ref)");
  reduce->add_option("--rtol", o->rtol, "as of ge replay");
  reduce->add_flag("--json", o->json, "one JSON object on stdout, nothing else");
  reduce->footer(
      "\nA fault is a result that differs from the reference's, one that is no number, an error, a "
      "crash or a hang.\nValues between nodes become inputs, as the reference computes them. Every "
      "trial has a process of its own.\nExit codes: 0 a file was written, and failed again when "
      "it was read back; 1 the fault does not show.\nExample:\n  ge reduce run.gecap -o "
      "small.gecap --engines ./mine.so,ref\n  ge reduce net.onnx -o small.onnx --check './mine "
      "{}'\n");
  reduce->callback([=] {
    if (trial->count() == 0) o->seconds_a_trial = 20;
    *code = ge::tool::Reduce(*o);
  });
}

void AddTune(SubcommandList* to, Options* o, int* code) {
  CLI::App* tune = to->Add("tune", "measure this machine and its engines, and keep the results");
  if (tune == nullptr) return;
  tune->add_option("MODEL", o->models, "models; their offers and plans are measured, too");
  tune->add_option("--input", o->inputs, "shapes or data of the models' inputs; as in ge run")
      ->take_all();
  tune->add_option("--measure-budget", o->measure_budget_ms,
                   "milliseconds for the sample of work, and for each model's offers and plans "
                   "(default 2000)");
  tune->add_option("--export", o->export_dir,
                   "also write machines.json and priors/ there, for processors like this")
      ->type_name("DIR");
  tune->add_flag("--json", o->json, "one JSON object on stdout, nothing else");
  AddEngineFlags(tune, o);
  tune->footer("\nExample:\n  ge tune\n  ge tune resnet50.onnx --input x=1x3x224x224:rand\n");
  tune->callback([=] { *code = ge::tool::Tune(*o); });
}

void AddBench(SubcommandList* to, Options* o, int* code) {
  CLI::App* bench = to->Add("bench", "requests a second of one session, by callers at once");
  if (bench == nullptr) return;
  AddModelFlags(bench, o);
  bench->add_option("--concurrency", o->concurrency, "callers at once (default 1,2,4,8)")
      ->delimiter(',');
  bench->add_option("--seconds", o->seconds, "for each number of callers (default 2)")
      ->check(CLI::Range(0.01, 3600.0));
  bench->add_flag("--json", o->json, "one JSON object on stdout, nothing else");
  bench->footer("\nExample:\n  ge bench lenet.onnx --concurrency 1,2,4 --seconds 5\n");
  bench->callback([=] { *code = ge::tool::Bench(*o); });
}

void AddPlugin(SubcommandList* to, ge::tool::NewPlugin* wanted, int* code) {
  CLI::App* plugin = to->Add("plugin", "make a plugin of your own");
  if (plugin == nullptr) return;
  plugin->require_subcommand(1);
  auto* make = plugin->add_subcommand("new", "a folder with a plugin, ready to build and run");
  make->add_option("KIND", wanted->kind,
                   "engine, device (an engine whose work goes on behind the call), op or pass")
      ->required()
      ->check(CLI::IsMember({"engine", "device", "op", "pass"}));
  make->add_option("NAME", wanted->name, "of the folder and the plugin: [a-z0-9_]+")->required();
  make->add_option("--language", wanted->language, "c (default) or cpp; devices: cpp alone")
      ->check(CLI::IsMember({"c", "cpp"}));
  make->add_option("--dir", wanted->dir, "parent of the new folder (default: here)");
  make->footer(
      "\nExample:\n  ge plugin new engine my_engine --language cpp\n"
      "  ge plugin new device my_device\n");
  make->callback([=] { *code = ge::tool::MakeNewPlugin(*wanted); });
}

int Main(int argc, char** argv) {
  CLI::App app(
      "GraphEngine: runs dataflow graphs on the engines that make the whole plan cheapest");
  app.set_version_flag("--version", std::string("ge ") + ge_version());
  app.require_subcommand(1);
  app.footer(
      "\nExit codes: 0 done, 1 the result is wrong, 2 bad arguments or model, 3 "
      "engine or plugin failure or\na time limit exceeded, 130 interrupted (Ctrl-C "
      "or SIGTERM; work in progress ends within a second).\nExample:\n  ge run "
      "lenet.onnx\n");
  Options options;
  ge::tool::NewPlugin new_plugin;
  int code = 0;
  ge::tool::CatchSignals();
  SubcommandList subcommands(&app, argc, argv);
  AddRun(&subcommands, &options, &code);
  AddExplain(&subcommands, &options, &code);
  AddDump(&subcommands, &options, &code);
  AddPlugins(&subcommands, &options, &code);
  AddOps(&subcommands, &options, &code);
  AddPasses(&subcommands, &options, &code);
  AddCompile(&subcommands, &options, &code);
  AddReplay(&subcommands, &options, &code);
  AddBisect(&subcommands, &options, &code);
  AddIsolate(&subcommands, &options, &code);
  AddReduce(&subcommands, &options, &code);
  AddTune(&subcommands, &options, &code);
  AddBench(&subcommands, &options, &code);
  ge::tool::AddTrain(&subcommands, &code);
  ge::tool::AddData(&subcommands, &code);
  AddPlugin(&subcommands, &new_plugin, &code);
  ge::tool::RefuseNegatives(&app);
  if (const std::string why = ge::tool::WhyNoSubcommand(app, argc, argv); !why.empty()) {
    std::fprintf(stderr, "ge: %s\n", why.c_str());
    return 2;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    const bool extra = dynamic_cast<const CLI::ExtrasError*>(&e) != nullptr;
    if (const std::string why = extra ? ge::tool::WhyNoOption(app, argc, argv) : ""; !why.empty()) {
      std::fprintf(stderr, "ge: %s\n", why.c_str());
      return 2;
    }
    return app.exit(e) == 0 ? 0 : 2;
  }
  if (ge::tool::Signalled() && code != ge::tool::kExitInterrupted) {
    std::fputs("ge: interrupted\n", stderr);
    return ge::tool::kExitInterrupted;
  }
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  return ge::ExitCodeOf("ge", [&] { return Main(argc, argv); });
}
