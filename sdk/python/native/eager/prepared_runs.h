// PreparedRuns: runs of a session's first entry on Tensors, with a prepared run for each of the
// last few sets of sizes. Any thread, with the GIL held; it is released while the engine works.
#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "ge/ge.h"
#include "model.h"
#include "tensor.h"

namespace graphengine {

// What a run reads. Keeps the memory, since objects may get other values while the engine works.
class RunInputs {
 public:
  struct Input {
    const Tensor* tensor;
    MemoryRef memory;
  };
  // most: how many there may be.
  explicit RunInputs(size_t most);
  RunInputs(const RunInputs&) = delete;
  RunInputs& operator=(const RunInputs&) = delete;
  void Put(const Tensor& t);
  uint64_t bytes() const { return bytes_; }

  std::span<const Input> all;

 private:
  std::array<Input, 4> few_;
  size_t n_few_ = 0;
  std::vector<Input> many_;
  uint64_t bytes_ = 0;
};

class PreparedRuns {
 public:
  // tuple: one output is answered as a tuple, too.
  PreparedRuns(std::shared_ptr<Handle> handle, uint32_t outputs, bool tuple)
      : handle_(std::move(handle)), outputs_(outputs), tuple_(tuple) {}
  PreparedRuns(const PreparedRuns&) = delete;
  PreparedRuns& operator=(const PreparedRuns&) = delete;

  // The outputs, Tensors. Throws graphengine.Error.
  nanobind::object Run(const RunInputs& inputs);

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

  Shaped* Find(const RunInputs& inputs);
  Shaped* Add(const RunInputs& inputs, const std::vector<ge_tensor>& outputs);
  nanobind::object RunOnce(const RunInputs& inputs);
  bool Prepare(Shaped& shaped, const RunInputs& inputs, std::span<const MemoryRef> outputs);
  nanobind::object RunPrepared(Shaped& shaped, const RunInputs& inputs);

  bool prepares_ = true;  // false: the data decide how large outputs are
  uint64_t runs_ = 0;
  std::shared_ptr<Handle> handle_;
  const uint32_t outputs_;
  const bool tuple_;
  std::vector<std::unique_ptr<Shaped>> shaped_;  // go before the session
};

}  // namespace graphengine
