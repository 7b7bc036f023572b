// The recorded plan made again: the same placement, whatever prices the machine has learned since,
// with nothing but memory and packs otherwise where that is asked for.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "ge/base/status.h"
#include "ge/session/session.h"
#include "tools/ge/capsule/recorded.h"
#include "tools/ge/capsule/trial.h"

namespace ge::tool {

// The plan's method where the recorded cover was taken.
inline constexpr char kRemade[] = "replayed";

// What build options say to place the rewritten model as recorded.
BuildOptions BuildLikeRecorded(const Session& session, const Recorded& r);

// Loads the rewritten model and its states into a session made for it, and plans it.
// UNSUPPORTED: the recorded placement cannot be made again.
Result<std::shared_ptr<Compiled>> RemakePlan(const Recorded& r, std::span<const TensorView> inputs,
                                             const BuildOptions& build, Session* session);

// The whole run again, in a process of its own, and what it then has for these values of the plan:
// nothing for one that it does not make in plain host memory. With red zones nothing at all: only
// whether it succeeds.
Result<TrialAnswer> RunWhole(const Recorded& r, const Options& options, const TrialMemory& memory,
                             std::span<const PlanValueId> values);

}  // namespace ge::tool
