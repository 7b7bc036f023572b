// TrainedNet: a session of ge.h whose model the pass `train` has given the entries train_step and
// eval, with the buffers of a batch. One thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ge/base/aligned.h"
#include "ge/base/status.h"
#include "ge/ge.h"
#include "ge/ir/dtype.h"
#include "tools/ge/command.h"

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

  // What a batch is: the net's input, and the labels, of no name where there are none.
  const ge_tensor_info& x() const { return x_; }
  const ge_tensor_info& y() const { return y_; }
  bool has_labels() const { return y_.name != nullptr; }
  bool classifies() const { return classifies_; }
  int64_t classes() const { return classes_; }  // -1 = not known

  // Makes the buffers of batches of this many samples, and plans for them.
  Status Prepare(int64_t batch);
  void* x_data() const { return x_memory_.get(); }
  void* y_data() const { return y_memory_.get(); }
  Result<Metrics> Step();
  // Of the first n samples of the buffers.
  Result<Metrics> Evaluate(int64_t n);

  Status SaveStates(const std::string& path);
  Status RestoreStates(const std::string& path);
  // States of a kind that a file of the net has constants for: each by name.
  Result<std::vector<Tensor>> States();
  Result<std::string> Report();

 private:
  Status Inspect();
  ge_tensor Batch(const ge_tensor_info& info, int64_t n, void* data) const;

  std::unique_ptr<ge_session, void (*)(ge_session*)> session_{nullptr, ge_session_destroy};
  std::unique_ptr<ge_prepared, void (*)(ge_prepared*)> step_{nullptr, ge_prepared_destroy};
  ge_tensor_info x_{}, y_{};
  std::vector<std::string> step_outputs_, eval_outputs_;
  bool classifies_ = false;
  int64_t classes_ = -1;
  AlignedBytes x_memory_{nullptr}, y_memory_{nullptr};
  std::vector<double> numbers_;  // room of train_step's outputs, each one number
};

}  // namespace ge::tool
