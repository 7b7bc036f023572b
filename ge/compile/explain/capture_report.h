// What engines captured of plans, and why not more, as JSON.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "ge/compile/compiled/compiled.h"

namespace ge {

// {"calls": launches and copies on streams of engines that capture, in one run of each plan;
//  "captured": of these, those in regions that may be captured; "made", "launched", "dropped":
//  captures since the plans were made; "left_out": {why: calls}, "failed": {why: captures}}
nlohmann::json CaptureReport(const std::vector<std::shared_ptr<Compiled>>& plans);

}  // namespace ge
