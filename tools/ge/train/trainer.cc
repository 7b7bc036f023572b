#include "tools/ge/train/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ge/base/clock.h"
#include "ge/base/sha256.h"
#include "tools/ge/train/digest.h"
#include "tools/ge/train/order.h"

namespace ge::tool {
namespace {

// Of what is trained on: which order it comes in, the seed says.
std::string DigestOf(const Samples& s) {
  Digest digest;
  const auto add = [&](const Rows& rows) {
    digest.Add(fmt::format("{} {} {};", DTypeName(rows.dtype), rows.count, DimsText(rows.dims)));
    digest.Add(rows.bytes);
  };
  for (const Rows& rows : s.x) add(rows);
  add(s.y);
  return digest.Hex();
}

}  // namespace

Trainer::Trainer(const TrainOptions& o, std::string pass, Data data, TrainedNet net,
                 Journal journal, std::unique_ptr<Checkpoint> checkpoint)
    : o_(o),
      pass_(std::move(pass)),
      data_(std::move(data)),
      net_(std::move(net)),
      journal_(std::move(journal)),
      checkpoint_(std::move(checkpoint)) {}

Trainer::~Trainer() = default;

Status Trainer::Begin() {
  GE_RETURN_IF_ERROR(net_.Prepare(o_.batch));
  GE_ASSIGN_OR_RETURN(const std::vector<std::string> not_finite, net_.StatesNotFinite());
  not_finite_.insert(not_finite.begin(), not_finite.end());
  if (!checkpoint_) return journal_.Begin(0);
  GE_ASSIGN_OR_RETURN(run_.model, Sha256OfFile(o_.common.model));
  run_.data = DigestOf(data_.train), run_.pass = pass_;
  run_.samples = static_cast<uint64_t>(data_.train.count());
  run_.batch = o_.batch, run_.seed = o_.common.seed, run_.shuffle = !o_.keep_order;
  if (!o_.resume) return journal_.Begin(0);
  GE_ASSIGN_OR_RETURN(const std::optional<Progress> at, checkpoint_->Restore(run_, &net_));
  if (at) {
    at_ = *at, began_at_ = saved_at_ = at_.step;
    fmt::print(stderr, "note: goes on at step {}\n", at_.step);
  } else {
    fmt::print(stderr, "note: '{}' holds no checkpoint; begins at step 0\n", o_.checkpoint);
  }
  return journal_.Begin(at_.step);
}

Status Trainer::Diverged(const std::string& what) {
  diverged_ = true;
  return Status(
      Code::kInvalidArgument,
      fmt::format("{}; {}; look for NaN among the data, or try a lower --lr, --clip or --warmup; "
                  "--allow-nan goes on all the same",
                  what,
                  checkpoint_ ? checkpoint_->Latest()
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

Place Trainer::Now(uint64_t epoch) const {
  double ms = 0;
  const size_t n = std::min<size_t>(step_ms_.size(), 50);
  for (size_t i = step_ms_.size() - n; i < step_ms_.size(); ++i) ms += step_ms_[i];
  return {at_.step, steps_, epoch + 1, (steps_ + per_epoch_ - 1) / per_epoch_,
          ms > 0 ? static_cast<double>(n) * 1e3 / ms : 0};
}

Status Trainer::Step(uint64_t epoch, std::span<const uint32_t> order) {
  const double begin = NowMs();
  net_.Fill(data_.train, order);
  GE_ASSIGN_OR_RETURN(const Metrics m, net_.Step());
  step_ms_.push_back(NowMs() - begin);
  ++at_.step, at_.loss_sum += m.loss, at_.correct += m.correct;
  GE_RETURN_IF_ERROR(journal_.Step(Now(epoch), m, o_.batch));
  return CheckLoss(m.loss, fmt::format("the loss of step {}", at_.step));
}

Status Trainer::Test() {
  const auto n = static_cast<uint32_t>(data_.test.count());
  if (n == 0 || tested_at_ == at_.step) return {};
  double loss = 0, correct = 0;
  for (uint32_t from = 0; from < n; from += o_.batch) {
    std::vector<uint32_t> rows(std::min(o_.batch, n - from));
    std::iota(rows.begin(), rows.end(), from);
    net_.Fill(data_.test, rows);
    GE_ASSIGN_OR_RETURN(const Metrics m, net_.Evaluate(static_cast<int64_t>(rows.size())));
    loss += m.loss * static_cast<double>(rows.size()), correct += m.correct;
  }
  tested_at_ = at_.step, test_loss_ = loss / n;
  if (net_.classifies()) test_accuracy_ = correct / (n * Labels());
  GE_RETURN_IF_ERROR(journal_.Tested(Now(at_.step / per_epoch_), *test_loss_, test_accuracy_));
  return CheckLoss(*test_loss_, fmt::format("the test loss after step {}", at_.step));
}

Status Trainer::Save() {
  if (!checkpoint_ || saved_at_ == at_.step) return {};
  GE_RETURN_IF_ERROR(CheckStates());
  saved_at_ = at_.step;
  return checkpoint_->Save(run_, at_, &net_);
}

std::optional<double> Trainer::Accuracy() const {
  const uint64_t done = (at_.step - 1) % per_epoch_ + 1;
  const double labels = static_cast<double>(done) * o_.batch * Labels();
  return net_.classifies() ? std::optional(at_.correct / labels) : std::nullopt;
}

// From where the run is to the epoch's end, or to the last step.
Status Trainer::Epoch(uint64_t epoch) {
  const auto count = static_cast<uint32_t>(data_.train.count());
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
  GE_RETURN_IF_ERROR(CheckStates());
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
  per_epoch_ = static_cast<uint64_t>(data_.train.count()) / o_.batch;
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

}  // namespace ge::tool
