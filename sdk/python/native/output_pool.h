// OutputPool: memory of released outputs, for the next run of an entry. Fresh memory costs a page
// fault at the first write of each page: 0.7 ms for 1 MB on a virtual machine. Any thread may call.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "ge/ge.h"

namespace graphengine {

class OutputPool {
 public:
  OutputPool() = default;
  OutputPool(const OutputPool&) = delete;
  OutputPool& operator=(const OutputPool&) = delete;
  ~OutputPool() { Clear(); }

  // Call it around each run: it keeps as many blocks an output as runs at once, 16 at most.
  void Begin();
  void End();
  // Gives `tensor` pooled memory of the same output at the same input shapes, if there is any.
  // Memory of other shapes stays: no small array holds a large one's memory.
  void Take(uint32_t output, uint64_t shapes, ge_tensor* tensor);
  // Keeps the memory that a run allocated for `tensor`, or frees it.
  void Put(uint32_t output, uint64_t shapes, ge_tensor* tensor);
  void Clear();

 private:
  struct Piece {
    uint32_t output;
    uint64_t shapes;
    ge_tensor tensor;
  };
  std::mutex mutex_;
  std::vector<Piece> pieces_;  // the oldest first
  size_t running_ = 0, most_ = 1;
};

// A number for the dims of a run's inputs.
uint64_t ShapesOf(const std::vector<ge_tensor>& inputs);

}  // namespace graphengine
