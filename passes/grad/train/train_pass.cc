// The pass `train`: of a net that was exported for inference an entry that takes one step of
// training, one that answers the loss alone, and, where they are asked for, one that takes a step
// by gradients from outside, and one that begins anew. All read and write states, which begin with
// the net's own weights.
#include <map>
#include <optional>

#include "passes/grad/entry.h"
#include "passes/grad/grad_pass.h"
#include "passes/grad/kit.h"
#include "passes/grad/remat/rematerialise.h"
#include "passes/grad/train/loss.h"
#include "passes/grad/train/optimizer.h"
#include "passes/grad/train/precision.h"
#include "passes/grad/train/rows.h"
#include "passes/grad/train/schedule.h"
#include "passes/grad/train/training_mode.h"
#include "passes/grad/train/weights.h"

namespace ge::grad {
namespace {

class Training {
 public:
  explicit Training(const ge_edit* e) : e_(e), s_(ReadTrainSettings(e)) {
    context_.checkpoint = s_.checkpoint;
    context_.next_name = LastName(e, "grad.");
  }
  void Derive();

 private:
  struct Trained {
    const Weight* weight;
    Val p, g;
    std::optional<RowGradient> rows;  // what g is made of, where that is all
  };
  void MakeStep();
  void MakeUpdate();
  void MakeInit();
  void MakeEval();
  void TellDraws(const ge_graph* g) const;
  void Backward(const Loss& loss);
  void Count();
  void Accumulate();
  void Clip();
  void MoveAll();
  void Move(const Trained& t);
  // `v` where this step ends an update, else `old`.
  Val IfUpdated(Val v, Val old) { return updates_now_ ? Where(updates_now_, v, old) : v; }
  uint32_t Slot(const Weight& w, const std::string& name);
  uint32_t OutputIn(const ge_graph* g) const { return g->out[output_]; }
  void Finish(Fn& fn, const std::string& entry, uint32_t role,
              const std::vector<std::pair<std::string, Val>>& results);

  const ge_edit* e_;
  TrainSettings s_;
  Source source_;
  uint32_t output_ = 0;  // its place among the entry's
  std::vector<Weight> weights_;
  uint32_t step_state_ = 0;
  struct SlotState {
    uint32_t state = 0, of = 0;  // of: the weight's value, whose type it has
  };
  std::map<std::string, SlotState> slots_;  // states of the optimizer, by name

