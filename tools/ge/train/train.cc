// ge train: looks at what was asked for and what there is, has the pass `train` make the step, and
// hands all of it to the loop. What would fail at the end is tried here, before the work.
#include "tools/ge/train/train.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/ge/train/trainer.h"

namespace ge::tool {
namespace {

Status CheckOptions(const TrainOptions& o) {
  const auto bad = [](std::string text) { return Status(Code::kInvalidArgument, std::move(text)); };
  if (o.batch < 1 || o.epochs < 1) {
    return bad(fmt::format("--batch is {} and --epochs {}, wanted 1 or more", o.batch, o.epochs));
  }
  if (o.no_test && !o.test_data.empty()) {
    return bad("--test-data is to test with and --no-test leaves it alone: give one of both");
  }
  if (o.layout != "nchw" && o.layout != "nhwc") {
    return bad(fmt::format("--layout is '{}', wanted nchw or nhwc", o.layout));
  }
  if (o.resume && o.checkpoint.empty()) return bad("--resume wants --checkpoint DIR to go on from");
  if (o.overwrite && o.checkpoint.empty()) {
    return bad("--overwrite wants --checkpoint DIR, whose checkpoint it replaces");
  }
  if (o.resume && o.overwrite) {
    return bad(
        "--resume goes on from the checkpoint and --overwrite begins anew: give one of both");
  }
  return {};
}

// The options of this rank: its program beside what was asked for; of all but the first, what
// nobody sees goes.
Result<TrainOptions> OptionsOfRank(const TrainOptions& given) {
  TrainOptions o = given;
  GE_ASSIGN_OR_RETURN(o.ranks, RanksOf(o.mesh, "train"));
  AskForRank(o.mesh, o.ranks, o.batch, &o.common);
  o.histograms = std::any_of(o.log.begin(), o.log.end(), [](const std::string& log) {
    return log.starts_with("tensorboard:");
  });
  o.exports = !o.export_file.empty();
  if (o.ranks.first()) return o;
  // Where states may lie in shares, a test wants all ranks.
  if (!o.mesh.shard_states && o.mesh.shard.empty()) {
    o.no_test = true;
    o.test_data.clear();
  }
  o.log.clear();
  o.plot.clear();
  o.export_file.clear();
  o.common.json = o.common.verbose = false;
  return o;
}

Status CheckCount(const TrainOptions& o, const TrainData& data) {
  if (data.rows() >= o.batch) return {};
  return Status(
      Code::kInvalidArgument,
      fmt::format("--batch is {}, more than the {} samples of '{}'", o.batch, data.rows(), o.data));
}

// These end with the run, by updates, so that the pass has to know how long it is.
bool EndsWithRun(const std::string& schedule) {
  return schedule == "cosine" || schedule == "poly" || schedule == "one-cycle";
}

// The options of the pass; without samples those of a net that is only looked at.
std::string PassOptions(const TrainOptions& o, uint64_t samples) {
  const bool ends = EndsWithRun(o.schedule);
  std::string text = fmt::format(
      "loss={};optimizer={};schedule={};lr={};momentum={};weight-decay={};clip={};ema={};"
      "warmup={};accumulate={};seed={}",
      o.loss, o.optimizer, ends && samples == 0 ? "constant" : o.schedule, o.lr, o.momentum,
      o.weight_decay, o.clip, o.ema, o.warmup, o.accumulate, o.common.seed);
  if (ends && samples > 0) {
    uint64_t steps = samples / o.batch * o.epochs;
    if (o.max_steps > 0) steps = std::min(steps, o.max_steps);
    text += fmt::format(";steps={}", steps / std::max(1u, o.accumulate));
  }
  for (const auto& [name, patterns] :
       {std::pair{"freeze", &o.freeze}, {"tie", &o.tie}, {"untie", &o.untie}}) {
    if (!patterns->empty()) text += fmt::format(";{}={}", name, fmt::join(*patterns, "+"));
  }
  if (!o.common.entry.empty()) text += ";entry=" + o.common.entry;
  for (const std::string& item : o.set) text += ";" + item;
  return text;
}

Result<std::unique_ptr<TrainedExport>> OpenExport(const TrainOptions& o) {
  if (o.export_file.empty()) return std::unique_ptr<TrainedExport>();
  return TrainedExport::Open(o.common.model, o.common.entry, o.export_file);
}

Result<std::unique_ptr<Checkpoint>> OpenCheckpoint(const TrainOptions& o) {
  if (o.checkpoint.empty()) return std::unique_ptr<Checkpoint>();
  const IfPresent what = o.resume      ? IfPresent::kResume
                         : o.overwrite ? IfPresent::kOverwrite
                                       : IfPresent::kRefuse;
  return Checkpoint::Open(o.checkpoint, what, o.ranks);
}

Status TrainModel(const TrainOptions& given, bool* diverged) {
  GE_RETURN_IF_ERROR(CheckOptions(given));
  GE_ASSIGN_OR_RETURN(const TrainOptions o, OptionsOfRank(given));
  GE_ASSIGN_OR_RETURN(TrainedNet net, TrainedNet::Open(o.common, PassOptions(o, 0)));
  GE_RETURN_IF_ERROR(net.CheckShapes(o.ranks.RowsOf(o.batch).size));
  TrainTargets to;
  GE_ASSIGN_OR_RETURN(to.trained, OpenExport(o));
  GE_ASSIGN_OR_RETURN(to.checkpoint, OpenCheckpoint(o));
  GE_ASSIGN_OR_RETURN(to.journal, Journal::Open(o));
  NetInputs inputs = net.Inputs();
  inputs.loss = o.loss;
  inputs.channels_last = o.layout == "nhwc";
  GE_ASSIGN_OR_RETURN(auto data, TrainData::Open(o, inputs));
  GE_RETURN_IF_ERROR(CheckCount(o, *data));
  const std::string pass = PassOptions(o, data->rows());
  if (EndsWithRun(o.schedule)) {
    net = TrainedNet();  // its weights need not lie in memory twice
    GE_ASSIGN_OR_RETURN(net, TrainedNet::Open(o.common, pass));
  }
  Trainer trainer(o, pass, std::move(data), std::move(net), std::move(to));
  const Status status = trainer.Run();
  *diverged = trainer.diverged();
  return status;
}

}  // namespace

int Train(const TrainOptions& options) {
  bool diverged = false;
  const Status status = TrainModel(options, &diverged);
  if (status.ok()) return 0;
  const int code = Fail(status);
  return diverged ? 1 : code;
}

}  // namespace ge::tool
