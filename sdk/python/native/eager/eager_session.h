// EagerSession: the session of one operator in eager mode, and its prepared runs. Any thread may
// use one, with the GIL held; it is released while the engine works.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "ge/ge.h"
#include "model.h"
#include "one_node.h"
#include "tensor.h"

namespace graphengine {

class EagerSession {
 public:
  EagerSession() = default;
  EagerSession(const EagerSession&) = delete;
  EagerSession& operator=(const EagerSession&) = delete;

  // Loads the node, once; other threads that want the session wait. Answers false where its sizes
  // have to be known: each set of them needs a session of its own then. `sizes`: with them. Throws
  // graphengine.Error.
  bool Load(const OneNode& node, bool sizes);

  // The outputs for the inputs of `node`, which is one like the loaded. Throws graphengine.Error.
  nanobind::object Run(const OneNode& node);

 private:
  struct Output {
    int32_t dtype, rank;
    uint64_t bytes;
    int64_t dims[GE_MAX_RANK];
  };
  // A run at known sizes.
  struct Shaped {
    ~Shaped() { ge_prepared_destroy(prepared); }
    std::vector<int64_t> dims;  // of all inputs
    std::vector<Output> outputs;
    ge_prepared* prepared = nullptr;  // from the second run on
    bool busy = false;                // a thread has it, without the GIL
    uint64_t used = 0;                // when
  };
  struct Inputs;

  ge_status LoadText(const std::string& text, ge_error* error);
  Shaped* Find(const Inputs& inputs);
  Shaped* Add(const Inputs& inputs, const std::vector<ge_tensor>& outputs);
  nanobind::object RunOnce(const Inputs& inputs);
  bool Prepare(Shaped& shaped, const Inputs& inputs, std::span<const MemoryRef> outputs);
  nanobind::object RunPrepared(Shaped& shaped, const Inputs& inputs);

  std::mutex making_;
  bool made_ = false, needs_sizes_ = false;
  bool prepares_ = true;  // false: the data decide how large outputs are
  uint32_t outputs_ = 0;
  uint64_t runs_ = 0;
  std::shared_ptr<Handle> handle_;
  std::vector<std::unique_ptr<Shaped>> shaped_;  // go before the session
};

}  // namespace graphengine