  // Of the entry train_step, then of update:
  std::unique_ptr<Fn> fn_;
  Context context_{e_};
  std::unique_ptr<Reverse> sweep_;
  std::vector<Val> reads_;  // by weight
  std::vector<Trained> trained_;
  std::optional<LossScale> scale_;
  Val step_;         // int64: steps so far
  Val done_;         // float64: updates so far
  Val updates_now_;  // whether this step ends one; absent = each does
  Val rate_, norm_;
};

void Training::Finish(Fn& fn, const std::string& entry, uint32_t role,
                      const std::vector<std::pair<std::string, Val>>& results) {
  std::vector<uint32_t> ids;
  std::vector<ge_str> names;
  for (const auto& [name, v] : results) {
    if (!v) continue;
    // A result of its own, whoever else reads the value under another name.
    ids.push_back(fn.Op("Identity", {v}).id);
    names.push_back(plugin::Str(name));
  }
  e_->results(e_->host, fn.id(), ids.data(), names.data(), static_cast<uint32_t>(ids.size()));
  e_->entry(e_->host, plugin::Str(entry), fn.id(), role);
}

void Training::Derive() {
  source_ = EntryOf(e_, s_.entry);
  const ge_graph* g = e_->graph(e_->host, source_.fn);
  if (g == nullptr) throw Refusal{GE_OUT_OF_MEMORY, "there is no memory for a copy of the entry"};
  const uint32_t output = OutputOf(g, s_.output);
  while (output_ < g->n_out && g->out[output_] != output) ++output_;
  weights_ = MakeWeights(e_, g, s_);
  ge_type step{};
  step.dtype = GE_I64;
  step.bits = 64;
  step_state_ = MakeState(e_, "train.step", step, GE_STATE_STEP, nullptr, 0);
  MakeStep();
  if (s_.update) MakeUpdate();
  if (s_.init) MakeInit();
  MakeEval();
}

uint32_t Training::Slot(const Weight& w, const std::string& name) {
  const ge_graph* g = e_->graph(e_->host, source_.fn);
  const ge_value& v = *GE_VALUE(g, w.found.first);
  SlotState& slot = slots_[w.name() + "." + name];
  if (slot.state != 0) return slot.state;
  slot.of = w.found.first;
  slot.state = MakeState(e_, w.name() + "." + name, v.type, GE_STATE_OPT, nullptr, 0);
  return slot.state;
}

void Training::MakeStep() {
  fn_ = std::make_unique<Fn>(e_, CopyOf(e_, source_, "train_step"));
  Fn& fn = *fn_;
  const ge_graph* g = fn.Picture();
  if (g == nullptr) throw Refusal{GE_OUT_OF_MEMORY, "there is no memory for a copy of the entry"};
  const uint32_t first = g->n_node > 0 ? GE_NODE(g, 0)->id : 0;
  step_ = ReadState(fn, step_state_, first);
  for (const Weight& w : weights_) reads_.push_back(ReadWeight(fn, g, w, w.state));
  NormalizeByBatch(fn, weights_, reads_);
  DropAtRandom(fn, s_.seed, step_);
  if (s_.precision != 0) ComputeInHalves(fn, s_.precision);
  const Loss loss = AddLoss(fn, s_.loss, OutputIn(fn.Picture()));
  if (s_.scale > 0) scale_.emplace(fn, s_);
  Backward(loss);
  Count();
  if (s_.clip > 0) Clip();
  rate_ = RateAt(s_, done_);
  MoveAll();
  AssignState(fn, step_state_, step_ + 1);
  std::vector<Val> kept = {rate_};
  for (const Val v : {loss.value, loss.correct, norm_}) {
    if (v) kept.push_back(v);
  }
  Rematerialise(fn, *sweep_, s_.remat, kept);
  Finish(fn, "train_step", GE_ROLE_TRAIN_STEP,
         {{"loss", loss.value},
          {"correct", loss.correct},
          {"learning_rate", fn.Cast(rate_, GE_F32)},
          {"gradient_norm", norm_}});
}

// The update alone, of gradients that come from outside: of several workers, or of another program.
void Training::MakeUpdate() {
  ge_function f{};
  f.h = GE_HDR(ge_function, GE_TAG_FUNCTION);
  f.name = ge_text("update");
  uint32_t id = 0;
  e_->function(e_->host, &f, &id);
  sweep_.reset();
  fn_ = std::make_unique<Fn>(e_, id);
  for (Trained& t : trained_) {
    t.p = ReadState(*fn_, t.weight->state, 0);
    t.rows.reset();
    t.g = fn_->Param("grad." + t.weight->name(), fn_->TypeOf(t.p));
  }
  step_ = ReadState(*fn_, step_state_, 0);
  done_ = fn_->Cast(step_, GE_F64);
  norm_ = {};
  if (s_.clip > 0) Clip();
  rate_ = RateAt(s_, done_);
  MoveAll();
  AssignState(*fn_, step_state_, step_ + 1);
  Finish(*fn_, "update", GE_ROLE_TRAIN_STEP,
         {{"learning_rate", fn_->Cast(rate_, GE_F32)}, {"gradient_norm", norm_}});
}

// Every state with what it began with. The model's own constants are where weights began.
void Training::MakeInit() {
  ge_function f{};
  f.h = GE_HDR(ge_function, GE_TAG_FUNCTION);
  f.name = ge_text("init");
  uint32_t id = 0;
  e_->function(e_->host, &f, &id);
  Fn fn(e_, id);
  const auto begun = [&](uint32_t value) { return e_->value(e_->host, source_.fn, value); };
  for (const Weight& w : weights_) {
    const ge_value& v = *begun(w.found.first);
    const Val first = fn.Constant(v.type, v.data, v.data_bytes);
    AssignState(fn, w.state, first);
    if (w.average != 0) AssignState(fn, w.average, first);
  }
  for (const auto& [name, slot] : slots_) {
    const ge_type& t = begun(slot.of)->type;
    const Val zero = fn.Scalar(t.dtype, 0);
    AssignState(fn, slot.state, fn.Op("Expand", {zero, fn.Ints({t.dims, t.dims + t.rank})}));
  }
  if (scale_) scale_->BeginAnew(fn);
  const Val none = fn.Scalar(GE_I64, 0);
  AssignState(fn, step_state_, none);
  Finish(fn, "init", GE_ROLE_INIT, {{"step", none}});
}

// What the steps before made of updates, and whether this one makes one.
void Training::Count() {
  done_ = fn_->Cast(step_, GE_F64);
  if (s_.accumulate > 1) {
    const Val each = fn_->Scalar(GE_I64, static_cast<double>(s_.accumulate));
    updates_now_ = Compare("Equal", fn_->Op("Mod", {step_ + 1, each}), 0);
    done_ = fn_->Cast(fn_->Op("Div", {step_, each}), GE_F64);
    Accumulate();
  }
  if (!scale_) return;
  std::vector<Val> gradients;
  for (const Trained& t : trained_) gradients.push_back(t.g);
  done_ = scale_->updates();
  updates_now_ = scale_->Moves(gradients, updates_now_);
}

void Training::Backward(const Loss& loss) {
  sweep_ = std::make_unique<Reverse>(*fn_, context_);
  Reverse& sweep = *sweep_;
  for (size_t i = 0; i < weights_.size(); ++i) {
    if (weights_[i].trained()) sweep.Want(reads_[i], weights_[i].name());
  }
  sweep.Seed(loss.of, scale_ ? scale_->Scaled(loss.change) : loss.change);
  if (!sweep.Run()) RefuseProblems(context_);
  for (size_t i = 0; i < weights_.size(); ++i) {
    if (!weights_[i].trained()) continue;
    const Val g = sweep.Gradient(reads_[i]);
    if (!g) continue;
    trained_.push_back({&weights_[i], reads_[i], scale_ ? scale_->Unscaled(g) : g, {}});
  }
  if (MovesByRows(s_)) {
    const ge_graph* g = fn_->Picture();
    for (Trained& t : trained_) t.rows = RowsOf(*fn_, g, t.g);
  }
  if (!trained_.empty()) return;
  throw Refusal{GE_INVALID_ARGUMENT,
                "no weight changes the loss: what is behind all of them has no gradient"};
}

// The mean over the steps of an update.
void Training::Accumulate() {
  for (Trained& t : trained_) {
    const uint32_t state = Slot(*t.weight, "sum");
    const Val sum = ReadState(*fn_, state, 0) + t.g / static_cast<double>(s_.accumulate);
    AssignState(*fn_, state, Where(updates_now_, fn_->Scalar(fn_->TypeOf(sum).dtype, 0), sum));
    t.g = sum;
  }
}

// As torch's clip_grad_norm_: by the norm of all gradients together.
void Training::Clip() {
  std::vector<Val> squares;
  int32_t widest = GE_F32;
  for (const Trained& t : trained_) widest = fn_->TypeOf(t.g).dtype == GE_F64 ? GE_F64 : widest;
  for (const Trained& t : trained_) {
    const Val square = fn_->Op("ReduceSumSquare", {t.g}, Attrs().Int("keepdims", 0));
    squares.push_back(fn_->Cast(square, widest));
  }
  norm_ = Sqrt(fn_->Sum(squares));
  const Val one = fn_->Scalar(widest, 1);
  const Val by = fn_->Op("Min", {s_.clip / (norm_ + 1e-6), one});
  for (Trained& t : trained_) t.g = t.g * fn_->Cast(by, fn_->TypeOf(t.g).dtype);
}

void Training::MoveAll() {
  std::map<int32_t, Val> rates;
  for (const Trained& t : trained_) {
    Val& rate = rates[fn_->TypeOf(t.p).dtype];
    if (!rate) rate = fn_->Cast(rate_, fn_->TypeOf(t.p).dtype);
  }
  const Val given = rate_;
  for (const Trained& t : trained_) {
    rate_ = rates[fn_->TypeOf(t.p).dtype];
    Move(t);
  }
  rate_ = given;
}

void Training::Move(const Trained& t) {
  std::map<std::string, std::pair<uint32_t, Val>> slots;  // state, what it holds
  Update u{s_, t.p, t.g, rate_, done_ + 1, updates_now_, t.rows, nullptr, nullptr};
  u.old = [&](const char* slot) {
    auto& [state, held] = slots[slot];
    if (state == 0) {
      state = Slot(*t.weight, slot);
      held = ReadState(*fn_, state, 0);
    }
    return held;
  };
  u.keep = [&](const char* slot, Val v) { AssignState(*fn_, slots[slot].first, v); };
  const Val next = Apply(u);
  AssignState(*fn_, t.weight->state, next);
  if (t.weight->average == 0) return;
  const Val mean = ReadState(*fn_, t.weight->average, 0);
  AssignState(*fn_, t.weight->average, IfUpdated(mean * s_.ema + next * (1 - s_.ema), mean));
}

// Random numbers that are no Dropout's are drawn in inference, too.
void Training::TellDraws(const ge_graph* g) const {
  constexpr uint32_t kWarning = 1;  // level of ge_host_api.log
  for (uint32_t i = 0; i < g->n_node; ++i) {
    const std::string who = DrawsAnew(e_, *GE_NODE(g, i));
    if (who.empty()) continue;
    const std::string text =
        "train: " + who +
        " draws random numbers in eval and in what is exported, too; where it is a Dropout2d or "
        "the "
        "like of PyTorch's, which its exporter writes so in training mode, export in eval mode";
    return e_->api->log(e_->api->host, kWarning, plugin::Str(text));
  }
}

void Training::MakeEval() {
  Fn fn(e_, CopyOf(e_, source_, "eval"));
  const ge_graph* g = fn.Picture();
  if (g == nullptr) throw Refusal{GE_OUT_OF_MEMORY, "there is no memory for a copy of the entry"};
  std::vector<std::string> names;
  for (uint32_t i = 0; i < g->n_out; ++i) names.push_back(NameOf(g, g->out[i]));
  for (const Weight& w : weights_) ReadWeight(fn, g, w, w.average ? w.average : w.state);
  ForInference(fn);
  g = fn.Picture();
  TellDraws(g);
  std::vector<std::pair<std::string, Val>> results;
  for (uint32_t i = 0; i < g->n_out; ++i) results.emplace_back(names[i], fn.At(g->out[i]));
  if (s_.loss != "none") {
    const Loss loss = AddLoss(fn, s_.loss, OutputIn(g));
    results.emplace_back("loss", loss.value);
    results.emplace_back("correct", loss.correct);
  }
  Finish(fn, "eval", GE_ROLE_EVAL, results);
}

// The graph as it was loaded: what is folded for inference is gone for training.
const ge_str kAheadOf[] = {ge_text("fold-constants"), ge_text("drop-dropout"),
                           ge_text("drop-dead")};

}  // namespace

ge_pass_def TrainPass() {
  ge_pass_def pass{};
  pass.h = GE_HDR(ge_pass_def, GE_TAG_PASS_DEF);
  pass.name = ge_text("train");
  pass.summary = ge_text("adds entries train_step and eval: weights as states, loss, optimizer");
  pass.kind = GE_PASS_DERIVE;
  pass.phases = GE_PHASE_LOAD | GE_PHASE_ASKED;
  pass.before = kAheadOf;
  pass.n_before = 3;
  pass.option = TrainOptions(&pass.n_option);
  pass.run = [](const ge_edit* e, ge_err* err) {
    return Guard(
        err, [](const ge_edit* edit) { Training(edit).Derive(); }, e);
  };
  return pass;
}

}  // namespace ge::grad
