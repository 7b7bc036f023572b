#include "ge/capsule/plan_members.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "frontend/text/plan_text.h"

namespace ge {
namespace {

Status Lie(std::string text) { return Status(Code::kDataCorrupt, std::move(text)); }

Status CheckTables(const Plan& plan) {
  for (size_t i = 0; i < plan.engines.size(); ++i) {
    if (IsEngineName(plan.engines[i].name)) continue;
    return Lie(fmt::format("engine {} is named '{:.64}', wanted 1 to 64 characters of [a-z0-9_]", i,
                           plan.engines[i].name));
  }
  for (size_t i = 0; i < plan.devices.size(); ++i) {
    if (plan.devices[i].engine < plan.engines.size()) continue;
    return Lie(fmt::format("device {} is of engine {}, wanted one of {}", i, plan.devices[i].engine,
                           plan.engines.size()));
  }
  if (plan.functions.empty()) return Lie("the plan has no function");
  return {};
}

Status CheckValues(const PlanFunction& f, const char* what, const std::vector<PlanValueId>& ids) {
  const auto absent =
      std::find_if(ids.begin(), ids.end(), [&](PlanValueId id) { return id >= f.values.size(); });
  if (absent == ids.end()) return {};
  return Lie(fmt::format("its {} name value {}, wanted one of {}", what, *absent, f.values.size()));
}

Status CheckSegment(const Plan& plan, const PlanFunction& f, const PlanSegment& s) {
  if (s.device >= plan.devices.size()) {
    return Lie(fmt::format("it is on device {}, wanted one of {}", s.device, plan.devices.size()));
  }
  for (const PlanOffer& o : s.offers) {
    if (o.nodes.empty()) return Lie("an offer has no nodes");
  }
  GE_RETURN_IF_ERROR(CheckValues(f, "inputs", s.inputs));
  GE_RETURN_IF_ERROR(CheckValues(f, "outputs", s.outputs));
  return CheckValues(f, "internals", s.internals);
}

Status Check(const Plan& plan) {
  GE_RETURN_IF_ERROR(CheckTables(plan));
  for (const PlanFunction& f : plan.functions) {
    for (size_t i = 0; i < f.segments.size(); ++i) {
      const Status checked = CheckSegment(plan, f, f.segments[i]);
      if (!checked.ok()) return Lie(fmt::format("segment {}: {}", i, checked.message()));
    }
  }
  return {};
}

}  // namespace

Result<Plan> ReadPlanMember(const CapsuleReader& capsule, const std::string& member) {
  GE_ASSIGN_OR_RETURN(const auto text, capsule.Read(member));
  const std::string name = fmt::format("capsule '{}': member '{}'", capsule.path(), member);
  GE_ASSIGN_OR_RETURN(Plan plan,
                      ParsePlan({reinterpret_cast<const char*>(text.data()), text.size()}, name));
  const Status checked = Check(plan);
  if (checked.ok()) return plan;
  return Status(checked.code(), fmt::format("{}: {}", name, checked.message()));
}

bool IsEngineName(std::string_view name) {
  constexpr size_t kMostCharacters = 64;
  return !name.empty() && name.size() <= kMostCharacters &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string_view::npos;
}

}  // namespace ge
