// Memory that the session allocates for a caller's outputs. Used by one thread.
#pragma once

#include <string_view>
#include <vector>

#include "ge/base/aligned.h"
#include "ge/base/status.h"
#include "ge/run/tensor_view.h"

namespace ge {

// What one run makes. Until Commit the outputs' earlier memory stays whole, and without it they get
// it back: a run that fails leaves a caller's tensors as they were.
class OutputMemory {
 public:
  OutputMemory() = default;
  ~OutputMemory();
  OutputMemory(const OutputMemory&) = delete;
  OutputMemory& operator=(const OutputMemory&) = delete;

  // Sees to it that the output, whose dims are set, has room for `bytes`, and sets out->bytes. What
  // it has is kept where it is enough, and made anew where there is none or it is the session's
  // own. INVALID_ARGUMENT where it is the caller's and too small. `out` stays where it is until
  // Commit or the end of this.
  // `what` and `name` are for messages: output 'y'.
  Status Reserve(std::string_view what, std::string_view name, uint64_t bytes, TensorView* out);
  // The new memory is the caller's from now on; what it replaces is freed.
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

// Memory that a run reads or writes, for messages.
struct Extent {
  const void* data;
  uint64_t bytes;
  std::string_view name;
  bool output;
};
// INVALID_ARGUMENT where an output shares memory with another output or an input.
Status CheckOverlap(const std::vector<Extent>& extents);

}  // namespace ge
