// `--- run place ENGINES [policy=NAME] [order=ENGINE]... [fuse=off] [pin=NODE=ENGINE]
// [layouts=shown]`: places the graph and prints for each node who runs it, in which layouts, and as
// part of which pattern. Prices are left out: they are the host's. order= names engines that a
// priority puts first, in that order.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ge/compile/explain/plan_explain.h"
#include "ge/session/session.h"
#include "tools/ge_test/text/commands.h"

namespace ge::test {
namespace {

Result<PlaceOptions> ReadOptions(const std::vector<std::string>& args) {
  PlaceOptions options;
  for (size_t i = 1; i < args.size(); ++i) {
    const size_t eq = args[i].find('=');
    const std::string key = args[i].substr(0, eq);
    const std::string value = eq == std::string::npos ? "" : args[i].substr(eq + 1);
    if (key == "policy") {
      GE_ASSIGN_OR_RETURN(options.policy, PlacePolicyFromName(value));
    } else if (key == "pin") {
      GE_ASSIGN_OR_RETURN(PlacePin pin, ParsePin(value));
      options.pins.push_back(std::move(pin));
    } else if (key == "order") {
      options.order.push_back(value);
    } else if (key == "fuse" && value == "off") {
      options.fuse = false;
    } else if (key == "layouts" && value == "shown") {
      continue;
    } else {
      return CaseError(
          fmt::format("place takes ENGINES [policy=NAME] [order=ENGINE]... [fuse=off] "
                      "[pin=NODE=ENGINE] [layouts=shown], found '{}'",
                      args[i]));
    }
  }
  return options;
}

std::string PlacedText(const Plan& plan, bool layouts) {
  std::string text;
  const auto names = layouts ? LayoutsTaken(plan) : std::map<NodeId, std::string>();
  for (const NodeReport& r : plan.reports()) {
    if (r.chosen < 0) {
      text += fmt::format("{} {}: nobody\n", r.label, r.op);
      continue;
    }
    const Bid& bid = r.bids[static_cast<size_t>(r.chosen)];
    const auto name = names.find(r.node);
    text += fmt::format("{} {}: {}{}{}{}\n", r.label, r.op, plan.devices[bid.device].name,
                        name == names.end() ? "" : "@" + name->second,
                        bid.pattern.empty() ? "" : " ", bid.pattern);
  }
  return text;
}

}  // namespace

Status RunPlace(CaseState* state, const std::vector<std::string>& args) {
  if (args.empty()) return CaseError("place takes a list of engines, as in onednn,ref");
  SessionOptions options;
  GE_ASSIGN_OR_RETURN(options.engines, ParseEngineList(args[0]));
  GE_ASSIGN_OR_RETURN(options.build.place, ReadOptions(args));
  options.build.stop_after = StageId::kPlace;
  BuildOptions build = options.build;
  GE_ASSIGN_OR_RETURN(auto session, Session::Create(std::move(options)));
  GE_RETURN_IF_ERROR(session->LoadGraph(*state->graph));
  GE_ASSIGN_OR_RETURN(const Entry* entry, session->FindEntry(""));
  std::vector<TensorView> inputs;
  const Function& f = session->graph().fn(entry->fn);
  for (ValueId p : f.params) {
    const Type& type = f.value(p).type;
    if (!type.is_static()) return CaseError("place needs inputs of fixed shapes");
    inputs.push_back({type.dtype, type.static_dims(), nullptr, 0});
  }
  GE_ASSIGN_OR_RETURN(auto placed, session->CompileApart("", inputs, build));
  const bool layouts = std::find(args.begin(), args.end(), "layouts=shown") != args.end();
  state->output = PlacedText(placed->plan, layouts);
  return Status();
}

}  // namespace ge::test
