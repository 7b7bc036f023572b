#include "tools/ge/train/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "ge/base/clock.h"
#include "ge/base/sha256.h"
#include "tools/ge/train/digest.h"

namespace ge::tool {
Trainer::Trainer(const TrainOptions& options, std::string pass, std::unique_ptr<TrainData> data,
                 TrainedNet net, TrainTargets to)
    : o_(options),
      pass_(std::move(pass)),
      data_(std::move(data)),
      net_(std::move(net)),
      to_(std::move(to)) {}

Trainer::~Trainer() = default;

Status Trainer::Begin() {
  GE_RETURN_IF_ERROR(net_.Prepare(o_.ranks.RowsOf(o_.batch).size, o_.batch));
  if (to_.checkpoint || o_.ranks.many()) TakeFacts();
  if (to_.checkpoint) {
    GE_ASSIGN_OR_RETURN(run_.model, Sha256OfFile(o_.common.model));
  }
  if (o_.ranks.many()) GE_RETURN_IF_ERROR(CompareRanks());
  // What cannot be tested is said before the work begins.
  const uint64_t tested = std::min<uint64_t>(o_.batch, data_->test_rows());
  if (tested > 0) GE_RETURN_IF_ERROR(net_.Evaluate(static_cast<int64_t>(tested)).status());
  GE_ASSIGN_OR_RETURN(const std::vector<std::string> not_finite, net_.StatesNotFinite());
  not_finite_.insert(not_finite.begin(), not_finite.end());
  GE_RETURN_IF_ERROR(Resume());
  GE_RETURN_IF_ERROR(data_->Begin(at_.step * o_.batch));
  return to_.journal.Begin(at_.step);
}

void Trainer::TakeFacts() {
  run_.pipe = o_.data;
  run_.data = data_->digest();
  run_.pass = pass_;
  run_.samples = data_->rows();
  run_.batch = o_.batch;
  run_.seed = o_.common.seed;
  run_.shuffle = !o_.keep_order;
  run_.layout = o_.layout;
}

// Ranks with different options or data would learn together what nobody asked for.
Status Trainer::CompareRanks() {
  uint64_t bytes = 0;
  GE_ASSIGN_OR_RETURN(const std::string model, DigestOfFile(o_.common.model, &bytes));
  const RankFacts facts = {{"the model", model},  // by its digest, wherever the file lies
                           {"--data", run_.pipe},
                           {"the data", run_.data},
                           {"--batch", std::to_string(run_.batch)},
                           {"--seed", std::to_string(run_.seed)},
                           {"--no-shuffle", run_.shuffle ? "false" : "true"},
                           {"--layout", run_.layout},
                           {"--lr", fmt::format("{}", o_.lr)},
                           {"the options of the pass train", run_.pass}};
  std::vector<double> least;
  GE_ASSIGN_OR_RETURN(const std::vector<double> sum, net_.SumOfRanks(NumbersOf(facts), &least));
  return WantSame(facts, sum, least, o_.ranks);
}

Status Trainer::Resume() {
  if (!to_.checkpoint || !o_.resume) return {};
  GE_ASSIGN_OR_RETURN(const std::optional<Progress> at, to_.checkpoint->Restore(run_, &net_));
  if (at) {
    at_ = *at;
    began_at_ = saved_at_ = at_.step;
  }
  if (!o_.ranks.first()) return {};
  if (at) {
    fmt::print(stderr, "note: goes on at step {}\n", at_.step);
  } else {
    fmt::print(stderr, "note: '{}' holds no checkpoint; begins at step 0\n", o_.checkpoint);
  }
  return {};
}

Status Trainer::Diverged(const std::string& what) {
  diverged_ = true;
  return Status(
      Code::kInvalidArgument,
      fmt::format("{}; {}; look for NaN among the data, or try a lower --lr, --clip or --warmup; "
                  "--allow-nan goes on all the same",
                  what,
                  to_.checkpoint
                      ? to_.checkpoint->Latest()
                      : "there is no checkpoint, which --checkpoint DIR would have kept"));
}

Status Trainer::CheckLoss(double loss, const std::string& what) {
  if (o_.allow_nan || std::isfinite(loss)) return {};
  return Diverged(fmt::format("{} is {}", what, loss));
}

// Before states are kept or given away: a loss shows what they were one step ago.
Status Trainer::CheckStates() {
  if (o_.allow_nan || checked_at_ == at_.step) return {};
  GE_ASSIGN_OR_RETURN(const std::vector<std::string> names, net_.StatesNotFinite());
  for (const std::string& name : names) {
    if (not_finite_.count(name) != 0) continue;
    return Diverged(fmt::format("after step {} the state '{}' holds numbers that are not finite",
                                at_.step, name));
  }
  checked_at_ = at_.step;
  return {};
}

RunProgress Trainer::Now(uint64_t epoch) const {
  double ms = 0;
  const size_t n = std::min<size_t>(step_ms_.size(), 50);
  for (size_t i = step_ms_.size() - n; i < step_ms_.size(); ++i) ms += step_ms_[i];
  return {at_.step, steps_, epoch + 1, (steps_ + per_epoch_ - 1) / per_epoch_,
          ms > 0 ? static_cast<double>(n) * 1e3 / ms : 0};
}

Status Trainer::Step(uint64_t epoch) {
  const double begin = NowMs();
  GE_ASSIGN_OR_RETURN(const auto batch, data_->Next());
  GE_RETURN_IF_ERROR(net_.Fill(data_->columns(), *batch));
  GE_ASSIGN_OR_RETURN(const Metrics m, net_.Step());
  step_ms_.push_back(NowMs() - begin);
  ++at_.step;
  at_.loss_sum += m.loss;
  at_.correct += m.correct;
  GE_RETURN_IF_ERROR(to_.journal.Step(Now(epoch), m, o_.batch));
  return CheckLoss(m.loss, fmt::format("the loss of step {}", at_.step));
}

Status Trainer::Test() {
  if (data_->test_rows() == 0 || tested_at_ == at_.step) return {};
  const auto n = static_cast<double>(data_->test_rows());
  double loss = 0, correct = 0;
  GE_ASSIGN_OR_RETURN(const auto batches, data_->TestBatches());
  for (;;) {
    GE_ASSIGN_OR_RETURN(const auto batch, batches->Next());
    if (!batch) break;
    GE_RETURN_IF_ERROR(net_.Fill(data_->test_columns(), *batch));
    GE_ASSIGN_OR_RETURN(const Metrics m, net_.Evaluate(static_cast<int64_t>(batch->rows)));
    loss += m.loss * static_cast<double>(batch->rows);
    correct += m.correct;
  }
  tested_at_ = at_.step;
  test_loss_ = loss / n;
  if (net_.classifies()) test_accuracy_ = correct / (n * net_.LabelsASample());
  GE_RETURN_IF_ERROR(to_.journal.Tested(Now(at_.step / per_epoch_), *test_loss_, test_accuracy_));
  return CheckLoss(*test_loss_, fmt::format("the test loss after step {}", at_.step));
}

Status Trainer::Save() {
  if (!to_.checkpoint || saved_at_ == at_.step) return {};
  GE_RETURN_IF_ERROR(CheckStates());
  saved_at_ = at_.step;
  return to_.checkpoint->Save(run_, at_, &net_);
}

std::optional<double> Trainer::Accuracy() const {
  const uint64_t done = (at_.step - 1) % per_epoch_ + 1;
  const double labels = static_cast<double>(done) * o_.batch * net_.LabelsASample();
  return net_.classifies() ? std::optional(at_.correct / labels) : std::nullopt;
}

// From where the run is to the epoch's end, or to the last step.
Status Trainer::Epoch(uint64_t epoch) {
  const uint64_t end = std::min(steps_, (epoch + 1) * per_epoch_);
  if (at_.step % per_epoch_ == 0) at_.loss_sum = at_.correct = 0;
  while (at_.step < end) {
    GE_RETURN_IF_ERROR(Step(epoch));
    if (o_.checkpoint_every > 0 && at_.step % o_.checkpoint_every == 0) GE_RETURN_IF_ERROR(Save());
    if (o_.eval_every > 0 && at_.step % o_.eval_every == 0) GE_RETURN_IF_ERROR(Test());
  }
  train_loss_ = at_.loss_sum / static_cast<double>((at_.step - 1) % per_epoch_ + 1);
  train_accuracy_ = Accuracy();
  GE_RETURN_IF_ERROR(Save());  // whatever the test says, the epoch's work stays
  GE_RETURN_IF_ERROR(Test());
  std::vector<Tensor> states;
  if (o_.histograms && WantsStates()) {
    GE_ASSIGN_OR_RETURN(states, net_.States());
  }
  return to_.journal.Epoch(Now(epoch), train_loss_, train_accuracy_, states);
}

// States that lie in shares become whole by the work of all ranks.
bool Trainer::WantsStates() const { return o_.ranks.first() || net_.in_shares(); }

Status Trainer::End() {
  const auto optional = [](std::optional<double> v) {
    return v ? nlohmann::json(*v) : nlohmann::json();
  };
  // The first steps make plans and warm caches.
  std::vector<double> ms = step_ms_;
  const double total = std::accumulate(ms.begin(), ms.end(), 0.0);
  std::sort(ms.begin(), ms.end());
  GE_RETURN_IF_ERROR(CheckStates());
  if (o_.exports && WantsStates()) {
    GE_ASSIGN_OR_RETURN(const std::vector<Tensor> states, net_.States());
    if (to_.trained) GE_RETURN_IF_ERROR(to_.trained->Write(states));
  }
  return to_.journal.Finish({{"train_loss", train_loss_},
                             {"train_accuracy", optional(train_accuracy_)},
                             {"test_loss", optional(test_loss_)},
                             {"test_accuracy", optional(test_accuracy_)},
                             {"steps_per_s", total > 0 ? ms.size() * 1e3 / total : 0},
                             {"data_wait", total > 0 ? data_->waited_ms() / total : 0},
                             {"step_ms_median", ms.empty() ? 0 : ms[ms.size() / 2]},
                             {"steps", at_.step},
                             {"resumed_at", began_at_}},
                            o_.common.json);
}

Status Trainer::Run() {
  per_epoch_ = data_->rows() / o_.batch;
  steps_ = per_epoch_ * o_.epochs;
  if (o_.max_steps > 0) steps_ = std::min(steps_, o_.max_steps);
  GE_RETURN_IF_ERROR(Begin());
  for (uint64_t epoch = at_.step / per_epoch_; at_.step < steps_; ++epoch) {
    GE_RETURN_IF_ERROR(Epoch(epoch));
  }
  if (step_ms_.empty()) {  // all was done before
    const uint64_t done = (at_.step - 1) % per_epoch_ + 1;
    train_loss_ = at_.loss_sum / static_cast<double>(done);
    train_accuracy_ = Accuracy();
    GE_RETURN_IF_ERROR(Test());
  }
  return End();
}

}  // namespace ge::tool
