#include "ge/session/loss.h"

#include <algorithm>

#include "ge/base/interrupt.h"
#include "ge/control/flow.h"

namespace ge {

bool Session::HasLoss() const {
  const EngineList& engines = OpenOnes();
  return std::any_of(engines.begin(), engines.end(),
                     [](const auto& engine) { return !engine->Losses().empty(); });
}

void Session::DropLostPlans() {
  const uint64_t losses = DeviceLosses::Count();
  if (!HasLoss()) {
    losses_seen_.store(losses, std::memory_order_relaxed);
    return;
  }
  plans_.DropLost();
  classes_.Clear();  // plans like those, and covers by their offers
  {
    const std::lock_guard<std::mutex> lock(compile_mutex_);
    std::erase_if(saved_, [](const auto& plan) { return plan.second->UsesLost(); });
  }
  const std::lock_guard<std::mutex> lock(flow_mutex_);
  flow_.reset();  // runs in flight have theirs
  distinct_flow_.reset();
  losses_seen_.store(losses, std::memory_order_relaxed);  // who finds it has none of them
}

bool Session::MayRepeat(const Status& ran, uint64_t losses) {
  switch (ran.code()) {
    case Code::kDeviceLost:
    case Code::kPluginError:  // of what another run lost
    case Code::kResourceExhausted:
    case Code::kUnsupported:
      break;
    default:
      return false;
  }
  // A plan may have been made while its device was lost.
  const bool new_loss = ran.code() == Code::kDeviceLost || DeviceLosses::Count() != losses;
  return new_loss && !Interrupted() && HasLoss();
}

Status Session::NotRepeated(const Status& ran) {
  return Status(ran.code(),
                ran.message() +
                    "; the run was observed, and the record holds what it did until then, so that "
                    "it is not repeated without the device: run it again")
      .AtNode(ran.node());
}

}  // namespace ge
