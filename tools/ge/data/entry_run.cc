#include "tools/ge/data/entry_run.h"

#include <algorithm>
#include <numeric>

namespace ge::tool {

TensorView PositionsOf(uint64_t first, uint64_t count, std::vector<int64_t>* held) {
  held->resize(count);
  std::iota(held->begin(), held->end(), static_cast<int64_t>(first));
  return {DType::kInt64, {static_cast<int64_t>(count)}, held->data(), count * 8};
}

Status EntryRun::Run(const std::vector<TensorView>& inputs) {
  GE_ASSIGN_OR_RETURN(const auto compiled, session_->Compile(entry_, inputs));
  const size_t n = compiled->outputs.size();
  outputs_.clear();
  names_.clear();
  memory_.resize(n);
  room_.resize(n);
  for (size_t i = 0; i < n; ++i) {
    const auto& port = compiled->outputs[i];
    if (port.bytes > room_[i] || !memory_[i]) {
      memory_[i] = AllocateAligned(std::max<uint64_t>(port.bytes, 1), 64);
      if (!memory_[i]) return Status(Code::kResourceExhausted, "no memory for rows");
      room_[i] = port.bytes;
    }
    outputs_.push_back({port.dtype, port.dims, memory_[i].get(), port.bytes});
    names_.push_back(port.name);
  }
  return session_->Run(entry_, inputs, outputs_);
}

Status EntryRun::RunRows(uint64_t first, uint64_t count) {
  std::vector<int64_t> positions;
  return Run({PositionsOf(first, count, &positions)});
}

}  // namespace ge::tool
