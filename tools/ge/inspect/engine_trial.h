// EngineTrial: whether a plugin's engine can be created here, tried in a child process, so that one
// that crashes, hangs or finds no device does no harm to this one. One thread.
#pragma once

#include <string>
#include <vector>

#include "ge/engine/plugin/plugin.h"

namespace ge::tool {

struct EngineTrial {
  // Why it cannot be: its device or driver is not here, it failed, died, or did not end in time.
  enum class State { kReady, kUnavailable, kFailed, kDied, kHung } state = State::kReady;
  std::string why;                   // but for kReady
  std::vector<std::string> devices;  // of kReady
};

std::string_view NameOf(EngineTrial::State state);

// Creates the engine with these options, and ends it. No thread of ours may run yet.
EngineTrial TryEngine(const std::shared_ptr<const Plugin>& plugin, const std::string& options);

}  // namespace ge::tool
