// A recorded run as its capsule has it, for the subcommands that repeat it or parts of it. Any
// thread may call.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ge/capsule/manifest.h"
#include "ge/capsule/store/capsule_reader.h"
#include "ge/plan/plan.h"
#include "ge/run/tensor_view.h"
#include "ge/session/session.h"
#include "tools/ge/command.h"

namespace ge::tool {

// Of graphs behind a pass, in front of its name.
inline constexpr char kPassStage[] = "pass/";

struct Recorded {
  std::shared_ptr<const CapsuleReader> capsule;
  CapsuleManifest manifest;
  Plan plan;          // the recorded one
  bool done = false;  // the run succeeded
};
// FAILED_PRECONDITION: a capsule without a plan, where one is needed. UNSUPPORTED: one of a run in
// pieces, there.
Result<Recorded> OpenRecorded(const std::string& path, bool needs_plan = true);
// UNSUPPORTED or FAILED_PRECONDITION, as there, where the capsule has no plan of the whole run.
Status WantPlan(const Recorded& recorded);

// What was asked for, and what the manifest says where the command line does not.
Options OptionsLike(const Options& asked, const CapsuleManifest& manifest);
// The speed that engines assumed then: some choose their algorithms by it. On another processor
// that of this one.
Status UseRecordedMachine(const Recorded& r, SessionOptions* options);

// DATA_CORRUPT where the manifest has none of that stage.
Result<const CapsuleGraph*> GraphOf(const CapsuleManifest& manifest, const std::string& stage);
// The rewritten graph, or the loaded one where that has the entry: a pass may have derived it.
Result<Graph> ModelToReplay(const Recorded& r, bool rewritten);
// Views of the file; they live as long as its reader, and are read alone.
Result<std::vector<TensorView>> RecordedInputs(const Recorded& r);
Status SetStates(const Recorded& r, Session* session);
Result<TensorView> RecordedTensor(const Recorded& r, const CapsuleTensor& tensor);

}  // namespace ge::tool
