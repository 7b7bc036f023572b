// Memory allocated by the session for a caller's outputs. Used by one thread.
#pragma once

#include <string_view>
#include <vector>

#include "ge/base/aligned.h"
#include "ge/base/status.h"
#include "ge/run/tensor_view.h"

namespace ge {

// The outputs of one run. Until Commit the outputs' earlier memory stays whole, and without it they
// get it back: a failed run leaves a caller's tensors as they were.
class OutputMemory {
 public:
  OutputMemory() = default;
  ~OutputMemory();
  OutputMemory(const OutputMemory&) = delete;
  OutputMemory& operator=(const OutputMemory&) = delete;

  // Gives the output, whose dims are set, room for `bytes`, and sets out->bytes. Keeps its
  // present memory where it is enough; allocates where there is none or it is the
  // session's own. INVALID_ARGUMENT where it is the caller's and too small. `out` stays
  // where it is until Commit or the end of this. `what` and `name` are for messages:
  // output 'y'.
  Status Reserve(std::string_view what, std::string_view name, uint64_t bytes, TensorView* out);
  // Hands out the new memory, which a device may still write to. The views are as before.
  void Leave(std::vector<AlignedBytes>* memory);
  // Gives the new memory to the caller and frees the memory it replaces.
  void Commit();

 private:
  struct Made {
    TensorView* out;
    AlignedBytes memory;
    void* data;  // before, and so on
    uint64_t bytes;
    bool owned;
  };
  std::vector<Made> made_;
};

// Memory read or written by a run, for messages.
struct Extent {
  const void* data;
  uint64_t bytes;
  std::string_view name;
  bool output;
};
// INVALID_ARGUMENT where an output shares memory with another output or an input.
Status CheckOverlap(const std::vector<Extent>& extents);

}  // namespace ge
