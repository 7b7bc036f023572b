// How much workspace calls need. Phase one tells it, from the operator and its arguments without
// addresses, and on a real library is work: it is asked once for each such signature, however many
// layers, sessions and segments have it. Any thread may call, with a device's context current.
#pragma once

#include <mutex>
#include <string>
#include <unordered_map>

#include "plugins/ascend/api/call.h"

namespace ge_engines::ascend::acl {

class Workspaces {
 public:
  Status Of(const OperatorCall& call, uint64_t* bytes);

 private:
  static constexpr size_t kMost =
      65536;  // signatures of some 200 bytes; beyond, all are asked anew
  std::mutex mutex_;
  std::unordered_map<std::string, uint64_t> known_;
};

}  // namespace ge_engines::ascend::acl
