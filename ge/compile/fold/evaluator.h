// Constant folding by running: see evaluator.cc.
#pragma once

#include <memory>
#include <vector>

#include "ge/engine/engine.h"
#include "ge/stage/pass.h"

namespace ge {

// Folds by running one node on the host engines of a session, through the whole pipeline.
std::unique_ptr<Evaluator> MakeEvaluator(const EngineList& engines);

}  // namespace ge
