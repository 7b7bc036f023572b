// EntryRun: one run of an entry by hand; its outputs lie in memory of their own until the next one.
// One thread.
#pragma once

#include <string>
#include <vector>

#include "ge/base/aligned.h"
#include "ge/session/session.h"

namespace ge::tool {

class EntryRun {
 public:
  // `session` outlives it.
  EntryRun(Session* session, std::string entry) : session_(session), entry_(std::move(entry)) {}
  Status Run(const std::vector<TensorView>& inputs);
  // Of an entry of positions alone.
  Status RunRows(uint64_t first, uint64_t count);
  const std::vector<TensorView>& outputs() const { return outputs_; }
  const std::vector<std::string>& names() const { return names_; }

 private:
  Session* session_;
  std::string entry_;
  std::vector<TensorView> outputs_;
  std::vector<std::string> names_;
  std::vector<AlignedBytes> memory_;
  std::vector<uint64_t> room_;  // bytes of `memory_`
};

// [first, first + count) as a tensor; the numbers lie in `held`.
TensorView PositionsOf(uint64_t first, uint64_t count, std::vector<int64_t>* held);

}  // namespace ge::tool
