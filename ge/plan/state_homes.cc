#include "ge/plan/state_homes.h"

#include <algorithm>

namespace ge {
namespace {

class Homes {
 public:
  Homes(const Function& f, std::span<const DeviceId> device_of, const Plan& plan)
      : f_(f), device_of_(device_of), plan_(plan), maker_(f.values.size(), -1) {
    for (size_t n = 0; n < f.nodes.size(); ++n) {
      for (const ValueId v : f.nodes[n].outputs) maker_[v] = static_cast<int32_t>(n);
    }
  }

  DeviceId Of(const StateValues& s) const {
    if (s.before != 0 && Results(s.before) != 0) return 0;
    if (s.after == 0) return OfReaders(s.before);
    if (maker_[s.after] < 0 || Results(s.after) != 1) return 0;
    return AtHost(device_of_[static_cast<size_t>(maker_[s.after])]);
  }

 private:
  int64_t Results(ValueId v) const { return std::count(f_.results.begin(), f_.results.end(), v); }
  // One name for all devices on the host's memory.
  DeviceId AtHost(DeviceId d) const { return plan_.devices[d].domain == 0 ? 0 : d; }

  DeviceId OfReaders(ValueId v) const {
    DeviceId home = 0;
    bool first = true;
    for (size_t n = 0; n < f_.nodes.size(); ++n) {
      const auto& inputs = f_.nodes[n].inputs;
      if (std::find(inputs.begin(), inputs.end(), v) == inputs.end()) continue;
      const DeviceId d = AtHost(device_of_[n]);
      if (!first && plan_.devices[d].domain != plan_.devices[home].domain) return 0;
      home = first ? d : home;
      first = false;
    }
    return home;
  }

  const Function& f_;
  std::span<const DeviceId> device_of_;
  const Plan& plan_;
  std::vector<int32_t> maker_;  // by value: node, or -1
};

}  // namespace

std::vector<DeviceId> HomesOfStates(const Function& function, std::span<const StateValues> states,
                                    std::span<const DeviceId> device_of, const Plan& plan) {
  const Homes homes(function, device_of, plan);
  std::vector<DeviceId> out;
  for (const StateValues& s : states) out.push_back(homes.Of(s));
  return out;
}

}  // namespace ge
