// ge train: reads the data, has the pass `train` make the step, and runs it.
#include "tools/ge/train/train.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "ge/base/clock.h"
#include "ge/base/sha256.h"
#include "tools/ge/train/checkpoint.h"
#include "tools/ge/train/journal.h"
#include "tools/ge/train/order.h"
#include "tools/ge/train/samples.h"

namespace ge::tool {
namespace {

class Trainer {
 public:
  Trainer(const TrainOptions& o, std::string pass, Data data, TrainedNet net, Journal journal)
      : o_(o),
        pass_(std::move(pass)),
        data_(std::move(data)),
        net_(std::move(net)),
        journal_(std::move(journal)) {}
  Status Run();

 private:
  Status CheckData(Samples* s, const std::string& what) const;
  Status Begin();
  Status Epoch(uint64_t epoch);
  Status Step(uint64_t epoch, std::span<const uint32_t> order);
  Status Test();
  Status Save();
  Status End();
  Place Now(uint64_t epoch) const;
  std::optional<double> Accuracy() const;
  nlohmann::json RunOf() const;

  const TrainOptions& o_;
  std::string pass_;  // its options
  Data data_;
  TrainedNet net_;
  Journal journal_;
  uint64_t per_epoch_ = 0, steps_ = 0, began_at_ = 0, saved_at_ = UINT64_MAX,
           tested_at_ = UINT64_MAX;
  Progress at_;
  std::string digest_;
  std::vector<double> step_ms_;
  double train_loss_ = 0;
  std::optional<double> train_accuracy_, test_loss_, test_accuracy_;
};

int64_t Product(std::span<const int64_t> dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

std::string DimsText(std::span<const int64_t> dims) {
  std::string text;
  for (const int64_t d : dims) text += (text.empty() ? "" : "x") + std::to_string(d);
  return text.empty() ? "one number" : text;
}

// Of one sample.
std::span<const int64_t> SampleDims(const ge_tensor_info& info) {
  return {info.dims + 1, info.dims + std::max(info.rank, 1)};
}

Status CheckRows(const Rows& rows, const ge_tensor_info& info, const std::string& what) {
  if (Product(rows.dims) == Product(SampleDims(info))) return {};
  return Status(Code::kInvalidArgument,
                fmt::format("{} are of {} each, wanted {} as the net's '{}'", what,
                            DimsText(rows.dims), DimsText(SampleDims(info)), info.name));
}

// Whole numbers from 0 to below the number of classes, and one for each sample.
Status Trainer::CheckData(Samples* s, const std::string& what) const {
  if (s->x.count == 0) return {};
  GE_RETURN_IF_ERROR(CheckRows(s->x, net_.x(), what));
  if (!net_.has_labels()) return {};
  if (s->y.count == 0) {
    return Status(Code::kInvalidArgument,
                  fmt::format("{} have no labels; loss {} wants some", what, o_.loss));
  }
  if (net_.classifies()) {
    GE_ASSIGN_OR_RETURN(s->y, AsClasses(std::move(s->y), what));
  }
  GE_RETURN_IF_ERROR(CheckRows(s->y, net_.y(), "labels of " + what));
  const auto* label = reinterpret_cast<const int64_t*>(s->y.bytes.data());
  for (size_t i = 0; net_.classifies() && net_.classes() > 0 && i < s->y.bytes.size() / 8; ++i) {
    if (label[i] >= 0 && label[i] < net_.classes()) continue;
    return Status(Code::kInvalidArgument,
                  fmt::format("label {} of {} is {}, wanted 0 to {}, as the net has {} classes", i,
                              what, label[i], net_.classes() - 1, net_.classes()));
  }
  return {};
}

// What decides how a run goes, beside how far it goes.
nlohmann::json Trainer::RunOf() const {
  return {{"model", digest_},       {"samples", data_.train.x.count}, {"batch", o_.batch},
          {"seed", o_.common.seed}, {"shuffle", !o_.keep_order},      {"pass", pass_}};
}

Status Trainer::Begin() {
  GE_RETURN_IF_ERROR(CheckData(&data_.train, "samples to train on"));
  GE_RETURN_IF_ERROR(CheckData(&data_.test, "samples to test with"));
  GE_RETURN_IF_ERROR(net_.Prepare(o_.batch));
  if (o_.checkpoint.empty()) return {};
  GE_ASSIGN_OR_RETURN(digest_, Sha256OfFile(o_.common.model));
  if (!o_.resume) return {};
  bool found = false;
  GE_ASSIGN_OR_RETURN(at_, RestoreCheckpoint(o_.checkpoint, RunOf(), &net_, &found));
  began_at_ = at_.step, saved_at_ = found ? at_.step : UINT64_MAX;
  if (found) {
    fmt::print(stderr, "note: goes on at step {}\n", at_.step);
  } else {
    fmt::print(stderr, "note: '{}' holds no checkpoint; begins at step 0\n", o_.checkpoint);
  }
  return {};
}

Place Trainer::Now(uint64_t epoch) const {
  double ms = 0;
  const size_t n = std::min<size_t>(step_ms_.size(), 50);
  for (size_t i = step_ms_.size() - n; i < step_ms_.size(); ++i) ms += step_ms_[i];
  return {at_.step, steps_, epoch + 1, (steps_ + per_epoch_ - 1) / per_epoch_,
          ms > 0 ? static_cast<double>(n) * 1e3 / ms : 0};
}

Status Trainer::Step(uint64_t epoch, std::span<const uint32_t> order) {
  const double begin = NowMs();
  GE_RETURN_IF_ERROR(
      Gather(data_.train.x, order, static_cast<DType>(net_.x().dtype), net_.x_data()));
  if (net_.has_labels()) {
    GE_RETURN_IF_ERROR(
        Gather(data_.train.y, order, static_cast<DType>(net_.y().dtype), net_.y_data()));
  }
  GE_ASSIGN_OR_RETURN(const Metrics m, net_.Step());
  step_ms_.push_back(NowMs() - begin);
  ++at_.step, at_.loss_sum += m.loss, at_.correct += m.correct;
  return journal_.Step(Now(epoch), m, o_.batch);
}

Status Trainer::Test() {
  const auto n = static_cast<uint32_t>(data_.test.x.count);
  if (n == 0 || tested_at_ == at_.step) return {};
  double loss = 0, correct = 0;
  for (uint32_t from = 0; from < n; from += o_.batch) {
    std::vector<uint32_t> rows(std::min(o_.batch, n - from));
    std::iota(rows.begin(), rows.end(), from);
    GE_RETURN_IF_ERROR(
        Gather(data_.test.x, rows, static_cast<DType>(net_.x().dtype), net_.x_data()));
    if (net_.has_labels()) {
      GE_RETURN_IF_ERROR(
          Gather(data_.test.y, rows, static_cast<DType>(net_.y().dtype), net_.y_data()));
    }
    GE_ASSIGN_OR_RETURN(const Metrics m, net_.Evaluate(static_cast<int64_t>(rows.size())));
    loss += m.loss * static_cast<double>(rows.size()), correct += m.correct;
  }
  tested_at_ = at_.step, test_loss_ = loss / n;
  const auto labels = static_cast<double>(n) * static_cast<double>(Product(data_.test.y.dims));
  if (net_.classifies()) test_accuracy_ = correct / labels;
  return journal_.Tested(Now(at_.step / per_epoch_), *test_loss_, test_accuracy_);
}

Status Trainer::Save() {
  if (o_.checkpoint.empty() || saved_at_ == at_.step) return {};
  saved_at_ = at_.step;
  return SaveCheckpoint(o_.checkpoint, RunOf(), at_, &net_);
}

std::optional<double> Trainer::Accuracy() const {
  const uint64_t done = (at_.step - 1) % per_epoch_ + 1;
  const auto labels =
      static_cast<double>(done) * o_.batch * static_cast<double>(Product(data_.train.y.dims));
  return net_.classifies() ? std::optional(at_.correct / labels) : std::nullopt;
}

// From where the run is to the epoch's end, or to the last step.
Status Trainer::Epoch(uint64_t epoch) {
  const auto count = static_cast<uint32_t>(data_.train.x.count);
  std::vector<uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0u);
  if (!o_.keep_order) order = OrderOf(o_.common.seed, epoch, count);
  const std::span<const uint32_t> all = order;
  const uint64_t end = std::min(steps_, (epoch + 1) * per_epoch_);
  if (at_.step % per_epoch_ == 0) at_.loss_sum = at_.correct = 0;
  while (at_.step < end) {
    GE_RETURN_IF_ERROR(Step(epoch, all.subspan(at_.step % per_epoch_ * o_.batch, o_.batch)));
    if (o_.eval_every > 0 && at_.step % o_.eval_every == 0) GE_RETURN_IF_ERROR(Test());
    if (o_.checkpoint_every > 0 && at_.step % o_.checkpoint_every == 0) GE_RETURN_IF_ERROR(Save());
  }
  train_loss_ = at_.loss_sum / static_cast<double>((at_.step - 1) % per_epoch_ + 1);
  train_accuracy_ = Accuracy();
  GE_RETURN_IF_ERROR(Test());
  GE_RETURN_IF_ERROR(Save());
  return journal_.Epoch(Now(epoch), train_loss_, train_accuracy_, &net_);
}

Status Trainer::End() {
  const auto optional = [](std::optional<double> v) {
    return v ? nlohmann::json(*v) : nlohmann::json();
  };
  // The first steps make plans and warm caches.
  std::vector<double> ms = step_ms_;
  const double total = std::accumulate(ms.begin(), ms.end(), 0.0);
  std::sort(ms.begin(), ms.end());
  if (!o_.export_file.empty()) {
    GE_ASSIGN_OR_RETURN(const std::vector<Tensor> states, net_.States());
    GE_RETURN_IF_ERROR(ExportTrained(o_.common.model, o_.common.entry, states, o_.export_file));
  }
  return journal_.Finish({{"train_loss", train_loss_},
                          {"train_accuracy", optional(train_accuracy_)},
                          {"test_loss", optional(test_loss_)},
                          {"test_accuracy", optional(test_accuracy_)},
                          {"steps_per_s", total > 0 ? ms.size() * 1e3 / total : 0},
                          {"step_ms_median", ms.empty() ? 0 : ms[ms.size() / 2]},
                          {"steps", at_.step},
                          {"resumed_at", began_at_}},
                         o_.common.json);
}

Status Trainer::Run() {
  const auto count = static_cast<uint64_t>(data_.train.x.count);
  per_epoch_ = count / o_.batch;
  steps_ = per_epoch_ * o_.epochs;
  if (o_.max_steps > 0) steps_ = std::min(steps_, o_.max_steps);
  GE_RETURN_IF_ERROR(Begin());
  for (uint64_t epoch = at_.step / per_epoch_; at_.step < steps_; ++epoch) {
    GE_RETURN_IF_ERROR(Epoch(epoch));
  }
  if (step_ms_.empty()) {  // all was done before
    const uint64_t done = (at_.step - 1) % per_epoch_ + 1;
    train_loss_ = at_.loss_sum / static_cast<double>(done), train_accuracy_ = Accuracy();
    GE_RETURN_IF_ERROR(Test());
  }
  return End();
}

Status CheckOptions(const TrainOptions& o, const Data& data) {
  const auto bad = [](std::string text) { return Status(Code::kInvalidArgument, std::move(text)); };
  if (o.batch < 1 || o.epochs < 1) {
    return bad(fmt::format("--batch is {} and --epochs {}, wanted 1 or more", o.batch, o.epochs));
  }
  if (data.train.x.count < o.batch) {
    return bad(fmt::format("--batch is {}, more than the {} samples of '{}'", o.batch,
                           data.train.x.count, o.data));
  }
  if (data.train.x.count > INT32_MAX) {
    return bad(
        fmt::format("'{}' has {} samples, wanted less than 2^31", o.data, data.train.x.count));
  }
  if (o.resume && o.checkpoint.empty()) return bad("--resume wants --checkpoint DIR to go on from");
  return {};
}

// The options of the pass.
std::string PassOptions(const TrainOptions& o, uint64_t samples) {
  std::string text = fmt::format(
      "loss={};optimizer={};schedule={};lr={};momentum={};weight-decay={};clip={};ema={};"
      "warmup={};accumulate={};seed={}",
      o.loss, o.optimizer, o.schedule, o.lr, o.momentum, o.weight_decay, o.clip, o.ema, o.warmup,
      o.accumulate, o.common.seed);
  if (o.schedule != "constant" && o.schedule != "step") {  // these end with the run, by updates
    uint64_t steps = samples / o.batch * o.epochs;
    if (o.max_steps > 0) steps = std::min(steps, o.max_steps);
    text += fmt::format(";steps={}", steps / std::max(1u, o.accumulate));
  }
  std::string freeze;
  for (const std::string& pattern : o.freeze) freeze += (freeze.empty() ? "" : "+") + pattern;
  if (!freeze.empty()) text += ";freeze=" + freeze;
  if (!o.common.entry.empty()) text += ";entry=" + o.common.entry;
  for (const std::string& item : o.set) text += ";" + item;
  return text;
}

// How many channels the net's pictures have: 3 where it says so, else 1.
int64_t ChannelsOf(const TrainedNet& net) {
  return net.x().rank == 4 && net.x().dims[1] == 3 ? 3 : 1;
}

Status TrainModel(const TrainOptions& o) {
  // The net's own input says how pictures are read, and the samples how long a schedule is.
  int64_t channels = 1;
  if (o.data != "fashion-mnist" && !o.data.ends_with(".npz")) {
    GE_ASSIGN_OR_RETURN(const TrainedNet net, TrainedNet::Open(o.common, "loss=" + o.loss));
    channels = ChannelsOf(net);
  }
  GE_ASSIGN_OR_RETURN(Data data, ReadData(o.data, channels));
  GE_RETURN_IF_ERROR(CheckOptions(o, data));
  if (o.no_test) data.test = {};
  const auto samples = static_cast<uint64_t>(data.train.x.count);
  const std::string pass = PassOptions(o, samples);
  GE_ASSIGN_OR_RETURN(TrainedNet net, TrainedNet::Open(o.common, pass));
  GE_ASSIGN_OR_RETURN(Journal journal, Journal::Open(o));
  return Trainer(o, pass, std::move(data), std::move(net), std::move(journal)).Run();
}

}  // namespace

int Train(const TrainOptions& o) {
  const Status status = TrainModel(o);
  return status.ok() ? 0 : Fail(status);
}

}  // namespace ge::tool
