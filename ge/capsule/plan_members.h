// Plans in a capsule, as members of text. A file may say anything: what its readers index by, and
// the names by which they open engines, are checked here. Whether a plan is safe to run is the
// prover's matter. Any thread may call.
#pragma once

#include <string>
#include <string_view>

#include "ge/base/status.h"
#include "ge/capsule/store/capsule_reader.h"
#include "ge/plan/plan.h"

namespace ge {

// A plan of at least one function, whose first one is the entry's: devices are of engines of the
// plan, segments are on its devices, offers have nodes, and the values that segments name are
// there. DATA_CORRUPT naming capsule and member where it is not so.
Result<Plan> ReadPlanMember(const CapsuleReader& capsule, const std::string& member);

// Whether a plugin may have this name. One with a slash would be the path of a file, whose code
// runs as soon as it is opened.
bool IsEngineName(std::string_view name);

}  // namespace ge
