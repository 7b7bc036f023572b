// TrainedNet: a session of ge.h whose model the pass `train` has given the entries train_step and
// eval, with the buffers of a batch. One thread.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ge/base/aligned.h"
#include "ge/base/status.h"
#include "ge/ge.h"
#include "ge/ir/dtype.h"
#include "tools/ge/command.h"
#include "tools/ge/samples/samples.h"

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

  // That batches of this many samples can be given, along the first axis of each input.
  Status CheckShapes(int64_t batch) const;
  // What data are to be, after CheckShapes: inputs, labels and classes of the request.
  void Request(DataRequest* request) const;
  bool classifies() const { return classifies_; }

  // Makes the buffers of batches of this many samples, and plans for them.
  Status Prepare(int64_t batch);
  // Copies the samples that `order` names into the buffers.
  void Fill(const Samples& samples, std::span<const uint32_t> order);
  Result<Metrics> Step();
  // Of the first n samples of the buffers.
  Result<Metrics> Evaluate(int64_t n);

  Status SaveStates(const std::string& path);
  Status RestoreStates(const std::string& path);
  // States of a kind that a file of the net has constants for: each by name.
  Result<std::vector<Tensor>> States();
  // Names of states that hold a NaN or an infinity.
  Result<std::vector<std::string>> StatesNotFinite();
  // How many steps the states have gone.
  Result<int64_t> StepOfStates();

 private:
  // An input of train_step, and the buffer of a batch of it.
  struct Input {
    ge_tensor_info info{};
    AlignedBytes memory{nullptr};
  };

  Status Inspect();
  // Calls with each state's name, value and the memory of that copy.
  template <typename Call>
  Status EachState(Call call);

  std::unique_ptr<ge_session, void (*)(ge_session*)> session_{nullptr, ge_session_destroy};
  std::unique_ptr<ge_prepared, void (*)(ge_prepared*)> step_{nullptr, ge_prepared_destroy};
  std::vector<Input> inputs_;  // the net's, and then the labels if there are some
  bool has_labels_ = false;
  std::vector<std::string> step_outputs_, eval_outputs_;
  bool classifies_ = false;
  int64_t classes_ = -1;
  std::vector<double> numbers_;  // room of train_step's outputs, each one number
};

}  // namespace ge::tool
