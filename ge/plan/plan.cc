#include "ge/plan/plan.h"

#include <fmt/format.h>

namespace ge {
namespace {

// Whether it puts the channels, axis 1, behind all that followed them.
bool PutsChannelsLast(const std::vector<uint32_t>& perm) {
  if (perm.size() < 3 || perm[0] != 0 || perm.back() != 1) return false;
  for (size_t i = 1; i + 1 < perm.size(); ++i) {
    if (perm[i] != i + 1) return false;
  }
  return true;
}

}  // namespace

std::string LayoutName(const PlanLayout& layout) {
  std::string name;
  switch (layout.kind) {
    case PlanLayout::Kind::kPlain:
      return "plain";
    case PlanLayout::Kind::kOpaque:
      return layout.tag.empty() ? "opaque" : layout.tag;
    case PlanLayout::Kind::kStrided:
      if (PutsChannelsLast(layout.perm)) return "channels-last";
      name = "order";
      for (uint32_t axis : layout.perm) name += std::to_string(axis);
      return name;
    case PlanLayout::Kind::kBlocked:
      for (size_t i = 0; i < layout.block_axis.size(); ++i) {
        name += fmt::format("{}{}x{}", i == 0 ? "blocked" : "-", layout.block_axis[i],
                            layout.block_size[i]);
      }
      return name;
  }
  return name;
}

PlanValue::PlanValue() = default;
PlanValue::PlanValue(const PlanValue&) = default;
PlanValue::PlanValue(PlanValue&&) noexcept = default;
PlanValue& PlanValue::operator=(const PlanValue&) = default;
PlanValue& PlanValue::operator=(PlanValue&&) noexcept = default;
PlanValue::~PlanValue() = default;

PlanSegment::PlanSegment() = default;
PlanSegment::PlanSegment(const PlanSegment&) = default;
PlanSegment::PlanSegment(PlanSegment&&) noexcept = default;
PlanSegment& PlanSegment::operator=(const PlanSegment&) = default;
PlanSegment& PlanSegment::operator=(PlanSegment&&) noexcept = default;
PlanSegment::~PlanSegment() = default;

PlanFunction::PlanFunction() = default;
PlanFunction::PlanFunction(const PlanFunction&) = default;
PlanFunction::PlanFunction(PlanFunction&&) noexcept = default;
PlanFunction& PlanFunction::operator=(const PlanFunction&) = default;
PlanFunction& PlanFunction::operator=(PlanFunction&&) noexcept = default;
PlanFunction::~PlanFunction() = default;

NodeReport::NodeReport() = default;
NodeReport::NodeReport(const NodeReport&) = default;
NodeReport::NodeReport(NodeReport&&) noexcept = default;
NodeReport& NodeReport::operator=(const NodeReport&) = default;
NodeReport& NodeReport::operator=(NodeReport&&) noexcept = default;
NodeReport::~NodeReport() = default;

Plan::Plan() = default;
Plan::Plan(const Plan&) = default;
Plan::Plan(Plan&&) noexcept = default;
Plan& Plan::operator=(const Plan&) = default;
Plan& Plan::operator=(Plan&&) noexcept = default;
Plan::~Plan() = default;

}  // namespace ge
