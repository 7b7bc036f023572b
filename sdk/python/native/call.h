// Call: arguments and results of a run. With the GIL held, except while the engine has tensors.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string>
#include <vector>

#include "array.h"
#include "ge/ge.h"
#include "model.h"

namespace graphengine {

class Call {
 public:
  // `feed`: a dict by names, a sequence by position, or the only input itself. `out`: None, or
  // arrays by names to write into. Throws graphengine.Error.
  Call(std::shared_ptr<Handle> handle, std::shared_ptr<const EntryPorts> entry,
       nanobind::handle feed, nanobind::handle out, Form form);
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call();

  ge_session* session() const { return handle_->get(); }
  const char* entry() const { return entry_->name.c_str(); }
  const ge_tensor* inputs() const { return inputs_.data(); }
  uint32_t n_inputs() const { return static_cast<uint32_t>(inputs_.size()); }
  ge_tensor* outputs() { return outputs_.data(); }
  uint32_t n_outputs() const { return static_cast<uint32_t>(outputs_.size()); }

  const EntryPorts& ports() const { return *entry_; }

  // The outputs by name. Call it once, after a successful run.
  nanobind::dict Results();

 private:
  void ReadByName(nanobind::handle feed);
  void ReadByPosition(nanobind::handle feed);
  void ReadOutputs(nanobind::handle out);
  void ReadInput(size_t i, nanobind::handle object);

  std::shared_ptr<Handle> handle_;
  std::shared_ptr<const EntryPorts> entry_;
  Form form_;
  std::vector<BorrowedArray> arrays_;  // inputs
  std::vector<BorrowedArray> written_;
  std::vector<nanobind::object> given_;  // of `out`, null where the engine allocates
  std::vector<ge_tensor> inputs_, outputs_;
  uint64_t shapes_ = 0;  // of the inputs
};

// The objects of `feed`, one for each input of the entry, null for an omitted optional one. `feed`:
// a dict by names, a sequence by position, or the only input itself.
std::vector<nanobind::object> ReadFeed(const EntryPorts& entry, nanobind::handle feed);

// Arguments of ge_session_compile: dims and types of arrays, or of shapes by name.
std::vector<ge_tensor> ReadShapes(const EntryPorts& entry, nanobind::handle shapes);

}  // namespace graphengine
