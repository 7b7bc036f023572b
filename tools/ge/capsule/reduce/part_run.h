// Runs of a model, or of a part of one, in processes of their own: as any run is, with passes and
// placement; or on the reference, without passes, with every value. As of trial.h, the caller must
// have made no session.
#pragma once

#include <string>
#include <vector>

#include "ge/base/status.h"
#include "ge/control/value.h"
#include "ge/ir/graph.h"
#include "tools/ge/capsule/recorded.h"
#include "tools/ge/command.h"

namespace ge::tool {

// The entry's results; its states begin with the recorded ones. Errors as of InChild, or the run's.
Result<std::vector<FlowValue>> RunPart(const Recorded& r, const Options& options,
                                       const Graph& graph, const std::string& entry,
                                       const std::vector<FlowValue>& inputs, double seconds);

// Every value of the entry's function, by id, without any pass: kNone for what is no tensor of
// numbers, and for constants.
Result<std::vector<FlowValue>> RunEveryValue(const Recorded& r, const Options& options,
                                             const Graph& graph, const std::string& entry,
                                             const std::vector<FlowValue>& inputs, double seconds);

// A view of the capsule's bytes, which keeps it open.
Result<FlowValue> RecordedValue(const Recorded& r, const CapsuleTensor& tensor);

}  // namespace ge::tool
