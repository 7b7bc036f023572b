// TrainedNet: a session of ge.h and the buffers of a batch. The pass `train` has given its model
// the entries train_step and eval; on many ranks `parallel` has made of them those of this rank.
// One thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ge/base/aligned.h"
#include "ge/base/status.h"
#include "ge/ge.h"
#include "ge/ir/dtype.h"
#include "tools/ge/command.h"
#include "tools/ge/samples/net_columns.h"
#include "tools/ge/train/boxes.h"

namespace ge::tool {

struct Metrics {
  double loss = 0;
  double correct = 0;  // of how many labels the net's greatest class is the right one
  double rate = 0;     // of learning
};

class TrainedNet {
 public:
  // `pass`: the options of the pass, "loss=mse;lr=0.1". Engines and limits are those of `o`.
  static Result<TrainedNet> Open(const Options& o, const std::string& pass);

  // Checks that the inputs take batches of this many samples along their first axis.
  Status CheckShapes(int64_t batch) const;
  // What the data have to give; call it after CheckShapes.
  NetInputs Inputs() const;
  // Labels of one sample; 1 if labels have no axes, and without labels.
  double LabelsASample() const;
  bool classifies() const { return classifies_; }

  // Plans steps of this many samples; the buffers have room for `room`.
  Status Prepare(int64_t batch, int64_t room);
  // Copies the rows of a batch into the buffers.
  Status Fill(const NetColumns& columns, const Batch& batch);
  Result<Metrics> Step();
  // Evaluates the first n samples of the buffers.
  Result<Metrics> Evaluate(int64_t n);

  Status SaveStates(const std::string& path);
  Status RestoreStates(const std::string& path);
  // All states, whole, but for slots of an optimizer that lie in shares: where ranks have shares of
  // states, all ranks call it at once.
  Result<std::vector<Tensor>> States();
  // What this process has of them, and how it lies in the whole.
  Result<std::vector<Tensor>> LocalStates();
  const StateBoxes& boxes() const { return boxes_; }
  bool in_shares() const;  // so that tests and `States` want all ranks
  Status SetState(const Tensor& state);

  // The sums of what the ranks say, each as many numbers, at once, and the least of each; alone
  // what it says itself.
  Result<std::vector<double>> SumOfRanks(const std::vector<double>& mine,
                                         std::vector<double>* least = nullptr);
  // Names of states with a NaN or an infinity.
  Result<std::vector<std::string>> StatesNotFinite();
  // The number of steps in the states.
  Result<int64_t> StepOfStates();

 private:
  // An input of the step with a batch's buffer.
  struct Input {
    ge_tensor_info info{};
    AlignedBytes memory{nullptr};
  };

  Status Inspect();
  Status FindBoxes();
  Result<std::vector<Tensor>> Gathered();
  // Calls with each state's name, value and the copy's memory.
  template <typename Call>
  Status EachState(Call call);

  std::unique_ptr<ge_session, void (*)(ge_session*)> session_{nullptr, ge_session_destroy};
  std::unique_ptr<ge_prepared, void (*)(ge_prepared*)> step_{nullptr, ge_prepared_destroy};
  std::vector<Input> inputs_;  // the net's, and then the labels if there are some
  bool has_labels_ = false;
  std::vector<std::string> step_outputs_, eval_outputs_;
  bool classifies_ = false;
  int64_t classes_ = -1;
  std::vector<double> numbers_;  // room of the step's outputs, each one number
  StateBoxes boxes_;
  bool many_ = false;  // there are other ranks
};

}  // namespace ge::tool
