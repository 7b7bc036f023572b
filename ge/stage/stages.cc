#include "ge/stage/runner.h"

namespace ge {
namespace {

struct StageInfo {
  const char* name;
  const char* summary;
};
constexpr StageInfo kStages[] = {
#define GE_STAGE(id, name, summary) {name, summary},
#include "ge/stage/stages.def"
#undef GE_STAGE
};
constexpr int kStageCount = sizeof kStages / sizeof kStages[0];

}  // namespace

const char* StageName(StageId id) { return kStages[static_cast<int>(id)].name; }
const char* StageSummary(StageId id) { return kStages[static_cast<int>(id)].summary; }

std::vector<StageId> AllStages() {
  std::vector<StageId> all;
  for (int i = 0; i < kStageCount; ++i) all.push_back(static_cast<StageId>(i));
  return all;
}

Result<StageId> StageFromName(std::string_view name) {
  std::string legal;
  for (StageId id : AllStages()) {
    if (name == StageName(id)) return id;
    legal += (legal.empty() ? "" : ", ") + std::string(StageName(id));
  }
  return Status(Code::kInvalidArgument,
                "there is no stage '" + std::string(name) + "'; the stages are " + legal);
}

}  // namespace ge
