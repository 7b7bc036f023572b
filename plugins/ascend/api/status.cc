#include "plugins/ascend/api/status.h"

namespace ge_engines::ascend {

using device::Outcome;

Outcome OutcomeOf(acl::Status status) {
  switch (status) {
    case acl::kSuccess:
      return Outcome::kOk;
    case acl::kOutOfMemory:
    case acl::kNoEvents:
    case acl::kNoStreams:
      return Outcome::kOutOfMemory;
    case acl::kNotSupported:
      return Outcome::kUnsupported;
    case acl::kInvalidParameter:
    case acl::kUninitialized:
    case acl::kWrongParameter:
    case acl::kInvalidDevice:
    case acl::kNoContext:
    case acl::kOtherContext:
      return Outcome::kInvalid;
    case acl::kDeviceLost:
      return Outcome::kLost;
    // Others are of the device, or nobody can say of them.
    default:
      return Outcome::kFailed;
  }
}

}  // namespace ge_engines::ascend
