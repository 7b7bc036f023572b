// The .gt text of a Plan: `ge dump --to memory` prints it and tests of the prover edit it. One line
// a thing: deleting its line drops a copy or a wait; ids are written out and count up from 0 in
// each table. Fields equal to their defaults are not printed. ParsePlan checks the syntax alone:
// references may lead nowhere, and ge/plan/check judges whether the plan is safe to walk and to
// run. The caller owns the results. Any thread may call.
//
//   plan 1 graph="lenet" entry="main" predicted_ns=81250.5
//   engine 1 "ref" version="0.1.0" hash="..."
//   function 0 "main" inputs=[1] outputs=[3] {
//     arena 0 use=transient bytes=4096
//     value 2 "t1" : f32[1,6,28,28] transient bytes=18816 arena=0 offset=64
//     segment 0 device=1 inputs=[1] outputs=[2]
//       offer nodes=[4, 5] marginal_ns=120.5
//     code:
//       launch segment=0
//   }
#pragma once

#include <string>
#include <string_view>

#include "frontend/text/text.h"
#include "ge/base/status.h"
#include "ge/plan/plan.h"

namespace ge {

struct PlanPrintOptions {
  bool report = true;  // the bids for each node
};

std::string PrintPlan(const Plan& plan, const PlanPrintOptions& options = {});

// Messages begin with "file:line:col: ". DATA_CORRUPT: not this syntax. INVALID_GRAPH: a number
// out of order, or a type with symbols. UNSUPPORTED: a newer version.
Result<Plan> ParsePlan(std::string_view text, std::string_view file_name,
                       const ParseLimits& limits = {});

}  // namespace ge
