#include "plugins/ascend/api/workspaces.h"

namespace ge_engines::ascend::acl {

Status Workspaces::Of(const OperatorCall& call, uint64_t* bytes) {
  std::string signature = call.signature();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (const auto found = known_.find(signature); found != known_.end()) {
      *bytes = found->second;
      return kSuccess;
    }
  }
  const Status s = call.Workspace(bytes);
  if (s != kSuccess) return s;  // another try is another call
  const std::lock_guard<std::mutex> lock(mutex_);
  if (known_.size() >= kMost) known_.clear();
  known_.emplace(std::move(signature), *bytes);
  return s;
}

}  // namespace ge_engines::ascend::acl
