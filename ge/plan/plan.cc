#include "ge/plan/plan.h"

namespace ge {

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
