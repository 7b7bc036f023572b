#include <CLI/CLI.hpp>
#include <memory>

#include "tools/ge/command_line.h"
#include "tools/ge/data/data.h"

namespace ge::tool {
namespace {

void AddPipe(CLI::App* app, DataOptions* o) {
  app->add_option("PIPE", o->pipe,
                  "SOURCE | step | step, in quotes; or a model with the entry `data`")
      ->required();
  app->add_option("--entry", o->rows.entry, "entry of the model (default: data)");
  app->add_option("--batch", o->rows.batch, "rows a batch (default 64)");
  app->add_option("--seed", o->common.seed, "of the order and of random steps (default 1)");
  app->add_option("--engines", o->common.engines, "engines to use; as in ge run")
      ->type_name("LIST");
  app->add_option("--plugins", o->common.plugins, "plugins beside data; as in ge run")
      ->type_name("LIST");
  app->add_option("--threads", o->common.threads,
                  "compute threads (default 0: the cores we may use)");
  app->add_option("--skip", o->common.skip, "name of a pass not to run; may be repeated")
      ->take_all();
  app->add_flag("--json", o->common.json, "one JSON object on stdout");
  app->add_flag("-v,--verbose", o->common.verbose, "print decisions on stderr");
}

void AddRunAction(CLI::App* data, const std::shared_ptr<DataOptions>& o, int* code) {
  CLI::App* run = data->add_subcommand("run", "make batches, count and digest them");
  AddPipe(run, o.get());
  run->add_option("--batches", o->batches, "how many (default: those of an epoch)");
  run->add_option("--first", o->rows.first, "position of the first row (default 0)");
  run->add_option("--ahead", o->rows.ahead, "batches made ahead (default 2)");
  run->add_option("--rows", o->rows.rows,
                  "rows a prepared run (default 0: those of about a millisecond)");
  run->add_option("--rank", o->rows.rank, "which slice of each batch (default 0)");
  run->add_option("--world", o->rows.world, "in how many slices (default 1)");
  run->add_flag("--digest", o->digest, "SHA-256 of all columns, in the order of rows");
  run->add_option("--output", o->common.output_dir, "write each column as NAME.npy")
      ->type_name("DIR");
  run->add_option("--time-limit", o->common.time_limit_s, "seconds of the load and each batch");
  run->callback([=] { *code = DataRun(*o); });
}

}  // namespace

void AddData(SubcommandList* to, int* code) {
  auto o = std::make_shared<DataOptions>();
  CLI::App* data = to->Add("data", "batches out of files: pipelines as entries of a model");
  if (data == nullptr) return;
  data->require_subcommand(1);
  AddRunAction(data, o, code);
  CLI::App* info = data->add_subcommand("info", "print source, rows and columns");
  AddPipe(info, o.get());
  info->callback([=] { *code = DataInfo(*o); });
  CLI::App* show = data->add_subcommand("show", "a picture of the first 16 samples");
  AddPipe(show, o.get());
  show->add_option("--plot", o->common.plot, "the picture to write")
      ->type_name("F.png")
      ->required();
  show->add_option("--first", o->rows.first, "position of the first sample (default 0)");
  show->callback([=] { *code = DataShow(*o); });
  CLI::App* dump = data->add_subcommand("dump", "print the pipeline's graph or plan");
  AddPipe(dump, o.get());
  dump->add_option("--to", o->common.to, "stage to stop after (default rewrite); as in ge dump")
      ->type_name("STAGE");
  dump->callback([=] { *code = DataDump(*o); });
  CLI::App* pack = data->add_subcommand("pack", "write the rows as records that are mapped");
  AddPipe(pack, o.get());
  pack->add_option("-o,--output", o->common.output_file, "the file to write")
      ->type_name("F.gerec")
      ->required();
  pack->add_option("--batches", o->batches, "how many (default: all rows)");
  pack->add_option("--first", o->rows.first, "position of the first row (default 0)");
  pack->callback([=] { *code = DataPack(*o); });
  CLI::App* verify = data->add_subcommand("verify", "read all of a file, and name what is damaged");
  AddPipe(verify, o.get());
  verify->callback([=] { *code = DataVerify(*o); });
  data->footer(
      "\nExamples:\n  ge data info x.npy\n  ge data run 'x.npy | shuffle | normalise 0.5 0.5' "
      "--batch "
      "128 --digest\n  ge data show 'photos | resize 64 | center-crop 64' --plot samples.png\n");
}

}  // namespace ge::tool
