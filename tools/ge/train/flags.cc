#include <CLI/CLI.hpp>
#include <memory>

#include "tools/ge/command_line.h"
#include "tools/ge/mesh_flags.h"
#include "tools/ge/train/train.h"

namespace ge::tool {
namespace {

void AddLearning(CLI::App* app, TrainOptions* o) {
  app->add_option("--data", o->data,
                  "SOURCE | step | step, in quotes, as of ge data: fashion-mnist, a folder of "
                  "idx files or of pictures, .npz, .csv, .tar ...; columns become inputs by name, "
                  "else in order")
      ->type_name("PIPE")
      ->required();
  app->add_option("--test-data", o->test_data,
                  "to test with (default: the source's test part, by the same steps, random ones "
                  "centred or left out)")
      ->type_name("PIPE");
  app->add_option("--layout", o->layout,
                  "of pictures in a .npz: nchw (default), the nets' own, or nhwc, channels "
                  "last, to be transposed");
  app->add_option("--data-limit", o->data_limit,
                  "memory for batches made ahead, 200MB (default 1 GiB; at least one)")
      ->transform(CLI::AsSizeValue(false));
  app->add_option("--loss", o->loss, "softmax-ce (default), mse, bce, or none: the net's output");
  app->add_option("--optimizer", o->optimizer,
                  "sgd (default), rmsprop, adagrad, adam, adamw, lamb, lars, lion");
  app->add_option("--lr", o->lr, "learning rate (default 0.001)");
  app->add_option("--momentum", o->momentum, "of sgd, rmsprop and lars (default 0)");
  app->add_option("--weight-decay", o->weight_decay, "default 0");
  app->add_option("--schedule", o->schedule,
                  "of the rate: constant (default), step, cosine, poly, one-cycle");
  app->add_option("--warmup", o->warmup, "updates while the rate rises to --lr");
  app->add_option("--clip", o->clip, "bound of the norm of all gradients together");
  app->add_option("--accumulate", o->accumulate, "steps per update, by their mean gradient");
  app->add_option("--ema", o->ema, "keep averages of the weights; tests and the export use them");
  app->add_option("--freeze", o->freeze,
                  "weights to keep unchanged: a name or pattern; may be repeated")
      ->take_all();
  app->add_option("--tie", o->tie, "weights held once by the model, to stay one; may be repeated")
      ->take_all();
  app->add_option("--untie", o->untie,
                  "weights held once by the model, to become one for each reader; may be "
                  "repeated")
      ->take_all();
  app->add_option("--set", o->set,
                  "NAME=VALUE: another option of the pass train, as beta1=0.8; may be repeated")
      ->take_all();
}

void AddCourse(CLI::App* app, TrainOptions* o) {
  app->add_option("--epochs", o->epochs, "passes over all samples (default 1)");
  app->add_option("--batch", o->batch, "samples a step, of all ranks (default 64)");
  app->add_option("--steps", o->max_steps, "stop after so many steps");
  AddMeshFlags(app, &o->mesh);
  app->add_flag("--shard-states", o->mesh.shard_states,
                "weights and slots of the optimizer in shares over the axis data");
  app->add_option("--seed", o->common.seed, "of the order of samples and of Dropout (default 1)");
  app->add_flag("--no-shuffle", o->keep_order,
                "samples in the order of the data, where the pipe has no shuffle");
  app->add_option("--eval-every", o->eval_every, "test after so many steps (default: each epoch)");
  app->add_flag("--no-test", o->no_test, "leave the samples to test with alone");
  app->add_option("--checkpoint", o->checkpoint,
                  "folder for a complete state of the run at any moment");
  app->add_option("--checkpoint-every", o->checkpoint_every,
                  "write it after so many steps (default: each epoch)");
  app->add_flag("--resume", o->resume, "go on from --checkpoint, where there is one");
  app->add_flag("--overwrite", o->overwrite, "begin anew and replace the run in --checkpoint");
  app->add_flag("--allow-nan", o->allow_nan,
                "go on where a loss is no number (default: end with exit code 1)");
  app->add_option("--log", o->log,
                  "tensorboard:DIR: scalars of each step, histograms of weights, the graph; "
                  "csv:FILE: step,loss,correct,rate, appended with --resume; may be repeated")
      ->take_all();
  app->add_option("--plot", o->plot, "curves as a picture")->type_name("F.png");
  app->add_option("--export", o->export_file, "the trained net")->type_name("OUT.onnx");
  app->add_flag("--json", o->common.json,
                "JSON on stdout, an object for each epoch, and one about the run as the last line");
}

void AddRunning(CLI::App* app, Options* o) {
  app->add_option("--entry", o->entry, "entry of the model (default: its first)");
  app->add_option("--engines", o->engines, "engines to use; as in ge run")->type_name("LIST");
  app->add_option("--plugins", o->plugins, "plugins beside grad; as in ge run")->type_name("LIST");
  app->add_option("--memory-limit", o->memory_limit_bytes,
                  "memory of a step, 2GB (default: 768 MB and 64 bytes for each byte of the "
                  "weights and inputs)")
      ->transform(CLI::AsSizeValue(false));
  app->add_option("--threads", o->threads,
                  "compute threads, at most 4096 (default 0: the cores we may use)");
  app->add_option("--isa", o->isa, "cap of the instruction set: native, sse4.2, avx2, avx512");
  app->add_option("--skip", o->skip, "name of a pass not to run; may be repeated")->take_all();
  app->add_option("--pin", o->pins, "NODE=ENGINE; as in ge run")->take_all();
  app->add_option("--denormals", o->denormals, "flush (default) or keep");
  app->add_option("--numerics", o->numerics, "fast (default) or exact");
  // Not what this machine has learned by now: the same seed gives the same weights on another day.
  o->prices = "shipped";
  app->add_option("--prices", o->prices,
                  "shipped (default): the same plans, and so the same bits, in every run on "
                  "this machine; analytic, cached, measure: as in ge run");
  app->add_flag("-v,--verbose", o->verbose, "print decisions on stderr");
}

}  // namespace

void AddTrain(SubcommandList* to, int* code) {
  auto o = std::make_shared<TrainOptions>();
  CLI::App* train = to->Add("train", "train a net exported for inference");
  if (train == nullptr) return;
  train->add_option("MODEL", o->common.model, "model file: .onnx, .gepb or .gt")->required();
  AddLearning(train, o.get());
  AddCourse(train, o.get());
  AddRunning(train, &o->common);
  train->footer(
      "\nExample:\n  ge train lenet.onnx --data fashion-mnist --optimizer adam --lr 1e-3 --epochs "
      "5 "
      "--export trained.onnx\n");
  train->callback([=] { *code = Train(*o); });
}

}  // namespace ge::tool
