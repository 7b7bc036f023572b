// PieceRecorder: the pieces of a run and their executions as members of a capsule. One run; one
// thread.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <vector>

#include "ge/base/status.h"
#include "ge/capsule/graph_members.h"
#include "ge/capsule/pieces.h"
#include "ge/capsule/store/capsule_writer.h"
#include "ge/compile/compiled/compiled.h"
#include "ge/run/tensor_view.h"
#include "ge/session/value_members.h"

namespace ge {

class PieceRecorder {
 public:
  // `values`: whether executions have their inputs and outputs.
  PieceRecorder(CapsuleWriter* writer, GraphMembers* graphs, ValueMembers* tensors, bool values)
      : writer_(*writer), graphs_(*graphs), tensors_(*tensors), values_(values) {}
  // The piece, where it is new, and what it reads; before it runs.
  Status Begin(const std::shared_ptr<Compiled>& piece, std::span<const TensorView> inputs);
  // What the execution begun last has made.
  Status End(std::span<const TensorView> outputs);
  size_t executions() const { return executions_; }

 private:
  Result<uint32_t> NumberOf(const std::shared_ptr<Compiled>& piece);

  CapsuleWriter& writer_;
  GraphMembers& graphs_;
  ValueMembers& tensors_;
  const bool values_;
  std::map<std::shared_ptr<Compiled>, uint32_t> numbers_;
  CapsuleExecution current_;
  size_t executions_ = 0;
};

}  // namespace ge
