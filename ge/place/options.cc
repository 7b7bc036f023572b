#include "ge/place/options.h"

#include <fmt/format.h>

#include <algorithm>

namespace ge {

Result<PlacePolicy> PlacePolicyFromName(std::string_view name) {
  if (name == "cost") return PlacePolicy::kCost;
  if (name == "priority") return PlacePolicy::kPriority;
  return Status(Code::kInvalidArgument,
                fmt::format("the placement policy is '{}', wanted cost or priority", name));
}

Result<PlacePin> ParsePin(std::string_view text) {
  const size_t eq = text.rfind('=');
  const size_t at = eq == std::string_view::npos ? eq : text.find('@', eq);
  const bool empty = eq == 0 || eq + 1 >= text.size() || at == eq + 1 || at + 1 == text.size();
  if (eq == std::string_view::npos || empty) {
    return Status(Code::kInvalidArgument,
                  fmt::format("the pin '{}' is not NODE=ENGINE; write conv1=onednn, Conv=onednn "
                              "for an operator, conv1=onednn/cpu for one of its devices, or "
                              "conv1=onednn@channels-last for a layout, too",
                              text));
  }
  const bool any = at == std::string_view::npos;
  return PlacePin{std::string(text.substr(0, eq)),
                  std::string(text.substr(eq + 1, any ? at : at - eq - 1)),
                  any ? "" : std::string(text.substr(at + 1))};
}

Result<std::vector<PlacePin>> ParsePins(std::string_view text) {
  std::vector<PlacePin> pins;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(';', begin), text.size());
    if (end > begin) {
      GE_ASSIGN_OR_RETURN(PlacePin pin, ParsePin(text.substr(begin, end - begin)));
      pins.push_back(std::move(pin));
    }
    begin = end + 1;
  }
  return pins;
}

void Repin(const PlacePin& pin, std::vector<PlacePin>* pins) {
  for (PlacePin& p : *pins) {
    if (p.node != pin.node) continue;
    p = pin;
    return;
  }
  pins->push_back(pin);
}

}  // namespace ge
